// Appended: a tuple of an append set, as joins keep them (paper section 5.2).
//
// A set that only grows merges by union, and the union of the executors' sets is their tuples side by side. So the
// state never puts a set together. An entry is one tuple, a key may have any number of entries, and adding one needs no
// lookup (append_table.h, fragment.h). A set may then be far larger than a message.
#pragma once

#include <tuple>
#include <type_traits>

namespace glaive::state {

template <typename T>
struct Appended {
  static_assert(std::is_trivially_copyable_v<T>, "what a join keeps is shipped as its bytes: no pointers, no strings");
  using Input = T;
  using Members = std::tuple<T>;
  template <typename Self, typename Visit>
  static void VisitMembers(Self& self, const Visit& visit) {
    visit("", self.tuple);
  }

  T tuple{};
};

/// Whether each update of a value is an entry of its own.
template <typename V>
inline constexpr bool kIsAppended = false;
template <typename T>
inline constexpr bool kIsAppended<Appended<T>> = true;

}  // namespace glaive::state
