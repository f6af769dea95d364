// StaticTable: a table that every executor has, for joins of a stream with constant data: `.JoinTable(...)`.
//
// Immutable after construction, and shared by the executors of a process. Every node makes it from the same data. It
// owns the texts of its keys and values.
//
//   auto campaigns = std::make_shared<const StaticTable<std::uint64_t, std::uint64_t>>(pairs_of_ad_and_campaign);
//   From(events).JoinTable(campaigns, &Event::ad, [](const Event& e, std::uint64_t campaign) { return ...; })
#pragma once

#include <cstddef>
#include <utility>

#include "absl/container/flat_hash_map.h"

#include "rdma/base/check.h"
#include "state/record/record.h"
#include "state/record/text_arena.h"

namespace glaive::engine {

template <typename K, typename V>
class StaticTable {
 public:
  /// Of pairs {key, value}, each key once; a key that comes twice is a defect.
  template <typename Pairs>
  explicit StaticTable(const Pairs& pairs) {
    ExpectDescribedTexts<K>();
    ExpectDescribedTexts<V>();
    for (const auto& [key, value] : pairs) {
      const bool is_new = values_.try_emplace(texts_.Own(K(key)), texts_.Own(V(value))).second;
      GLAIVE_CHECK(is_new, "a key of a static table comes twice");
    }
  }

  /// The key's value, null if it has none.
  const V* Find(const K& key) const {
    const auto found = values_.find(key);
    return found == values_.end() ? nullptr : &found->second;
  }

  std::size_t size() const { return values_.size(); }
  /// Memory that it takes, texts included.
  std::size_t size_bytes() const {
    return values_.capacity() * (sizeof(std::pair<const K, V>) + 1) + texts_.size_bytes();
  }

 private:
  state::TextArena texts_;
  absl::flat_hash_map<K, V> values_;
};

}  // namespace glaive::engine
