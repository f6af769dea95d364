#include "bench/write_order/order_run.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "bench/common/spin.h"
#include "bench/write_order/order_failure.h"
#include "rdma/memory/page_region.h"

namespace glaive::bench {
namespace {

using std::chrono::steady_clock;

// After so long without a message the reader repeats its words.
constexpr std::chrono::milliseconds kIdle(10);

// One link as the writer sees it.
class Writer {
 public:
  explicit Writer(OrderLink& link)
      : link_(link), source_(OrFail(rdma::PageRegion::Map(kOrderRingBytes))), key_(link.Register(source_.bytes())) {}

  bool IsOver(std::size_t size_index) const { return over_ > size_index; }

  // Whether there was something to do. A message may go into a slot when the one before was checked.
  bool TakeTurn(std::size_t size_index) {
    link_.Poll();
    if (link_.Word(kStop) > size_index) {
      link_.WriteWord(static_cast<std::uint32_t>(size_index), written_ + 1);
      over_ = size_index + 1;
      return true;
    }
    checked_ = std::max(checked_, link_.Word(kChecked));
    if (written_ >= checked_ + kOrderSlots) return false;
    const std::uint32_t size = kOrderSizes[size_index];
    const std::uint64_t offset = written_ % kOrderSlots * size;
    std::memset(source_.data() + offset, LapOfMessage(written_), size);
    if (!link_.TryWrite(source_.data() + offset, size, key_, offset)) return false;
    ++written_;
    return true;
  }

 private:
  OrderLink& link_;
  rdma::PageRegion source_;
  rdma::LocalKey key_;
  std::uint64_t written_ = 0;  // of all sizes
  std::uint64_t checked_ = 0;  // the greatest that was seen
  std::size_t over_ = 0;       // sizes
};

}  // namespace

void WriteAllSizes(rdma::ControlPlane& plane, OrderLinks& links) {
  std::vector<std::unique_ptr<Writer>> writers;
  for (const auto& link : links) writers.push_back(std::make_unique<Writer>(*link));
  for (std::size_t index = 0; index < kOrderSizes.size(); ++index) {
    OrFail(plane.AllGather("size", ""));
    SpinUntil(
        [&] {
          bool any = true;
          while (any) {
            any = false;
            for (const auto& writer : writers) any = (!writer->IsOver(index) && writer->TakeTurn(index)) || any;
          }
          return std::all_of(writers.begin(), writers.end(), [&](const auto& each) { return each->IsOver(index); });
        },
        kFabricSpins);
  }
}

OrderResult OrderReader::Read(std::size_t size_index, double seconds) {
  OrderResult result;
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    std::memset(links_[lane]->ring().data(), 0, std::size_t{kOrderSizes[size_index]} * kOrderSlots);
    lanes_[lane].done = false;
  }
  OrFail(plane_.AllGather("size", ""));
  const auto start = steady_clock::now();
  auto progress = start;
  bool stopped = false;
  SpinUntil(
      [&] {
        bool any = true;
        while (any) {
          any = false;
          for (std::size_t lane = 0; lane < lanes_.size(); ++lane) any = ReadOne(size_index, lane, result) || any;
          const auto now = steady_clock::now();
          if (any) progress = now;
          if (!stopped && std::chrono::duration<double>(now - start).count() > seconds) {
            for (const auto& link : links_) link->WriteWord(kStop, size_index + 1);
            stopped = true;
          }
          if (now - progress > kIdle) {
            TellChecked();
            progress = now;
          }
        }
        return std::all_of(lanes_.begin(), lanes_.end(), [](const Lane& lane) { return lane.done; });
      },
      kFabricSpins);
  return result;
}

// Whether there was a message.
bool OrderReader::ReadOne(std::size_t size_index, std::size_t lane_index, OrderResult& result) {
  Lane& lane = lanes_[lane_index];
  OrderLink& link = *links_[lane_index];
  if (lane.done) return false;
  const std::uint32_t size = kOrderSizes[size_index];
  const auto message = std::span<const std::byte>(link.ring()).subspan(lane.checked % kOrderSlots * size, size);
  const std::uint8_t lap = LapOfMessage(lane.checked);
  if (!HasArrived(message, lap)) {
    link.Poll();
    lane.done = link.Word(static_cast<std::uint32_t>(size_index)) == lane.checked + 1;
    return false;
  }
  const OrderFault fault = CheckMessage(message, lap);
  if (fault.late_lines > 0) {
    ++result.too_early;
    // Once it is complete the slot may be written again, or the next lap would be taken for this one.
    SpinUntil([&] { return CheckMessage(message, lap).late_lines == 0; }, kFabricSpins);
  }
  result.worst.late_lines = std::max(result.worst.late_lines, fault.late_lines);
  result.worst.farthest_bytes = std::max(result.worst.farthest_bytes, fault.farthest_bytes);
  ++result.messages;
  link.WriteWord(kChecked, ++lane.checked);
  return true;
}

void OrderReader::TellChecked() {
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) links_[lane]->WriteWord(kChecked, lanes_[lane].checked);
}

}  // namespace glaive::bench
