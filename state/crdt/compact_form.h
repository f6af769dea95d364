// CompactForm: a smaller encoding of a CRDT value, which most values fit. A cell stores it in place of the value. The
// form of a small value is the value itself.
//
// An exact sum of floats takes 48 bytes, of which 40 are hardly ever needed. Keys that recur are stored in arrays of
// cells (store/cell_table.h). These are cleared and read whole for each window, and should fit the cache. So a cell has
// only the other 8 bytes.
//
// A specialization stands beside its value and has the same members. An update that does not fit the form is refused
// (TryUpdate). Then the form's value is merged into a whole value elsewhere, and the form begins anew with the update.
// If the update does not fit an empty form, the whole value takes it. The key's value is both, merged.
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
V Whole(const V& value) {
  return value;
}
template <typename V>
auto Whole(const CompactForm<V>& form) {
  return form.Expanded();
}

}  // namespace glaive::state
