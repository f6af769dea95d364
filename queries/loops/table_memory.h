// TableMemory: zeroed memory of a hand-written table, on huge pages where the system has them, touched at creation.
//
// Move-only, used by one thread.
//
//   absl::StatusOr<TableMemory> memory = TableMemory::Map(bytes);
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"

namespace glaive::queries {

class TableMemory {
 public:
  /// At least `bytes`. ResourceExhausted when the system has no more.
  static absl::StatusOr<TableMemory> Map(std::size_t bytes);

  void* data() const { return memory_.get(); }

 private:
  struct Unmap {
    std::size_t bytes = 0;
    void operator()(std::byte* memory) const;
  };

  TableMemory(std::byte* memory, std::size_t bytes) : memory_(memory, Unmap{.bytes = bytes}) {}

  std::unique_ptr<std::byte, Unmap> memory_;
};

}  // namespace glaive::queries
