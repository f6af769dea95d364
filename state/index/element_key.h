// ElementKey: a group and one of its elements as the key of an entry: a set of elements stored as entries, for each
// group.
//
// All elements of a group have one leader, that of the group's own key, so that it can count them.
//
//   ElementKey<std::uint64_t, std::uint64_t> key(auction, bidder);
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "state/index/key_hash.h"

namespace glaive::state {

/// Bytes side by side, so that no padding can come between them.
template <StateKey K, StateKey E>
class ElementKey {
 public:
  ElementKey() = default;
  ElementKey(const K& group, const E& element) {
    std::memcpy(bytes_.data(), &group, sizeof(K));
    std::memcpy(bytes_.data() + sizeof(K), &element, sizeof(E));
  }

  K group() const {
    K group;
    std::memcpy(&group, bytes_.data(), sizeof(K));
    return group;
  }

  /// What `hash` gives for it: the bits that choose the leader are those of the group's hash.
  std::uint64_t StateHash(const KeyHash& hash) const {
    return (hash.OfBytes(bytes_.data(), bytes_.size()) & ~kLeaderBits) | (hash(group()) & kLeaderBits);
  }

  friend bool operator==(const ElementKey&, const ElementKey&) = default;

 private:
  std::array<std::byte, sizeof(K) + sizeof(E)> bytes_{};
};

}  // namespace glaive::state
