#include "tests/fuzz/json/json_reader.h"

#include <cstddef>

#include "tests/fuzz/hex_digit.h"

namespace glaive {
namespace {

constexpr std::uint32_t kNoCode = 0xffffffff;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

void AppendUtf8(std::string& out, std::uint32_t code) {
  const auto append = [&out](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80) return append(code);
  if (code < 0x800) {
    append(0xc0 | code >> 6);
  } else if (code < 0x10000) {
    append(0xe0 | code >> 12);
    append(0x80 | (code >> 6 & 0x3f));
  } else {
    append(0xf0 | code >> 18);
    append(0x80 | (code >> 12 & 0x3f));
    append(0x80 | (code >> 6 & 0x3f));
  }
  append(0x80 | (code & 0x3f));
}

/// Goes through the text once. Each function takes what its name says, or returns false.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  bool Document(std::vector<JsonMember>& members) {
    (void)Take("\xef\xbb\xbf");
    Blanks();
    return Object(&members) && (Blanks(), rest_.empty());
  }

 private:
  bool Take(std::string_view token) {
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  bool Next(char c) const { return !rest_.empty() && rest_.front() == c; }

  void Blanks() {
    while (Next(' ') || Next('\t') || Next('\n') || Next('\r')) rest_.remove_prefix(1);
  }

  bool Object(std::vector<JsonMember>* members) {
    if (!Take("{")) return false;
    Blanks();
    if (Take("}")) return true;
    do {
      JsonMember member;
      Blanks();
      if (!String(member.name)) return false;
      Blanks();
      if (!Take(":")) return false;
      if (!Value(member)) return false;
      if (members != nullptr) members->push_back(member);
    } while (Take(","));
    return Take("}");
  }

  bool Array() {
    if (!Take("[")) return false;
    Blanks();
    if (Take("]")) return true;
    do {
      JsonMember element;
      if (!Value(element)) return false;
    } while (Take(","));
    return Take("]");
  }

  bool Value(JsonMember& member) {
    Blanks();
    bool is_right = true;
    if (Next('"')) {
      member.kind = JsonMember::Kind::kString;
      is_right = String(member.text);
    } else if (Next('{')) {
      is_right = Object(nullptr);
    } else if (Next('[')) {
      is_right = Array();
    } else if (Next('-') || (!rest_.empty() && IsDigit(rest_.front()))) {
      member.kind = JsonMember::Kind::kNumber;
      is_right = Number(member.text);
    } else {
      is_right = Word("true", member.text) || Word("false", member.text) || Word("null", member.text);
    }
    Blanks();
    return is_right;
  }

  bool Word(std::string_view word, std::string& text) {
    text = word;
    return Take(word);
  }

  bool Number(std::string& text) {
    const std::string_view before = rest_;
    (void)Take("-");
    const bool is_right = (Take("0") || Digits()) && (!Take(".") || Digits()) &&
                          (!(Take("e") || Take("E")) || ((void)(Take("+") || Take("-")), Digits()));
    text = before.substr(0, before.size() - rest_.size());
    return is_right;
  }

  bool Digits() {
    const std::size_t before = rest_.size();
    while (!rest_.empty() && IsDigit(rest_.front())) rest_.remove_prefix(1);
    return rest_.size() < before;
  }

  bool String(std::string& text) {
    if (!Take("\"")) return false;
    while (!Take("\"")) {
      const bool is_right = Take("\\") ? Escape(text) : Character(text);
      if (!is_right) return false;
    }
    return true;
  }

  bool Escape(std::string& text) {
    constexpr std::string_view kLetters = "\"\\/bfnrt";
    constexpr std::string_view kMeant = "\"\\/\b\f\n\r\t";
    for (std::size_t i = 0; i < kLetters.size(); ++i) {
      if (Take(kLetters.substr(i, 1))) {
        text.push_back(kMeant[i]);
        return true;
      }
    }
    std::uint32_t code = TakeCode();
    if (code >= 0xd800 && code < 0xdc00) {
      const std::uint32_t low = Take("\\") ? TakeCode() : kNoCode;
      if (low < 0xdc00 || low >= 0xe000) return false;
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    } else if (code >= 0xdc00 && code < 0xe000) {
      return false;
    }
    if (code == kNoCode) return false;
    AppendUtf8(text, code);
    return true;
  }

  /// `u` and four hexadecimal digits.
  std::uint32_t TakeCode() {
    if (!Take("u") || rest_.size() < 4) return kNoCode;
    std::uint32_t code = 0;
    for (const char c : rest_.substr(0, 4)) {
      const std::optional<std::uint32_t> digit = HexDigit(c);
      if (!digit.has_value()) return kNoCode;
      code = code << 4 | *digit;
    }
    rest_.remove_prefix(4);
    return code;
  }

  /// One character of a string in UTF-8 (RFC 3629), not a control character.
  bool Character(std::string& text) {
    if (rest_.empty()) return false;
    const auto byte = [this](std::size_t at) { return at < rest_.size() ? static_cast<std::uint8_t>(rest_[at]) : 0U; };
    const std::uint32_t first = byte(0);
    std::size_t bytes = 1;
    std::uint32_t code = first;
    std::uint32_t least = 0;
    if (first >= 0x80) {
      bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
      least = bytes == 4 ? 0x10000 : bytes == 3 ? 0x800 : 0x80;
      if (first < 0xc0 || first >= 0xf8) return false;
      code = first & (0x7fU >> bytes);
      for (std::size_t i = 1; i < bytes; ++i) {
        if ((byte(i) & 0xc0U) != 0x80) return false;
        code = code << 6 | (byte(i) & 0x3fU);
      }
    }
    if (code < 0x20 || code < least || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return false;
    text.append(rest_.substr(0, bytes));
    rest_.remove_prefix(bytes);
    return true;
  }

  std::string_view rest_;
};

}  // namespace

std::optional<std::vector<JsonMember>> ReadJsonObject(std::string_view text) {
  std::vector<JsonMember> members;
  if (!Reader(text).Document(members)) return std::nullopt;
  return members;
}

}  // namespace glaive
