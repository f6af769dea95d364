// VerbsTransport: over an RDMA device, by reliable connections (InfiniBand, RoCE, Soft-RoCE, iWARP).
//
// A descriptor is a virtual address and a remote key of the exposed memory; a write is an RDMA WRITE. Peers may write
// only into memory that Expose returned: the memory of send segments is registered without remote access. One
// completion queue for the writes of all queue pairs, and with Arrival::kImmediate one for their receives; the
// executor's own fibers poll them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"

#include "rdma/base/steady_clock.h"
#include "rdma/memory/page_region.h"
#include "rdma/transport/transport.h"
#include "rdma/transport/transport_options.h"
#include "rdma/verbs/receive_queue.h"
#include "rdma/verbs/thread_domain.h"
#include "rdma/verbs/verbs_connector.h"
#include "rdma/verbs/verbs_queue_pair.h"

struct ibv_cq;
struct ibv_mr;

namespace glaive::rdma {

/// See the head of this file.
class VerbsTransport final : public Transport {
 public:
  /// InvalidArgument when the queues asked for are more than the device has, no device is given, or it has no immediate
  /// values and they are asked for. With kImmediate there must be node_arrivals.
  static absl::StatusOr<std::unique_ptr<Transport>> Create(const TransportOptions& options);
  ~VerbsTransport() override;

  TransportKind kind() const override { return TransportKind::kVerbs; }
  EndpointDescriptor endpoint() const override;
  /// ResourceExhausted when the memory cannot be had or not be locked.
  absl::StatusOr<ExposedRegion> Expose(std::size_t size_bytes) override;
  absl::StatusOr<LocalKey> Register(std::span<std::byte> memory) override;
  /// InvalidArgument when the descriptor's key is none, or its owner no executor.
  absl::StatusOr<RemoteRegion> Attach(const RegionDescriptor& descriptor) override;
  absl::StatusOr<QueuePair*> Connect(ExecutorId peer, const EndpointDescriptor& there) override;
  absl::StatusOr<std::optional<NodeId>> PollConnecting() override;
  void Flush() override;
  std::size_t PollCompletions(std::span<Completion> completions) override;
  Arrival arrival() const override { return options_.arrival; }
  std::size_t PollArrivals(std::span<std::uint32_t> immediates) override;
  std::uint64_t handed_on() const override { return handed_on_; }
  bool SignalingIsFree() const override { return false; }
  /// Not on iWARP: there a write completes when TCP has taken it, and soft-iWARP lets TCP send straight from the memory
  /// later on (seen: payloads of 16 KiB overwritten on their way).
  bool CompletionFreesMemory() const override;
  bool PlacesOutOfOrder() const override;
  absl::Status PollFailure() override;

 private:
  static constexpr std::int64_t kPortStateDelayNanos = 200'000'000;

  explicit VerbsTransport(const TransportOptions& options)
      : options_(options), domain_(options.device->context(), options.device->protection_domain()) {}

  absl::Status CreateCompletionQueue();
  absl::Status CreateReceiveQueue();
  absl::Status TakeArrivals(std::span<std::uint32_t> immediates, std::size_t& count);
  std::size_t ReportFailures(std::span<Completion> completions);
  void OnFailedWrite(VerbsQueuePair& queue_pair, int status, std::uint32_t vendor_error);
  absl::StatusOr<ibv_mr*> RegisterMemory(std::span<std::byte> memory, unsigned access);

  TransportOptions options_;
  ThreadDomain domain_;
  std::vector<PageRegion> exposed_;
  std::vector<ibv_mr*> registered_;
  ibv_cq* completion_queue_ = nullptr;
  std::unique_ptr<ReceiveQueue> receive_queue_;               // kImmediate
  std::vector<VerbsQueuePair*> busy_;                         // those with a batch or a refusal
  std::vector<std::unique_ptr<VerbsQueuePair>> queue_pairs_;  // by index, as in a completion's wr_id
  std::unique_ptr<VerbsConnector> connector_;
  std::vector<NodeId> nodes_;  // at their other ends, by index
  std::uint64_t handed_on_ = 0;
  bool writes_have_failed_ = false;
  std::vector<Completion> failed_;     // not yet reported
  bool reports_failures_ = false;      // the port's state has shown why they failed, or had the time to
  std::int64_t port_is_known_ns_ = 0;  // from then on the port's state shows why the first of them failed
  SteadyClock clock_;
  absl::Status broken_;  // what a completion, or a completion queue, has said, until it was reported
};

}  // namespace glaive::rdma
