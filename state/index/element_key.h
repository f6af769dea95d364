// ElementKey: a group and one of its elements as the key of an entry: a set of elements stored as entries, for each
// group.
//
// The leader of a group's own key leads all elements of the group, so that it can count them.
//
//   ElementKey<std::uint64_t, std::uint64_t> key(auction, bidder);
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <type_traits>

#include "state/index/key_hash.h"
#include "state/record/record.h"

namespace glaive::state {

/// Bytes side by side, so that no padding can come between them.
template <StateKey K, StateKey E>
class ElementKey {
 public:
  using Members = std::tuple<K, E>;

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
  E element() const {
    E element;
    std::memcpy(&element, bytes_.data() + sizeof(K), sizeof(E));
    return element;
  }

  /// `visit` gets copies, which do not outlive the call. It may change those of a key that is not const.
  template <typename Self, typename Visit>
  static void VisitMembers(Self& self, const Visit& visit) {
    K group = self.group();
    E element = self.element();
    visit("", group);
    visit("element", element);
    if constexpr (!std::is_const_v<Self>) {
      self = ElementKey(group, element);
    }
  }

  /// What `hash` gives for it: the bits that choose the leader are those of the group's hash.
  std::uint64_t StateHash(const KeyHash& hash) const {
    return (hash.OfContent(*this) & ~kLeaderBits) | (hash(group()) & kLeaderBits);
  }

  friend bool operator==(const ElementKey& a, const ElementKey& b) {
    if constexpr (kHasText<K> || kHasText<E>) {
      return a.group() == b.group() && a.element() == b.element();
    } else {
      return a.bytes_ == b.bytes_;
    }
  }

 private:
  std::array<std::byte, sizeof(K) + sizeof(E)> bytes_{};
};

}  // namespace glaive::state
