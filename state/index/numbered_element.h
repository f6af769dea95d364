// NumberedElement: an element of one of several sets, and the number of its set. The sets may have elements of
// different types. Beside a group in an ElementKey it is the key of an entry, where a group has several sets.
//
//   using Element = NumberedElement<std::uint64_t, Text>;   // set 0 has numbers, set 1 texts
//   ElementKey<std::uint64_t, Element> key(auction, Element::Of<1>(channel));
//
//   │ element, then zeros: as many bytes as the largest has │ number, 1 byte │
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

#include "state/index/key_hash.h"
#include "state/record/record.h"

namespace glaive::state {

/// Bytes, so that there is no padding.
template <StateKey... Es>
class NumberedElement {
  static_assert(sizeof...(Es) <= 256, "glaive: Several{} holds 256 Distinct{} at most");

 public:
  using Members = std::tuple<Es...>;

  NumberedElement() = default;

  template <std::size_t kNumber>
  static NumberedElement Of(const std::tuple_element_t<kNumber, Members>& element) {
    NumberedElement numbered;
    std::memcpy(numbered.bytes_.data(), &element, sizeof(element));
    numbered.bytes_[kMostBytes] = std::byte{kNumber};
    return numbered;
  }

  std::size_t number() const { return static_cast<std::size_t>(bytes_[kMostBytes]); }

  /// `visit` gets a copy, which does not outlive the call. It may change that of an element that is not const.
  template <typename Self, typename Visit>
  static void VisitMembers(Self& self, const Visit& visit) {
    ForItsNumber(self.number(), [&]<std::size_t kNumber>() {
      auto element = self.template As<kNumber>();
      visit("", element);
      if constexpr (!std::is_const_v<Self>) {
        self = Of<kNumber>(element);
      }
    });
  }

  friend bool operator==(const NumberedElement& a, const NumberedElement& b) {
    if constexpr ((kHasText<Es> || ...)) {
      bool are_equal = false;
      if (a.number() == b.number()) {
        ForItsNumber(a.number(),
                     [&]<std::size_t kNumber>() { are_equal = a.template As<kNumber>() == b.template As<kNumber>(); });
      }
      return are_equal;
    } else {
      return a.bytes_ == b.bytes_;
    }
  }

 private:
  static constexpr std::size_t kMostBytes = std::max({sizeof(Es)...});

  template <std::size_t kNumber>
  auto As() const {
    std::tuple_element_t<kNumber, Members> element;
    std::memcpy(&element, bytes_.data(), sizeof(element));
    return element;
  }

  /// Calls `use.operator()<number>()`.
  template <typename Use>
  static void ForItsNumber(std::size_t number, const Use& use) {
    [&]<std::size_t... kNumbers>(std::index_sequence<kNumbers...>) {
      (void)((number == kNumbers && (use.template operator()<kNumbers>(), true)) || ...);
    }(std::index_sequence_for<Es...>());
  }

  std::array<std::byte, kMostBytes + 1> bytes_{};
};

}  // namespace glaive::state
