// CsvQuotes: where the records of a CSV file end (RFC 4180): at newlines outside quotes.
//
//   7,"a, ""b""
//   c",8        one record of two lines, with the fields 7 | a, "b" newline c | 8
//
// A quote opens a quoted field at the beginning of a field: behind a comma, behind a record's end, at the file's
// beginning. Any other quote outside a quoted field is a character like others. So each byte's state follows from the
// bytes before it, and from nothing else: a reader that begins in the middle of a file goes over the text before.
// Quotes and newlines are found by memchr, so text without quotes costs one pass of it.
//
//   CsvQuotes quotes;
//   std::size_t end = quotes.FindEnd(text);   // then quotes.FindEnd(text.substr(end + 1)), ...
#pragma once

#include <cstddef>
#include <string_view>

namespace glaive::engine {

class CsvQuotes {
 public:
  /// Goes over `text`, which follows what was gone over before, up to and with the first newline that ends a record,
  /// and returns its place. npos: goes over all of the text, in which no record ends.
  std::size_t FindEnd(std::string_view text);

  /// Goes over all of `text`.
  void Skip(std::string_view text);

 private:
  /// Decides what the quote at `at` of `text` is.
  void OnQuote(std::string_view text, std::size_t at);
  /// Remembers the end of a text.
  void EndText(std::string_view text, std::size_t gone_over);

  bool in_quotes_ = false;
  char before_ = '\n';          // the byte before the text
  bool closed_before_ = false;  // it is a quote that closed a field, unless another quote follows
};

}  // namespace glaive::engine
