// VerbsTransport: over an RDMA device, by reliable connections (InfiniBand, RoCE, Soft-RoCE, iWARP).
//
// A descriptor is a virtual address and a remote key of the exposed memory; a write is an RDMA WRITE. Peers may write
// what Expose gave out and nothing else: memory that is sent from is registered without remote access.
// Writes are placed in address order by every device known so far, and relaxed ordering is never asked for; for others
// there is WriteMode::kSplit (bench/write_order says which a device needs).
// One completion queue for all queue pairs; the executor's own fibers poll it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"

#include "rdma/memory/page_region.h"
#include "rdma/transport/transport.h"
#include "rdma/transport/transport_options.h"
#include "rdma/verbs/verbs_connector.h"
#include "rdma/verbs/verbs_queue_pair.h"

struct ibv_cq;
struct ibv_mr;

namespace glaive::rdma {

/// See the head of this file.
class VerbsTransport final : public Transport {
 public:
  /// InvalidArgument when the queues asked for are more than the device has, or no device is given.
  static absl::StatusOr<std::unique_ptr<Transport>> Create(const TransportOptions& options);
  ~VerbsTransport() override;

  TransportKind kind() const override { return TransportKind::kVerbs; }
  EndpointDescriptor endpoint() const override;
  /// ResourceExhausted when the memory cannot be had or not be locked.
  absl::StatusOr<ExposedRegion> Expose(std::size_t size_bytes) override;
  absl::StatusOr<LocalKey> Register(std::span<std::byte> memory) override;
  /// InvalidArgument when the descriptor's key is none.
  absl::StatusOr<RemoteRegion> Attach(const RegionDescriptor& descriptor) override;
  absl::StatusOr<QueuePair*> Connect(NodeId peer, const EndpointDescriptor& there) override;
  absl::StatusOr<std::optional<NodeId>> PollConnecting() override;
  void Flush() override;
  std::size_t PollCompletions(std::span<Completion> completions) override;
  bool SignalingIsFree() const override { return false; }
  /// Not on iWARP: there a write completes when TCP has taken it, and soft-iWARP lets TCP send straight from the memory
  /// later on (seen: payloads of 16 KiB overwritten on their way).
  bool CompletionFreesMemory() const override;
  absl::Status PollFailure() override;

 private:
  explicit VerbsTransport(const TransportOptions& options) : options_(options) {}

  absl::Status CreateCompletionQueue();
  absl::StatusOr<ibv_mr*> RegisterMemory(std::span<std::byte> memory, int access);

  TransportOptions options_;
  std::vector<PageRegion> exposed_;
  std::vector<ibv_mr*> registered_;
  ibv_cq* completion_queue_ = nullptr;
  std::vector<std::unique_ptr<VerbsQueuePair>> queue_pairs_;  // by index, as in a completion's wr_id
  std::unique_ptr<VerbsConnector> connector_;
  absl::Status broken_;  // the completion queue's error, until it was reported
};

}  // namespace glaive::rdma
