#include "bench/write_order/order_check.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

namespace glaive::bench {
namespace {

std::uint8_t Load(const std::byte* address, std::memory_order order) {
  auto* const byte = reinterpret_cast<std::uint8_t*>(const_cast<std::byte*>(address));
  return std::atomic_ref<std::uint8_t>(*byte).load(order);
}

}  // namespace

bool HasArrived(std::span<const std::byte> message, std::uint8_t lap) {
  return Load(&message.back(), std::memory_order_acquire) == lap;
}

OrderFault CheckMessage(std::span<const std::byte> message, std::uint8_t lap) {
  OrderFault fault;
  for (std::size_t end = message.size(); end > 0;) {
    const std::size_t start = end > kLineBytes ? end - kLineBytes : 0;
    // The first and the last byte of a line: a line is not torn elsewhere by anything that moves words.
    const bool late = Load(&message[start], std::memory_order_relaxed) != lap ||
                      Load(&message[end - 1], std::memory_order_relaxed) != lap;
    if (late) {
      ++fault.late_lines;
      fault.farthest_bytes = message.size() - start;
    }
    end = start;
  }
  return fault;
}

bool BackwardsQueuePair::TryPostWrite(const rdma::WriteRequest& request) {
  auto* const remote = reinterpret_cast<std::byte*>(request.remote.address) + request.remote_offset;
  for (std::size_t end = request.length; end > 0;) {
    const std::size_t start = end > kLineBytes ? end - kLineBytes : 0;
    std::memcpy(remote + start, request.local + start, end - start);
    std::atomic_thread_fence(std::memory_order_release);
    if (end == request.length) std::this_thread::yield();
    end = start;
  }
  return true;
}

}  // namespace glaive::bench
