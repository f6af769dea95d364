// Meshes: the meshes of all executors of a run in this process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "gtest/gtest.h"

#include "rdma/mesh/executor_mesh.h"
#include "rdma/transport/node_arrivals.h"
#include "tests/rdma/transport_pair.h"

namespace glaive::rdma {

/// A run of `executor_count` executors with small rings.
inline MeshOptions MeshOf(std::uint32_t executors_per_node, std::uint32_t executor_count) {
  MeshOptions options;
  options.executors_per_node = executors_per_node;
  options.executor_count = executor_count;
  options.channel = {.slot_bytes = 512, .credits = 4, .checksum_payload = true, .signal_interval = 0};
  options.run_key = {42};
  return options;
}

/// All executors of a run in this process.
class Meshes {
 public:
  Meshes(const MeshOptions& options, std::uint32_t segments) {
    MeshOptions own = options;
    for (std::uint32_t id = 0; id < options.executor_count; ++id) {
      if (id % options.executors_per_node == 0) {
        own.node_arrivals = std::make_shared<NodeArrivals>(options.executors_per_node);
      }
      own.self = ExecutorId{id};
      meshes_.push_back(ExecutorMesh::Prepare(own, segments).value());
      descriptors_.push_back(MeshDescriptor::Decode(meshes_.back()->descriptor().Encode()).value());
    }
  }

  void Connect() {
    for (const auto& mesh : meshes_) {
      const absl::Status status = mesh->Connect(descriptors_);
      ASSERT_TRUE(status.ok()) << status;
    }
    ASSERT_TRUE(Eventually([&] {
      bool connected = true;
      for (const auto& mesh : meshes_) connected = mesh->PollConnecting().value() == std::nullopt && connected;
      return connected;
    }));
  }

  std::size_t size() const { return meshes_.size(); }
  ExecutorMesh& operator[](std::size_t id) { return *meshes_[id]; }
  std::vector<MeshDescriptor>& descriptors() { return descriptors_; }

 private:
  std::vector<std::unique_ptr<ExecutorMesh>> meshes_;
  std::vector<MeshDescriptor> descriptors_;
};

}  // namespace glaive::rdma
