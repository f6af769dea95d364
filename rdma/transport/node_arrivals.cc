#include "rdma/transport/node_arrivals.h"

#include <utility>

#include "absl/strings/str_cat.h"

#include "rdma/base/check.h"
#include "rdma/transport/immediate.h"

namespace glaive::rdma {

absl::Status NodeArrivals::Open(ExecutorId executor, std::uint32_t receives) {
  std::optional<Queue>& queue = queues_[IndexOf(executor)];
  GLAIVE_CHECK(!queue.has_value(), "executor ", Value(executor), " has an arrival queue in its node already");
  absl::StatusOr<PageRegion> memory = PageRegion::Map(ArrivalQueue::BytesFor(receives));
  if (!memory.ok()) return memory.status();
  const ArrivalQueue values = ArrivalQueue::Make(memory->bytes(), receives);
  queue.emplace(Queue{.memory = *std::move(memory), .of_writers = values, .of_reader = values});
  return absl::OkStatus();
}

absl::StatusOr<std::optional<std::uint32_t>> NodeArrivals::Take(ExecutorId receiver, ExecutorId writer,
                                                                std::uint32_t wire_bits) {
  const ExecutorId target = Immediate::Unpack(wire_bits).executor;
  if (NodeOf(target) != NodeOf(receiver)) {
    return absl::DataLossError(absl::StrCat("executor ", Value(receiver), ": an immediate value of executor ",
                                            Value(writer), " is for executor ", Value(target),
                                            ", which is of another node"));
  }
  const std::uint32_t bits = Immediate::WithExecutor(wire_bits, writer);
  if (target == receiver) return bits;
  queues_[IndexOf(target)]->of_writers.Push(bits);
  return std::nullopt;
}

absl::StatusOr<std::size_t> NodeArrivals::Poll(ExecutorId executor, std::span<std::uint32_t> immediates) {
  return queues_[IndexOf(executor)]->of_reader.Poll(immediates);
}

}  // namespace glaive::rdma
