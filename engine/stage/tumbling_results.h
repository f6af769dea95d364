// TumblingResults: the results of a tumbling window are the table of its one slice, as it lies.
//
// One of the kinds of results that a WindowTrigger is made of; see there.
#pragma once

#include <cstdint>

#include "absl/status/status.h"

#include "engine/executor/task_context.h"
#include "engine/fiber/fiber.h"
#include "engine/window/windows.h"

namespace glaive::engine {

template <typename Plan>
class TumblingResults {
 public:
  TumblingResults(TaskContext& /*context*/, const Windows& windows, typename Plan::Store& store)
      : windows_(windows), store_(&store) {}

  bool has_more(std::int64_t /*fired*/) const { return false; }

  template <typename Emit>
  absl::Status Fire(Fiber& /*fiber*/, std::int64_t window, const Emit& emit) {
    return store_->primary().Oldest()->second.ForEach([&](const auto& entry) {
      return emit(windows_.StartMs(window), windows_.EndMs(window), entry.key, entry.value.Result());
    });
  }

  std::uint64_t merges() const { return 0; }

 private:
  Windows windows_;
  typename Plan::Store* store_;
};

}  // namespace glaive::engine
