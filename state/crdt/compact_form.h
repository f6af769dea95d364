// CompactForm: what a cell stores for a key in place of its CRDT value: the value itself, or something smaller that
// holds what most values are.
//
// An exact sum of floats takes 48 bytes, of which 40 are hardly ever needed. Keys that recur are stored in arrays of
// cells (store/cell_table.h). These are cleared and read whole for each window, and should fit the cache: a cell has
// the 8 bytes.
//
// A specialization stands beside its value and has the same members. When a form does not take something, it begins
// anew with that, once what it had is merged into a value elsewhere; or that value takes it, if no form does. The key's
// value is both, merged.
//
//   CompactForm<V> form;
//   if (!form.TryUpdate(input)) {
//     CompactForm<V> anew;
//     if (anew.TryUpdate(input)) rest.Merge(std::exchange(form, anew).Expanded());
//     else rest.Update(input);
//   }
//   V value = form.Expanded();
//   value.Merge(rest);
#pragma once

namespace glaive::state {

template <typename V>
class CompactForm {
 public:
  /// Whether it took the record; if not, it has not changed.
  [[gnu::always_inline]] bool TryUpdate(const typename V::Input& input) {
    value_.Update(input);
    return true;
  }
  /// Likewise of a delta, which may be a peer's.
  bool TryMerge(const V& delta) {
    value_.Merge(delta);
    return true;
  }
  /// Likewise of another executor's form.
  [[gnu::always_inline]] bool TryMerge(const CompactForm& delta) { return TryMerge(delta.value_); }
  /// The value that what it took makes, and that value's result.
  const V& Expanded() const { return value_; }
  auto Result() const { return value_.Result(); }

 private:
  V value_{};
};

/// The value of a log's entry or of a cell.
template <typename V>
const V& Whole(const V& value) {
  return value;
}
template <typename V>
auto Whole(const CompactForm<V>& form) {
  return form.Expanded();
}

}  // namespace glaive::state
