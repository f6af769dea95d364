// TumblingResults: the results of tumbling windows, each from the table of its one slice.
//
// A kind of window (window_kind.h).
#pragma once

#include <cstdint>

#include "absl/status/status.h"

#include "engine/executor/task_context.h"
#include "engine/fiber/fiber.h"
#include "engine/stage/read_slice.h"
#include "engine/window/windows.h"
#include "state/log/state_memory.h"

namespace glaive::engine {

template <typename Plan>
class TumblingResults {
 public:
  TumblingResults(TaskContext& context, const Windows& windows, typename Plan::Store& store)
      : windows_(windows), memory_(context.memory), store_(&store) {}

  bool has_more(std::int64_t /*fired*/) const { return false; }

  template <typename Emit>
  absl::Status Fire(Fiber& fiber, std::int64_t window, const Emit& emit) {
    auto table = store_->primary().TakeOldest();
    const auto emit_entry = [&](const auto& entry) {
      return emit(windows_.StartMs(window), windows_.EndMs(window), entry.key, entry.value.Result());
    };
    absl::Status status = ReadSlice(fiber, *memory_, table, emit_entry);
    table.Release(*memory_);
    return status;
  }

  std::uint64_t merges() const { return 0; }

 private:
  Windows windows_;
  state::StateMemory* memory_;
  typename Plan::Store* store_;
};

}  // namespace glaive::engine
