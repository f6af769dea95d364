// OneCount: what AccountTable (account_table.h) is for queries by key, for one that counts all records together.
//
// Owned and used by one thread.
//
//   absl::StatusOr<OneCount> count = OneCount::Create(/*keys=*/1);
//   count->Add(256);
//   count->Drain([](std::uint64_t key, const auto& account) { ... });
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"

namespace glaive::bench {

class OneCount {
 public:
  static constexpr std::size_t kRecordsAtOnce = 256;

  /// There is one key, whatever `keys` says.
  static absl::StatusOr<OneCount> Create(std::uint64_t /*keys*/) { return OneCount(); }

  void Add(std::uint64_t records) { account_.count += records; }

  /// Calls `emit(0, account)` if there were records, and starts anew.
  template <typename Emit>
  void Drain(Emit emit) {
    if (account_.count > 0) {
      emit(std::uint64_t{0}, std::exchange(account_, {}));
    }
  }

 private:
  struct Account {
    std::uint64_t value() const { return count; }

    std::uint64_t count = 0;
  };

  Account account_;
};

}  // namespace glaive::bench
