// Words: the words of a text, as a range of views of its bytes.
//
// A word is a longest run of ASCII letters, digits, and bytes from 0x80 on, which UTF-8 has in all other characters. So
// letters beyond ASCII belong to words, and so does punctuation beyond ASCII. Capitals are not made small: a small copy
// of a word would need memory of its own, and a Text refers to the bytes of its record.
//
//   "Don't panic: 42 naïve mice"    Don  t  panic  42  naïve  mice
//
//   stream.FlatMap([](const TextLine& line) { return Words(line.text); })    // a stream of Text
#pragma once

#include <array>
#include <cstddef>
#include <iterator>
#include <string_view>

#include "state/record/text.h"

namespace glaive::queries::wordcount {

/// By the byte.
inline constexpr auto kIsOfWord = [] {
  std::array<bool, 256> is_of_word{};
  for (std::size_t byte = 0; byte < is_of_word.size(); ++byte) {
    is_of_word[byte] =
        (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z') || byte >= 0x80;
  }
  return is_of_word;
}();

class Words {
 public:
  class Iterator {
   public:
    using value_type = Text;
    using difference_type = std::ptrdiff_t;

    explicit Iterator(std::string_view text) : begin_(text.data()), end_(text.data()), text_end_(begin_ + text.size()) {
      ++*this;
    }

    Text operator*() const { return std::string_view(begin_, static_cast<std::size_t>(end_ - begin_)); }
    Iterator& operator++() {
      begin_ = end_;
      while (begin_ != text_end_ && !IsOfWord(*begin_)) {
        ++begin_;
      }
      end_ = begin_;
      while (end_ != text_end_ && IsOfWord(*end_)) {
        ++end_;
      }
      return *this;
    }
    void operator++(int) { ++*this; }

    friend bool operator==(const Iterator& iterator, std::default_sentinel_t /*end*/) {
      return iterator.begin_ == iterator.text_end_;
    }

   private:
    static bool IsOfWord(char byte) { return kIsOfWord[static_cast<unsigned char>(byte)]; }

    // The word is [begin_, end_).
    const char* begin_;
    const char* end_;
    const char* text_end_;
  };

  /// `text` outlives the words.
  explicit Words(std::string_view text) : text_(text) {}

  Iterator begin() const { return Iterator(text_); }
  static std::default_sentinel_t end() { return {}; }

 private:
  std::string_view text_;
};

}  // namespace glaive::queries::wordcount
