// The concept of a CRDT value: the partial aggregate that executors update on their own and merge later.
//
// Executors fold records into their own copy with Update; leaders fold copies into one with Merge. The result is the
// one a sequential run would produce if, for all values a, b, c (paper section 5.1, "Consistency"), where a.Merge(b)
// stands for a after the call:
//
//   1. a.Merge(b) == b.Merge(a)                              (commutative)
//   2. a.Merge(b).Merge(c) == a.Merge(b.Merge(c))            (associative)
//   3. a.Merge(V{}) == a                                     (a new value is neutral)
//   4. a.Update(x) == a.Merge(V{}.Update(x))                 (an update is the merge of a new value that it has
//   updated)
//
// Merge need not be idempotent: the epoch protocol applies each delta exactly once (invariant I2).
//
// A value lies in logs and travels between nodes as its bytes and those of its texts (state/record/record.h), so it is
// trivially copyable, its default is the empty aggregate, and it holds no pointer, but for those of its Texts. The same
// holds for its input, since an executor may send records that it has not folded. Nodes of one run share the byte
// order.
//
// A value with texts copies them as any other member: Update and Merge take Texts of their arguments. The table that
// stores the value copies the bytes behind each change (state/log/value_texts.h). So the value must not refer to other
// memory, nor make texts of bytes of its own. It says its members: by GLAIVE_RECORD or, if it is a template, as in
// ordered.h.
//
//   struct CountValue {
//     using Input = Nothing;
//     void Update(Nothing) { ++count; }
//     void Merge(const CountValue& other) { count += other.count; }
//     std::uint64_t Result() const { return count; }
//     std::uint64_t count = 0;
//   };
#pragma once

#include <concepts>
#include <type_traits>

#include "state/record/record.h"

namespace glaive::state {

/// The input of an aggregate that reads no field.
struct Nothing {};

/// What a value must offer; see the laws above, which tests/state/crdt_law_test.cc checks on random data.
template <typename V>
concept CrdtValue = RecordData<V> && std::is_default_constructible_v<V> && std::equality_comparable<V> &&
                    RecordData<typename V::Input> && (alignof(V) <= 8) &&
                    requires(V value, const V& other, const typename V::Input& input) {
                      { value.Update(input) } -> std::same_as<void>;
                      { value.Merge(other) } -> std::same_as<void>;
                      { other.Result() };
                    };

}  // namespace glaive::state
