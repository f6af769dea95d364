// Text: a string of bytes in a record, in 16 bytes, as in Umbra, Velox and DuckDB.
//
//   up to 12 bytes    | length: 4 | bytes, with zeros behind them: 12 |
//   longer            | length: 4 | the first 4 bytes | address of all bytes: 8 |
//
// A text of up to 12 bytes is complete in itself. A longer one refers to bytes that the container of its record owns: a
// batch, a table, a message, or an arena beside these (text_arena.h). The texts of a record are valid while its batch
// is processed. An operator that stores a record for longer copies the bytes. So a function of a step may make texts
// that refer to bytes of its record's texts:
//
//   stream.Map([](const Line& line) { return Word{Text(line.text.view().substr(0, 5))}; })
//
// A text that a step makes of other memory has to be valid until the whole batch has been processed: of a constant, of
// a table. Neither a string of the function nor an array in a record that a step has made lives that long.
//
// Order is that of bytes, not of characters. Bytes may have any value; nothing checks that they are UTF-8.
#pragma once

#include <array>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "rdma/base/check.h"
#include "rdma/base/plain_data.h"

namespace glaive {

class Text {
 public:
  /// A text of at most so many bytes refers to nothing.
  static constexpr std::size_t kMostInline = 12;
  static constexpr std::size_t kMostBytes = 0xFFFFFFFF;

  /// The empty text.
  constexpr Text() = default;
  /// Refers to `bytes` if they are more than kMostInline. At most kMostBytes.
  Text(std::string_view bytes) {  // NOLINT(google-explicit-constructor): as a string_view is made of a string
    GLAIVE_CHECK(bytes.size() <= kMostBytes, "a text of ", bytes.size(), " bytes: it has at most 4 GiB");
    length_ = static_cast<std::uint32_t>(bytes.size());
    if (is_inline()) {
      if (!bytes.empty()) {  // else data() may be null
        std::memcpy(rest_.data(), bytes.data(), bytes.size());
      }
    } else {
      const char* const address = bytes.data();
      std::memcpy(rest_.data(), address, kPrefix);
      std::memcpy(rest_.data() + kPrefix, static_cast<const void*>(&address), sizeof(address));
    }
  }
  Text(const char* bytes) : Text(std::string_view(bytes)) {}  // NOLINT(google-explicit-constructor)
  Text(std::string&&) = delete;                               // its bytes are gone behind the expression

  std::uint32_t size() const { return length_; }
  bool empty() const { return length_ == 0; }
  /// Whether it refers to nothing.
  bool is_inline() const { return length_ <= kMostInline; }

  /// The bytes: inside this text if it is inline.
  std::string_view view() const { return {is_inline() ? rest_.data() : address(), length_}; }
  operator std::string_view() const { return view(); }  // NOLINT(google-explicit-constructor)

  /// Of a text that is not inline, the 8 bytes that its address takes, as something else may need them: a place in a
  /// message, or a hash. A text with such a reference has no view().
  std::uint64_t reference() const {
    std::uint64_t reference;
    std::memcpy(&reference, rest_.data() + kPrefix, sizeof(reference));
    return reference;
  }
  Text WithReference(std::uint64_t reference) const {
    Text text = *this;
    std::memcpy(text.rest_.data() + kPrefix, &reference, sizeof(reference));
    return text;
  }
  /// Whether an inline text has zeros behind its bytes, without which it would equal no other.
  bool HasZerosBehind() const {
    static constexpr std::array<char, kMostInline> kZeros{};
    return std::memcmp(rest_.data() + length_, kZeros.data(), kMostInline - length_) == 0;
  }

  friend bool operator==(const Text& a, const Text& b) {
    // The length and the first bytes tell most texts apart.
    if (a.First() != b.First()) {
      return false;
    }
    return a.is_inline() ? std::memcmp(a.rest_.data() + kPrefix, b.rest_.data() + kPrefix, kMostInline - kPrefix) == 0
                         : std::memcmp(a.address() + kPrefix, b.address() + kPrefix, a.length_ - kPrefix) == 0;
  }
  friend std::strong_ordering operator<=>(const Text& a, const Text& b) { return a.view() <=> b.view(); }

  friend std::ostream& operator<<(std::ostream& out, const Text& text) { return out << text.view(); }
  template <typename H>
  friend H AbslHashValue(H hash, const Text& text) {
    return H::combine(std::move(hash), text.view());
  }

 private:
  static constexpr std::size_t kPrefix = 4;

  const char* address() const {
    const char* bytes;
    std::memcpy(static_cast<void*>(&bytes), rest_.data() + kPrefix, sizeof(bytes));
    return bytes;
  }
  /// The length and the first four bytes.
  std::uint64_t First() const { return std::bit_cast<Words>(*this).first; }

  struct Words {
    std::uint64_t first;
    std::uint64_t second;
  };

  std::uint32_t length_ = 0;
  std::array<char, kMostInline> rest_{};
};

static_assert(sizeof(Text) == 16 && std::is_trivially_copyable_v<Text> &&
              std::has_unique_object_representations_v<Text>);

/// A record with texts is no plain data: see record.h.
template <>
inline constexpr bool kHidesPointer<Text> = true;

}  // namespace glaive
