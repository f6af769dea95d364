#include "engine/format/csv_quotes.h"

#include <cstring>

namespace glaive::engine {
namespace {

/// The place of a character in text[from, end); npos without.
std::size_t Find(std::string_view text, std::size_t from, std::size_t end, char wanted) {
  const void* const found = from == end ? nullptr : std::memchr(text.data() + from, wanted, end - from);
  return found == nullptr ? std::string_view::npos
                          : static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

}  // namespace

void CsvQuotes::OnQuote(std::string_view text, std::size_t at) {
  if (in_quotes_) {
    in_quotes_ = false;
    closed_before_ = true;
  } else {
    const char before = at == 0 ? before_ : text[at - 1];
    // Of two quotes inside a quoted field, the first has closed it, and the second opens it again.
    in_quotes_ = closed_before_ || before == ',' || before == '\n';
    closed_before_ = false;
  }
}

void CsvQuotes::EndText(std::string_view text, std::size_t gone_over) {
  if (gone_over < text.size()) {  // bytes without a quote follow
    closed_before_ = false;
  }
  before_ = text.empty() ? before_ : text.back();
}

std::size_t CsvQuotes::FindEnd(std::string_view text) {
  constexpr std::size_t kNone = std::string_view::npos;
  std::size_t at = 0;
  std::size_t newline = 0;
  bool is_newline_known = false;
  while (true) {
    if (!in_quotes_ && (!is_newline_known || (newline != kNone && newline < at))) {
      newline = Find(text, at, text.size(), '\n');
      is_newline_known = true;
    }
    const std::size_t end = in_quotes_ || newline == kNone ? text.size() : newline;
    const std::size_t quote = Find(text, at, end, '"');
    if (quote == kNone) {
      EndText(text, at);
      if (end == text.size()) {
        return kNone;
      }
      before_ = '\n';
      closed_before_ = false;
      return end;
    }
    closed_before_ = closed_before_ && quote == at;
    OnQuote(text, quote);
    at = quote + 1;
  }
}

void CsvQuotes::Skip(std::string_view text) {
  std::size_t at = 0;
  while (true) {
    const std::size_t quote = Find(text, at, text.size(), '"');
    if (quote == std::string_view::npos) {
      EndText(text, at);
      return;
    }
    closed_before_ = closed_before_ && quote == at;
    OnQuote(text, quote);
    at = quote + 1;
  }
}

}  // namespace glaive::engine
