#include "engine/executor/message_plan.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "rdma/base/bytes.h"
#include "rdma/channel/slot_footer.h"
#include "state/epoch/delta_layout.h"
#include "state/record/text_wire.h"

namespace glaive::engine {
namespace {

/// One message is taken in while the next comes.
constexpr std::uint64_t kLeastCredits = 2;
constexpr std::uint64_t kMostCredits = 64;
/// What an exchange has for another executor, besides messages that have credit: the one that fills up, and grants. Two
/// grants of half of the credits may be under way, and the last one.
constexpr std::uint64_t kSegmentsBesideCredits = 4;

/// Refuses slots in which not one record of an exchange fits.
absl::Status CheckRecordFits(const InputShape& exchange, std::size_t slot_bytes) {
  if (exchange.header_bytes + exchange.entry_bytes + rdma::kFooterBytes <= slot_bytes) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("a slot of ", FormatBytes(slot_bytes), " holds no record of ",
                                                 exchange.entry_bytes,
                                                 " bytes that moves to another executor, beside its footer and ",
                                                 exchange.header_bytes, " bytes of header: raise --slot-bytes"));
}

/// Refuses so many segments for exchanges.
absl::Status CheckSegments(std::uint64_t segments, std::uint64_t fragment_bytes) {
  return segments <= state::kMostSegments ? absl::OkStatus()
                                          : absl::InvalidArgumentError(absl::StrCat(
                                                "exchanges with ", FormatBytes(fragment_bytes), " under way have ",
                                                segments, " segments: lower --fragment-bytes"));
}

}  // namespace

absl::StatusOr<MessagePlan> PlanMessages(const std::vector<InputShape>& inputs, std::uint32_t executor_count,
                                         std::size_t slot_bytes, std::uint64_t fragment_bytes) {
  std::vector<std::size_t> entry_bytes;
  const std::uint32_t peers = executor_count - 1;
  std::uint64_t ways = 0;  // to other executors, of all exchanges
  std::uint64_t senders = 0;
  std::uint32_t most_receivers = 1;  // of an exchange's sender
  for (const InputShape& input : inputs) {
    if (!input.is_exchange()) {
      const std::size_t text_bytes = input.has_texts ? state::MostTextBytes(slot_bytes) + state::kRunAlignment : 0;
      entry_bytes.push_back(input.entry_bytes + text_bytes);
    } else if (executor_count > 1) {  // records of one executor stay where they are
      ways += input.from_one ? 1 : peers;
      senders += input.from_one ? 1 : executor_count;
      most_receivers = input.from_one ? most_receivers : peers;
      if (absl::Status status = CheckRecordFits(input, slot_bytes); !status.ok()) {
        return status;
      }
    }
  }
  const auto fragments = state::FragmentGeometry::PlanAll(executor_count, slot_bytes, entry_bytes, fragment_bytes);
  if (!fragments.ok()) {
    return fragments.status();
  }
  MessagePlan plan;
  auto next_fragment = fragments->begin();
  for (const InputShape& input : inputs) {
    plan.geometries.push_back(input.is_exchange() ? state::FragmentGeometry{} : *next_fragment++);
  }
  plan.exchange_credits =
      static_cast<std::uint32_t>(std::clamp(fragment_bytes / slot_bytes / most_receivers, kLeastCredits, kMostCredits));
  const std::uint64_t segments =
      state::FragmentGeometry::PoolSegments(*fragments) + ways * (plan.exchange_credits + kSegmentsBesideCredits);
  if (absl::Status status = CheckSegments(segments, fragment_bytes); !status.ok()) {
    return status;
  }
  plan.segments = static_cast<std::uint32_t>(segments);
  plan.inbox_bytes = senders * plan.exchange_credits * slot_bytes;
  return plan;
}

}  // namespace glaive::engine
