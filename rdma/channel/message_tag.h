// MessageTag: 24 bytes that travel in a message's footer for the layer above. The channel never reads it.
//
//   struct ChunkTag { std::uint64_t epoch; std::uint32_t chunk; std::uint32_t kind; };
//   sender.TrySend(segment, bytes, MessageTag::Of(ChunkTag{7, 0, 1}));
//   ChunkTag tag = message.tag.As<ChunkTag>();
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <type_traits>

namespace glaive::rdma {

/// See the head of this file. Zero unless said otherwise.
struct MessageTag {
  static constexpr std::size_t kBytes = 24;

  alignas(8) std::array<std::byte, kBytes> bytes{};

  /// A tag that starts with the bytes of `value`; the rest is zero.
  template <typename T>
    requires(std::is_trivially_copyable_v<T> && sizeof(T) <= kBytes)
  static MessageTag Of(const T& value) {
    MessageTag tag;
    std::memcpy(tag.bytes.data(), &value, sizeof(T));
    return tag;
  }

  /// The tag's first bytes as a T. What they hold was checked for damage in transit, not for sense.
  template <typename T>
    requires(std::is_trivially_copyable_v<T> && sizeof(T) <= kBytes)
  T As() const {
    T value;
    std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
  }

  bool operator==(const MessageTag&) const = default;
};

static_assert(sizeof(MessageTag) == MessageTag::kBytes);

}  // namespace glaive::rdma
