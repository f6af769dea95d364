// Windows by the order of records: those of a number of records, and those that the content of records opens and
// closes.
//
//   .Window(CountWindow{.size = 10, .slide = 5})     a key's records 0 to 9, 5 to 14, 10 to 19, ...
//   .Window(CountWindow{.size = 10})                 0 to 9, 10 to 19, ...
//   .Window(Transaction([](const Event& event) {     from a login to the logout behind it
//     return event.kind == kLogin ? InTransaction::kOpens : event.kind == kLogout ? InTransaction::kCloses
//                                                                                : InTransaction::kGoesOn;
//   }))
//
// A key has windows of its own; without a key they are of all records. Its windows are numbered from 0. At the end of
// the stream, the oldest window that is open is complete, with the records that it has. What a window has of records
// depends on the order in which they come, so they move to one executor. A window is made of parts, each of which an
// aggregate folds into one value:
//
//   CountWindow{5, 3}    records   0   1   2   3   4   5   6   7
//                        window 0  ├───────┼───┼───────┤              cuts: where a window begins,
//                        window 1              ├───────┼───┼───────┤  and where one ends
//
// Immutable and shared by the executors of a process.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"

#include "rdma/base/check.h"

namespace glaive::engine {

/// Windows of `size` records, a new one every `slide` records; without a slide they follow each other. At least 1, and
/// the slide is at most the size, else the process ends with a message. A key stores what an aggregate makes of two
/// parts a slide at most, or the records of a window.
struct CountWindow {
  std::uint64_t size;
  std::uint64_t slide = size;
};

/// What a record is to the window of its key. The window is open from its first record to its last.
enum class InTransaction : std::uint8_t {
  kOpens,     ///< the first one of a window. A window that is open is complete before it
  kGoesOn,    ///< one of the window that is open. Where none is, it opens one
  kCloses,    ///< likewise, and the window is complete with it
  kIsInside,  ///< one of the window that is open. Where none is, it belongs to none
  kCancels,   ///< the window that is open has no result. The record belongs to none
};

/// Windows that begin and end by what `function(record)` says of each record.
template <typename Function>
struct Transaction {
  explicit Transaction(Function says) : function(std::move(says)) {}

  Function function;
};

/// A window by order, as functions of Process are told of it.
struct NumberedWindow {
  std::uint64_t number = 0;  // of its key's windows, from 0

  friend bool operator==(const NumberedWindow&, const NumberedWindow&) = default;
};

template <typename W>
inline constexpr bool kIsTransaction = false;
template <typename Function>
inline constexpr bool kIsTransaction<Transaction<Function>> = true;
/// Whether a window is by the order of records.
template <typename W>
inline constexpr bool kIsOrderedWindow = std::is_same_v<W, CountWindow> || kIsTransaction<W>;

/// The arithmetic of CountWindow. `records` are those of the oldest window that is open.
class CountWindows {
 public:
  /// Dies of a window that makes no sense.
  explicit CountWindows(const CountWindow& windows)
      : size_(windows.size), slide_(windows.slide), rest_(slide_ == 0 ? 0 : size_ % slide_) {
    GLAIVE_CHECK(size_ >= 1 && slide_ >= 1 && slide_ <= size_, "a count window of ", size_, " records every ", slide_,
                 "; both must be at least 1, and the slide at most the size");
  }

  /// What a record is to the open window, which has `records`.
  template <typename R>
  InTransaction KindOf(const R& /*record*/, std::uint64_t records) const {
    return records + 1 == size_ ? InTransaction::kCloses : InTransaction::kGoesOn;
  }
  /// Whether the record behind so many of the window begins a part.
  bool BeginsPart(std::uint64_t records) const {
    const std::uint64_t of_slide = records % slide_;
    return of_slide == 0 || (rest_ != 0 && of_slide == rest_);
  }
  /// How many records, and how many parts, of a complete window are not of the next one.
  std::uint64_t records_of_slide() const { return slide_; }
  std::uint64_t parts_of_slide() const { return rest_ == 0 ? 1 : 2; }

  std::string Describe() const {
    return absl::StrCat("windows of ", size_, " records", slide_ == size_ ? "" : absl::StrCat(", one each ", slide_));
  }

 private:
  std::uint64_t size_;
  std::uint64_t slide_;
  std::uint64_t rest_;  // size modulo slide
};

/// Likewise of Transaction. A window is one part, and has no record of the next one.
template <typename Function>
class TransactionWindows {
 public:
  explicit TransactionWindows(Transaction<Function> windows) : function_(std::move(windows.function)) {}

  template <typename R>
  InTransaction KindOf(const R& record, std::uint64_t /*records*/) const {
    return std::invoke(function_, record);
  }
  bool BeginsPart(std::uint64_t records) const { return records == 0; }
  std::uint64_t records_of_slide() const { return kAll; }
  std::uint64_t parts_of_slide() const { return kAll; }

  std::string Describe() const { return "windows that records open and close"; }

 private:
  static constexpr std::uint64_t kAll = UINT64_MAX;

  Function function_;
};

inline CountWindows MakeOrderedWindows(const CountWindow& window) { return CountWindows(window); }
template <typename Function>
TransactionWindows<Function> MakeOrderedWindows(Transaction<Function> window) {
  return TransactionWindows<Function>(std::move(window));
}

/// What Transaction takes for records of type R.
template <typename W, typename R>
inline constexpr bool kReadsRecords = true;
template <typename Function, typename R>
inline constexpr bool kReadsRecords<Transaction<Function>, R> =
    std::is_invocable_r_v<InTransaction, const Function&, const R&>;

}  // namespace glaive::engine
