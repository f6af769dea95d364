// Two transports of one kind in this process, nodes 0 and 1 of a run, and a wait for what they do by themselves.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>

#include "gtest/gtest.h"

#include "rdma/transport/node_arrivals.h"
#include "rdma/transport/transport.h"
#include "tests/rdma/test_device.h"

namespace glaive::rdma {

/// Of the queue pairs of transports in tests, where nothing else is asked for.
inline constexpr std::uint32_t kQueueDepth = 32;

/// Calls `condition` again and again until it holds; false after 20 s.
template <typename Condition>
bool Eventually(const Condition& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

inline std::unique_ptr<Transport> MakeTestTransport(TransportKind kind, std::uint32_t node, std::uint32_t queue_depth,
                                                    Arrival arrival = Arrival::kChecksum, const RunKey& run_key = {7},
                                                    const ConnectionSettings& connections = {}) {
  return MakeTransport(kind, {.executor = ExecutorId{node},
                              .executor_count = 2,
                              .queue_pairs = 2,
                              .queue_depth = queue_depth,
                              .run_key = run_key,
                              .arrival = arrival,
                              .receives = queue_depth,
                              .node_arrivals = std::make_shared<NodeArrivals>(1),
                              .device = kind == TransportKind::kVerbs ? OpenTestDevice(connections) : nullptr})
      .value();
}

/// Sees two transports that were told to connect to each other through it.
inline void AwaitConnected(Transport& a, Transport& b) {
  const auto connected = [](Transport& transport) {
    const auto missing = transport.PollConnecting();
    EXPECT_TRUE(missing.ok()) << missing.status();
    return !missing.ok() || !missing->has_value();
  };
  ASSERT_TRUE(Eventually([&] {
    const bool first = connected(a);
    return connected(b) && first;
  }));
}

}  // namespace glaive::rdma
