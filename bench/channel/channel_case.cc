#include "bench/channel/channel_case.h"

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

#include "bench/common/or_die.h"
#include "bench/common/ordering.h"
#include "rdma/transport/node_arrivals.h"

namespace glaive::bench {
namespace {

using rdma::ExecutorMesh;
using rdma::MeshDescriptor;
using rdma::MeshOptions;
using rdma::TransportKind;

}  // namespace

Meshes PrepareMeshes(const ChannelCase& shape, ExecutorId self, const rdma::RunKey& run_key,
                     std::shared_ptr<rdma::VerbsDevice> device) {
  MeshOptions options;
  options.self = self;
  options.executors_per_node = shape.kind == TransportKind::kLocal ? 2 : 1;
  options.executor_count = shape.senders + 1;
  options.same_host = shape.kind;
  options.channel.slot_bytes = shape.slot_bytes;
  options.channel.credits = shape.credits;
  options.channel.signal_interval = shape.signal_interval;
  options.arrival = shape.arrival;
  options.inline_bytes = shape.inline_bytes;
  options.relaxed_ordering = device != nullptr && RelaxesOrdering(shape.relaxed_ordering, device->info());
  options.device = std::move(device);
  Meshes meshes;
  for (std::uint32_t channel = 0; channel < shape.channels; ++channel) {
    options.run_key = rdma::PartKey(run_key, channel);
    options.node_arrivals = std::make_shared<rdma::NodeArrivals>(options.executors_per_node);
    meshes.push_back(OrDie(ExecutorMesh::Prepare(options, shape.segments)));
  }
  return meshes;
}

std::string DescribeMeshes(const Meshes& meshes) {
  std::string text;
  for (const auto& mesh : meshes) absl::StrAppend(&text, mesh->descriptor().Encode(), "\n");
  return text;
}

absl::StatusOr<bool> PollMeshes(const Meshes& meshes) {
  bool all_stand = true;
  for (const auto& mesh : meshes) {
    const auto missing = mesh->PollConnecting();
    if (!missing.ok()) return missing.status();
    all_stand = all_stand && !missing->has_value();
  }
  return all_stand;
}

absl::Status PollChannels(const Meshes& meshes) {
  absl::Status status;
  for (const auto& mesh : meshes) {
    status.Update(mesh->Poll());
    mesh->Flush();
  }
  return status;
}

void ConnectMeshes(const ChannelCase& shape, std::span<const std::string> descriptions, Meshes& meshes) {
  std::vector<std::vector<MeshDescriptor>> by_channel(meshes.size());
  for (const std::string& description : descriptions) {
    const std::vector<std::string> lines = absl::StrSplit(description, '\n', absl::SkipEmpty());
    if (lines.size() != meshes.size()) {
      OrDie(absl::InvalidArgumentError(absl::StrCat("an end has ", lines.size(), " channels of ", meshes.size())));
    }
    for (std::size_t channel = 0; channel < lines.size(); ++channel) {
      by_channel[channel].push_back(OrDie(MeshDescriptor::Decode(lines[channel])));
    }
  }
  for (std::size_t channel = 0; channel < meshes.size(); ++channel)
    OrDie(meshes[channel]->Connect(by_channel[channel]));
  SpinUntil([&] { return OrDie(PollMeshes(meshes)); }, shape.attempts_before_yield());
}

}  // namespace glaive::bench
