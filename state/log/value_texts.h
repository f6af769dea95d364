// ValueTexts: owns the texts of a table's values, which updates change, in the executor's state memory. For values
// without texts it is empty, and does nothing.
//
//   table   | key | value: Text ─┐ | key | value: Text ────────┐ |
//                                ▼                             ▼
//   texts   | block: "the text of a value…" (free: 40 bytes) "another text…" … |
//
// Code that changes a value is unaware of owners: Update and Merge of a CRDT, or a function of the query. It copies
// Texts, and these may refer to a batch, to another table, or to a part of a text that the value had. So a change is
// made through the owner. Behind the change, each text of the value is compared with those that it had before, by
// address and length:
//
//   1. A text that the value had before stays where it is. Most changes of a First, a Max or a TopK change no text.
//   2. Any other text is copied.
//   3. A text that the value has no longer is free, and later texts of about its length take its place. Its bytes stay
//      as they are until the next change by the same owner: a caller may still read the value that it has replaced.
//
// So each text has one reference in the table, and the memory follows the texts that values have at a time. Free places
// are in lists by size. Sizes are multiples of 8 up to 64 bytes, and then four for each doubling: a place is at most a
// quarter larger than its text, but for short ones.
//
// Owned by the table that refers to it, and released with it. Used by the executor's thread alone.
//
// Costs: a change that changes no text costs a walk over the texts of the value, before and after.
//
//   ValueTexts<V> texts;
//   status = texts.Change(memory, value, Age::kKnown, [&](V& value) { value.Update(input); });
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "state/log/state_memory.h"
#include "state/record/record.h"
#include "state/record/text.h"

namespace glaive::state {

/// Whether the owner of a value's texts has had a change of the value before.
enum class Age : std::uint8_t {
  kNew,    // all of its texts are of others' memory
  kKnown,  // it refers to the owner's memory alone
};

/// What ValueTexts are for any value.
class TextPlaces {
 public:
  TextPlaces() = default;
  TextPlaces(TextPlaces&& other) noexcept { *this = std::move(other); }
  TextPlaces& operator=(TextPlaces&& other) noexcept {
    std::swap(blocks_, other.blocks_);
    std::swap(free_, other.free_);
    std::swap(had_, other.had_);
    std::swap(dropped_, other.dropped_);
    std::swap(next_, other.next_);
    std::swap(left_, other.left_);
    std::swap(size_bytes_, other.size_bytes_);
    std::swap(matched_, other.matched_);
    return *this;
  }
  TextPlaces(const TextPlaces&) = delete;
  TextPlaces& operator=(const TextPlaces&) = delete;
  ~TextPlaces() = default;

  /// A change begins: the texts that the one before has dropped are free.
  void Begin() {
    if (!dropped_.empty()) [[unlikely]] {
      FreeDropped();
    }
    matched_ = 0;
  }
  /// Before the change: the value has a text.
  void Had(const Text& text) {
    if (!text.is_inline()) {
      had_.push_back(text);
    }
  }
  /// Behind the change: the value has a text, which is copied unless the value had it before. ResourceExhausted past
  /// the budget; the text is empty then.
  absl::Status Has(StateMemory& memory, Text& text) {
    if (text.is_inline() || (matched_ < had_.size() && IsSame(had_[matched_], text) && Match(matched_))) [[likely]] {
      return absl::OkStatus();
    }
    return FindOrCopy(memory, text);
  }
  /// The change ends: texts that the value had and has not are dropped.
  void End() {
    if (matches_ != had_.size()) [[unlikely]] {
      DropUnmatched();
    }
    had_.clear();
    matches_ = 0;
  }

  /// Gives the memory back; nothing refers to it any more.
  void Release(StateMemory& memory);

  std::size_t size_bytes() const { return size_bytes_; }

 private:
  static bool IsSame(const Text& a, const Text& b) { return a.size() == b.size() && a.reference() == b.reference(); }
  /// The value still has the text of a number. Returns true.
  bool Match(std::size_t number) {
    had_[number] = Text();
    matched_ = number + 1;
    ++matches_;
    return true;
  }
  [[gnu::noinline]] absl::Status FindOrCopy(StateMemory& memory, Text& text);
  [[gnu::noinline]] void DropUnmatched();
  [[gnu::noinline]] void FreeDropped();
  /// A place for so many bytes, which no inline text has.
  absl::StatusOr<char*> Take(StateMemory& memory, std::size_t bytes);
  absl::Status AddBlock(StateMemory& memory, std::size_t bytes);
  /// Adds a place to the free ones of a size.
  void Free(char* place, std::size_t size_class);

  std::vector<Block> blocks_;
  std::vector<char*> free_;    // by size class: the first free place, which says where the next one is
  std::vector<Text> had_;      // of the value that is being changed; those that it still has are empty
  std::vector<Text> dropped_;  // by the last change
  char* next_ = nullptr;       // in the last block
  std::size_t left_ = 0;
  std::size_t size_bytes_ = 0;  // of all blocks
  std::size_t matched_ = 0;     // behind the last text that was found in had_
  std::size_t matches_ = 0;     // texts found in had_
};

/// See the head of this file.
template <typename V>
class ValueTexts {
 public:
  template <typename ChangeFn>
  [[gnu::always_inline]] static absl::Status Change(StateMemory& /*memory*/, V& value, Age /*age*/,
                                                    const ChangeFn& change) {
    change(value);
    return absl::OkStatus();
  }
  static void Drop(const V& /*value*/) {}
  static void Release(StateMemory& /*memory*/) {}
  static constexpr std::size_t size_bytes() { return 0; }
};

template <typename V>
  requires kHasText<V>
class ValueTexts<V> {
 public:
  /// Calls `change(value)`, and makes the texts that the value has then its own. `change` must not change another value
  /// of the same owner. ResourceExhausted past the budget; the value then has empty texts in place of new ones.
  template <typename ChangeFn>
  absl::Status Change(StateMemory& memory, V& value, Age age, const ChangeFn& change) {
    places_.Begin();
    if (age == Age::kKnown) {
      ForEachText(std::as_const(value), [this](const Text& text) { places_.Had(text); });
    }
    change(value);
    absl::Status status;
    ForEachText(value, [&](Text& text) { status.Update(places_.Has(memory, text)); });
    places_.End();
    return status;
  }

  /// The value is gone: its texts are free. Their bytes stay as they are until the next call.
  void Drop(const V& value) {
    places_.Begin();
    ForEachText(value, [this](const Text& text) { places_.Had(text); });
    places_.End();
  }

  /// Gives the memory back; no value refers to it any more.
  void Release(StateMemory& memory) { places_.Release(memory); }

  std::size_t size_bytes() const { return places_.size_bytes(); }

 private:
  TextPlaces places_;
};

}  // namespace glaive::state
