// Texts in messages: the long texts of a message's records, packed from its end towards the records.
//
//   payload   | records, entries, marker … | third text | second text | first text |
//                                                       ◄──── reference: 2nd ────►
//
// A long text in a message says how far before the payload's end its bytes begin. It is the length of all texts up to
// its own, so the texts lie without gaps in the order of their records, from the end. A receiver computes
// each reference from the lengths before it, and refuses a message with another one.
//
//   texts = PackTexts(record, texts, room_end);   // of a record that was copied into the message
//
//   TextUnpacker texts(payload_texts);
//   if (!texts.Unpack(record)) ...    // the texts refer to the payload again
//   if (!texts.empty()) ...           // at the end: bytes that no text refers to
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "state/record/record.h"
#include "state/record/text.h"

namespace glaive::state {

/// The most bytes that the texts of an entry of state may refer to, in messages of `slot_bytes`: some entries fit each
/// message. An entry with more ends the run with an error that names the longest text.
constexpr std::size_t MostTextBytes(std::size_t slot_bytes) { return slot_bytes / 16; }

/// Moves the long texts of `value`, which lies in the message, to the addresses below `begin`, where there is room for
/// TextBytes(value), and makes them references. `end` is the end of the room for texts. Returns where they begin now.
template <RecordData R>
std::byte* PackTexts(R& value, std::byte* begin, const std::byte* end) {
  ForEachText(value, [&](Text& text) {
    if (!text.is_inline()) {
      begin -= text.size();
      std::memcpy(begin, text.view().data(), text.size());
      text = text.WithReference(static_cast<std::uint64_t>(end - begin));
    }
  });
  return begin;
}

/// Reads the texts of a message's records, in their order.
class TextUnpacker {
 public:
  /// `texts` is the end of the payload.
  explicit TextUnpacker(std::span<const std::byte> texts) : texts_(texts) {}

  /// Makes the texts of the next record, which is a copy, refer to the payload. False if a peer has sent a record whose
  /// texts are not those that come next, or not as a Text has them.
  template <RecordData R>
  bool Unpack(R& value) {
    if (!HasRightFlags(value)) {
      return false;
    }
    bool is_right = true;
    ForEachText(value, [&](Text& text) { is_right = is_right && UnpackOne(text); });
    return is_right;
  }

  /// Whether all bytes have been referred to.
  bool empty() const { return used_ == texts_.size(); }

 private:
  /// Whether each optional that has texts says by 0 or 1 whether it has a value. No other byte may be read as a bool.
  /// The standard libraries of GCC and Clang have that byte behind the value.
  template <typename T>
  static bool HasRightFlags(const T& value) {
    if constexpr (kHasText<T> && requires { value.has_value(); }) {
      std::uint8_t flag = 0;
      std::memcpy(&flag, reinterpret_cast<const std::byte*>(&value) + sizeof(typename T::value_type), sizeof(flag));
      return flag == 0 || (flag == 1 && HasRightFlags(*value));
    } else if constexpr (kHasText<T> && (Described<T> || SaysItsMembers<T>)) {
      bool are_right = true;
      ForEachMember(value, [&](std::string_view /*name*/, const auto& member) {
        are_right = are_right && HasRightFlags(member);
      });
      return are_right;
    } else if constexpr (kHasText<T> && requires { value.begin(); }) {
      return std::ranges::all_of(value, [](const auto& each) { return HasRightFlags(each); });
    } else {
      return true;
    }
  }

  bool UnpackOne(Text& text) {
    if (text.is_inline()) {
      return text.HasZerosBehind();
    }
    if (text.size() > texts_.size() - used_ || text.reference() != used_ + text.size()) {
      return false;
    }
    used_ += text.size();
    const std::byte* const bytes = texts_.data() + texts_.size() - used_;
    text = Text(std::string_view(reinterpret_cast<const char*>(bytes), text.size()));
    return true;
  }

  std::span<const std::byte> texts_;
  std::size_t used_ = 0;
};

}  // namespace glaive::state
