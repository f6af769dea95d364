// ReadJsonObject: a strict reader of one JSON object (RFC 8259), to hold others against: it is slow and simple, and has
// nothing of the library that the parsers use.
//
// The reader keeps a string's text with its escapes resolved, and a number as it is written. A byte order mark before
// the object is passed over, as section 8.1 lets a reader do.
//
// The reader checks the members of inner arrays and objects, and does not keep them.
//
//   const std::optional<std::vector<JsonMember>> members = ReadJsonObject(line);
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace glaive {

struct JsonMember {
  enum class Kind : std::uint8_t { kString, kNumber, kOther };

  std::string name;
  Kind kind = Kind::kOther;
  std::string text = {};  // of a string or a number; a word, such as null; "" for an array or an object
};

/// The members in the order of the text; none if the text is anything but one object, perhaps between blanks.
std::optional<std::vector<JsonMember>> ReadJsonObject(std::string_view text);

}  // namespace glaive
