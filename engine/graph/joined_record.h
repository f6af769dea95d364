// JoinedRecord: a record of one of two streams that become one, on its way to the executor where they meet.
//
//   JoinedRecord<Symbol, Alert, Trade>{.key = alert.symbol, .left = alert, .right = {}}
#pragma once

#include <optional>
#include <tuple>

namespace glaive::engine {

/// One of `left` and `right` is there. What moves is all of it: its key, and what is kept of it.
template <typename K, typename Left, typename Right>
struct JoinedRecord {
  using Members = std::tuple<K, std::optional<Left>, std::optional<Right>>;
  template <typename Self, typename Visit>
  static void VisitMembers(Self& self, const Visit& visit) {
    visit("the key of On()", self.key);
    visit("the kept part of a left record", self.left);
    visit("the kept part of a right record", self.right);
  }

  K key{};
  std::optional<Left> left;
  std::optional<Right> right;
};

}  // namespace glaive::engine
