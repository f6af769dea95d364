// MessagePlan: the memory that an executor needs for the messages of a query: segments to send from, and inboxes.
//
//   absl::StatusOr<MessagePlan> plan = PlanMessages(query.inputs(roles), executor_count, slot_bytes, fragment_bytes);
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"

#include "engine/executor/query.h"
#include "state/store/fragment_geometry.h"

namespace glaive::engine {

struct MessagePlan {
  std::vector<state::FragmentGeometry> geometries;  // by input; an exchange has none
  std::uint32_t segments = 0;                       // of the pool that the inputs share
  std::uint32_t exchange_credits = 0;  // messages of an exchange that wait for a receiver, or are under way
  std::uint64_t inbox_bytes = 0;       // of all exchanges, at most
};

/// For messages of slots of `slot_bytes`, and `fragment_bytes` of each input under way. Errors: InvalidArgument when no
/// record of an exchange fits a slot, or when there would be too many segments; and those of FragmentGeometry::PlanAll.
absl::StatusOr<MessagePlan> PlanMessages(const std::vector<InputShape>& inputs, std::uint32_t executor_count,
                                         std::size_t slot_bytes, std::uint64_t fragment_bytes);

}  // namespace glaive::engine
