// TakeFirst: goes through a span some elements at a time.
//
//   for (std::span<const Bid> rest = bids; !rest.empty();) Process(TakeFirst(rest, 128));
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

namespace glaive::engine {

/// The first `count` of `items`, or all if they are fewer; takes them away from `items`.
template <typename T>
std::span<T> TakeFirst(std::span<T>& items, std::size_t count) {
  const std::span<T> first = items.first(std::min(count, items.size()));
  items = items.subspan(first.size());
  return first;
}

}  // namespace glaive::engine
