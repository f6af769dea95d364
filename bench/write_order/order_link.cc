#include "bench/write_order/order_link.h"

#include <array>
#include <atomic>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

#include "bench/common/spin.h"
#include "bench/write_order/order_failure.h"

namespace glaive::bench {
namespace {

using rdma::TransportKind;

constexpr ExecutorId kReaderExecutor{0};
constexpr ExecutorId kWriterExecutor{1};

}  // namespace

OrderLink::OrderLink(Side side, const rdma::RunKey& key, bool relaxed_ordering,
                     std::shared_ptr<rdma::VerbsDevice> device)
    : side_(side),
      transport_(OrFail(rdma::MakeTransport(TransportKind::kVerbs,
                                            {.executor = side == Side::kReader ? kReaderExecutor : kWriterExecutor,
                                             .queue_depth = 8 * kOrderSlots,
                                             .run_key = key,
                                             .relaxed_ordering = relaxed_ordering,
                                             .device = std::move(device)}))) {
  const rdma::ExposedRegion exposed =
      OrFail(transport_->Expose(kOrderWordBytes + (side == Side::kReader ? kOrderRingBytes : 0)));
  memory_ = exposed.memory;
  region_ = exposed.descriptor;
}

OrderLink::OrderLink(std::span<std::byte> here, std::span<std::byte> there)
    : queue_pair_(&backwards_),
      remote_{.address = reinterpret_cast<std::uint64_t>(there.data()), .size_bytes = there.size()},
      memory_(here) {}

std::string OrderLink::Describe() const {
  return absl::StrCat(transport_->endpoint().address, " ", region_.owner, " ", region_.key, " ", region_.address, " ",
                      region_.size_bytes);
}

void OrderLink::StartConnecting(const std::string& description) {
  const std::vector<std::string> words = absl::StrSplit(description, ' ');
  rdma::RegionDescriptor there;
  if (words.size() != 5 || !absl::SimpleAtoi(words[1], &there.owner) || !absl::SimpleAtoi(words[2], &there.key) ||
      !absl::SimpleAtoi(words[3], &there.address) || !absl::SimpleAtoi(words[4], &there.size_bytes)) {
    OrDie(absl::InvalidArgumentError(absl::StrCat("the other end describes itself by '", description, "'")),
          kOrderFailed);
  }
  remote_ = OrFail(transport_->Attach(there));
  const ExecutorId peer = side_ == Side::kReader ? kWriterExecutor : kReaderExecutor;
  queue_pair_ = OrFail(transport_->Connect(peer, {.address = words[0]}));
}

absl::StatusOr<bool> OrderLink::PollConnecting() {
  const absl::StatusOr<std::optional<NodeId>> missing = transport_->PollConnecting();
  if (!missing.ok()) return missing.status();
  return !missing->has_value();
}

std::uint64_t OrderLink::Word(std::uint32_t index) const {
  auto* const word = reinterpret_cast<std::uint64_t*>(memory_.data()) + index;
  return std::atomic_ref<std::uint64_t>(*word).load(std::memory_order_acquire);
}

rdma::LocalKey OrderLink::Register(std::span<std::byte> memory) {
  return transport_ == nullptr ? rdma::LocalKey{} : OrFail(transport_->Register(memory));
}

bool OrderLink::TryWrite(const std::byte* local, std::uint32_t length, rdma::LocalKey key, std::uint64_t ring_offset) {
  return TryPost({.local = local,
                  .length = length,
                  .local_key = key,
                  .remote = remote_,
                  .remote_offset = kOrderWordBytes + ring_offset});
}

void OrderLink::WriteWord(std::uint32_t index, std::uint64_t value) {
  const rdma::WriteRequest request = {.local = reinterpret_cast<const std::byte*>(&value),
                                      .length = sizeof(value),
                                      .remote = remote_,
                                      .remote_offset = index * sizeof(value),
                                      .inline_payload = true};
  SpinUntil([&] { return TryPost(request); }, kFabricSpins);
}

bool OrderLink::TryPost(const rdma::WriteRequest& request) {
  Poll();
  if (!queue_pair_->TryPostWrite(request)) return false;
  if (transport_ != nullptr) transport_->Flush();
  return true;
}

void OrderLink::Poll() {
  if (transport_ == nullptr) return;
  std::array<rdma::Completion, 32> completions;
  for (std::size_t i = 0, count = transport_->PollCompletions(completions); i < count; ++i) {
    if (completions[i].status != rdma::WriteStatus::kDone) {
      OrDie(absl::UnavailableError(absl::StrCat("a write failed: ", Name(completions[i].status))), kOrderFailed);
    }
  }
}

}  // namespace glaive::bench
