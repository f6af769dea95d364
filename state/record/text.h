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

// Its boundary is 4, so that a key may have a text beside a number of 4 bytes without padding.
class [[gnu::packed, gnu::aligned(4)]] Text {
 public:
  /// A text of at most so many bytes refers to nothing.
  static constexpr std::size_t kMostInline = 12;
  static constexpr std::size_t kMostBytes = 0xFFFFFFFF;

  /// The empty text.
  constexpr Text() = default;
  /// Refers to `bytes` if they are more than kMostInline. At most kMostBytes.
  Text(std::string_view bytes) {  // NOLINT(google-explicit-constructor): as a string_view is made of a string
    if (bytes.size() <= kMostInline) [[likely]] {
      *this = Inline(bytes.data(), bytes.size());
    } else {
      GLAIVE_CHECK(bytes.size() <= kMostBytes, "a text of ", bytes.size(), " bytes: it has at most 4 GiB");
      *this = Text(bytes.size() | std::uint64_t{Load<std::uint32_t>(bytes.data())} << kPrefixAt,
                   reinterpret_cast<std::uintptr_t>(bytes.data()));
    }
  }
  Text(const char* bytes) : Text(std::string_view(bytes)) {}  // NOLINT(google-explicit-constructor)
  Text(std::string&&) = delete;                               // its bytes are gone behind the expression

  std::uint32_t size() const { return static_cast<std::uint32_t>(first_); }
  bool empty() const { return size() == 0; }
  /// Whether it refers to nothing.
  bool is_inline() const { return size() <= kMostInline; }

  /// The bytes: inside this text if it is inline.
  std::string_view view() const { return {is_inline() ? inside() : address(), size()}; }
  operator std::string_view() const { return view(); }  // NOLINT(google-explicit-constructor)

  /// Of a text that is not inline, the 8 bytes that its address takes, as something else may need them: a place in a
  /// message, or a hash. A text with such a reference has no view().
  std::uint64_t reference() const { return rest_; }
  Text WithReference(std::uint64_t reference) const { return {first_, reference}; }
  /// Whether an inline text has zeros behind its bytes, without which it would equal no other.
  bool HasZerosBehind() const { return *this == Inline(inside(), size()); }

  friend bool operator==(const Text& a, const Text& b) {
    // The length and the first bytes tell most texts apart.
    if (a.first_ != b.first_) {
      return false;
    }
    return a.rest_ == b.rest_ || (!a.is_inline() && a.HasSameBytes(b));
  }
  friend std::strong_ordering operator<=>(const Text& a, const Text& b) { return a.view() <=> b.view(); }

  friend std::ostream& operator<<(std::ostream& out, const Text& text) { return out << text.view(); }
  template <typename H>
  friend H AbslHashValue(H hash, const Text& text) {
    return H::combine(std::move(hash), text.view());
  }

 private:
  static constexpr int kPrefixAt = 32;  // the bit where the first bytes begin
  static constexpr std::size_t kPrefix = 4;

  // Two numbers, so that a text is made, copied and compared in registers: where it is written in small pieces, the
  // processor cannot read it as a whole until all of them have left for the cache.
  Text(std::uint64_t first, std::uint64_t rest) : first_(first), rest_(rest) {}

  /// A text of `size` bytes, kMostInline at most.
  static Text Inline(const char* bytes, std::size_t size) {
    if (size >= sizeof(std::uint64_t)) {
      const std::uint64_t begin = Load<std::uint64_t>(bytes);
      const std::uint64_t end = Load<std::uint32_t>(bytes + size - sizeof(std::uint32_t));
      return {size | begin << kPrefixAt, begin >> kPrefixAt | end >> 8 * (kMostInline - size) << kPrefixAt};
    }
    if (size >= kPrefix) {
      const std::uint64_t begin = Load<std::uint32_t>(bytes);
      const std::uint64_t end = Load<std::uint32_t>(bytes + size - sizeof(std::uint32_t));
      return {size | begin << kPrefixAt, end >> 8 * (2 * kPrefix - size)};
    }
    if (size == 0) {
      return {};
    }
    const auto at = [bytes](std::size_t i) {
      return std::uint64_t{static_cast<unsigned char>(bytes[i])} << (kPrefixAt + 8 * i);
    };
    return {size | at(0) | at(size / 2) | at(size - 1), 0};
  }
  template <typename Number>
  static Number Load(const char* bytes) {
    Number number;
    std::memcpy(&number, bytes, sizeof(number));
    return number;
  }

  const char* inside() const { return reinterpret_cast<const char*>(this) + sizeof(std::uint32_t); }
  const char* address() const {
    return reinterpret_cast<const char*>(rest_);  // NOLINT(performance-no-int-to-ptr): Text() made it of a pointer
  }
  [[gnu::noinline]] bool HasSameBytes(const Text& other) const {
    return std::memcmp(address() + kPrefix, other.address() + kPrefix, size() - kPrefix) == 0;
  }

  std::uint64_t first_ = 0;  // the length, and the first four bytes
  std::uint64_t rest_ = 0;   // the bytes behind these, or the address of all
};

static_assert(std::endian::native == std::endian::little);
static_assert(sizeof(Text) == 16 && std::is_trivially_copyable_v<Text> &&
              std::has_unique_object_representations_v<Text>);

/// A record with texts is no plain data: see record.h.
template <>
inline constexpr bool kHidesPointer<Text> = true;

}  // namespace glaive
