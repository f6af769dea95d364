// OneCount: an AccountTable (account_table.h) of the only key of a query that counts all records together.
//
// Owned and used by one thread.
//
//   absl::StatusOr<OneCount> count = OneCount::Create(/*keys=*/1);
//   count->Add(256);
//   count->Drain([](engine::AllRecords key, const auto& account) { ... });
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"

#include "engine/sink/sink.h"

namespace glaive::queries {

class OneCount {
 public:
  using Key = engine::AllRecords;
  struct Account {
    std::uint64_t value() const { return count; }

    std::uint64_t count = 0;
  };

  static constexpr std::size_t kRecordsAtOnce = 256;

  static std::uint64_t MemoryBytes(std::uint64_t /*keys*/) { return 0; }
  /// There is one key, whatever `keys` says.
  static absl::StatusOr<OneCount> Create(std::uint64_t /*keys*/) { return OneCount(); }

  void Add(std::uint64_t records) { account_.count += records; }

  /// Calls `emit(key, account)` if there were records, and starts anew.
  template <typename Emit>
  void Drain(Emit emit) {
    if (account_.count > 0) {
      emit(Key{}, std::exchange(account_, {}));
    }
  }

 private:
  Account account_;
};

}  // namespace glaive::queries
