// TooLong: the error about an entry whose texts do not fit a message.
//
//   if (TextBytes(entry) > MostTextBytes(message_bytes)) return TooLong(entry, names, message_bytes);
#pragma once

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "state/record/record.h"
#include "state/record/text_wire.h"

namespace glaive::state {

/// What an error about the length of a text calls a key, or what is stored with it, that is a text itself.
struct TextNames {
  std::string key = "the key";
  std::string value = "the value";
};

/// An entry's key is its member "key". An ElementKey has a member "element", and a value that is chosen "value".
inline std::string NameOf(const LongestText& longest, const TextNames& names) {
  return longest.member == "key"                               ? names.key
         : longest.member == "key.element"                     ? "the distinct element"
         : longest.member.empty() || longest.member == "value" ? names.value
                                                               : absl::StrCat("its member ", longest.member);
}

/// InvalidArgument, which says what to do, for an entry of messages of `message_bytes`.
template <typename Entry>
absl::Status TooLong(const Entry& entry, const TextNames& names, std::size_t message_bytes) {
  const LongestText longest = LongestTextOf(entry);
  return absl::InvalidArgumentError(
      absl::StrCat("the texts of a key and of what is stored with it take ", TextBytes(entry),
                   " bytes, and messages of ", message_bytes, " bytes carry ", MostTextBytes(message_bytes),
                   " bytes of them: ", NameOf(longest, names), " has ", longest.bytes,
                   " bytes; raise --slot-bytes, or --ring-budget if that has made the slots smaller, or "
                   "shorten the texts"));
}

}  // namespace glaive::state
