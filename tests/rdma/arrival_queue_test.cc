#include "rdma/transport/arrival_queue.h"

#include <array>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rdma/memory/page_region.h"

namespace glaive::rdma {
namespace {

using ::testing::HasSubstr;

std::vector<std::uint32_t> Polled(ArrivalQueue& queue, std::size_t most = 64) {
  std::vector<std::uint32_t> values(most);
  values.resize(queue.Poll(values).value());
  return values;
}

class ArrivalQueueTest : public ::testing::Test {
 protected:
  std::span<std::byte> Memory(std::uint32_t values) {
    memory_ = PageRegion::Map(ArrivalQueue::BytesFor(values)).value();
    return memory_.bytes();
  }
  PageRegion memory_;
};

TEST_F(ArrivalQueueTest, HandsOutValuesInOrderOverManyLaps) {
  ArrivalQueue reader = ArrivalQueue::Make(Memory(4), 4);
  ArrivalQueue writer = ArrivalQueue::Open(memory_.bytes()).value();
  EXPECT_THAT(Polled(reader), ::testing::IsEmpty());
  for (std::uint32_t value = 0; value < 100; value += 2) {
    writer.Push(value);
    writer.Push(~value);
    EXPECT_THAT(Polled(reader), ::testing::ElementsAre(value, ~value));
    EXPECT_THAT(Polled(reader), ::testing::IsEmpty());
  }
}

TEST_F(ArrivalQueueTest, HoldsAsManyValuesAsItWasMadeFor) {
  for (const std::uint32_t values : {1U, 2U, 5U, 1000U}) {
    ArrivalQueue queue = ArrivalQueue::Make(Memory(values), values);
    for (std::uint32_t value = 0; value < values; ++value) queue.Push(value);
    for (std::uint32_t value = 0; value < values; ++value) EXPECT_EQ(Polled(queue, 1).at(0), value);
  }
}

TEST_F(ArrivalQueueTest, NoticesAValueThatWasWrittenOver) {
  ArrivalQueue queue = ArrivalQueue::Make(Memory(4), 4);
  for (std::uint32_t value = 0; value < 5; ++value) queue.Push(value);
  std::array<std::uint32_t, 8> values;
  const absl::Status status = queue.Poll(values).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(status.message(), HasSubstr("value 1 was written over"));
}

TEST_F(ArrivalQueueTest, TakesWholePages) {
  EXPECT_EQ(ArrivalQueue::BytesFor(0), 4096U);
  EXPECT_EQ(ArrivalQueue::BytesFor(256), 4096U);  // 128 + 256 x 8
  EXPECT_EQ(ArrivalQueue::BytesFor(500), 8192U);  // 128 + 512 x 8
  EXPECT_EQ(ArrivalQueue::Make(Memory(500), 500).size_bytes(), 8192U);
}

TEST_F(ArrivalQueueTest, IsNotOpenedWhereNoneIs) {
  const auto error = [this](std::uint64_t capacity, std::size_t size_bytes) {
    const std::span<std::byte> memory = Memory(4);
    std::memcpy(memory.data() + 64, &capacity, sizeof(capacity));
    return std::string(ArrivalQueue::Open(memory.first(size_bytes)).status().message());
  };
  EXPECT_EQ(error(4, 4096), "");
  EXPECT_THAT(error(0, 4096), HasSubstr("no arrival queue; its capacity is 0"));
  EXPECT_THAT(error(3, 4096), HasSubstr("capacity is 3"));
  EXPECT_THAT(error(512, 4096), HasSubstr("capacity is 512"));
  EXPECT_THAT(error(std::uint64_t{1} << 63, 4096), HasSubstr("no arrival queue"));
  EXPECT_THAT(error(4, 4095), HasSubstr("a region of 4095 bytes"));
}

// Each writer has a credit for one value in four. Beside a value lies memory that it announces.
TEST_F(ArrivalQueueTest, LosesNothingOfSeveralWriters) {
  constexpr std::uint32_t kWriters = 3;
  constexpr std::uint32_t kValues = 20'000;
  constexpr std::uint32_t kCredits = 4;
  ArrivalQueue reader = ArrivalQueue::Make(Memory(kWriters * kCredits), kWriters * kCredits);
  std::array<std::array<std::uint32_t, kCredits>, kWriters> announced{};
  std::array<std::atomic<std::uint32_t>, kWriters> consumed{};
  std::vector<std::thread> writers;
  for (std::uint32_t writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([&, writer, queue = ArrivalQueue::Open(memory_.bytes()).value()]() mutable {
      for (std::uint32_t value = 0; value < kValues; ++value) {
        while (value - consumed[writer].load(std::memory_order_acquire) == kCredits) std::this_thread::yield();
        announced[writer][value % kCredits] = value;
        queue.Push(writer << 24 | value);
      }
    });
  }
  std::array<std::uint32_t, kWriters> next{};
  std::array<std::uint32_t, 5> values;
  for (std::uint32_t left = kWriters * kValues; left > 0;) {
    const std::size_t count = reader.Poll(values).value();
    if (count == 0) std::this_thread::yield();
    for (const std::uint32_t value : std::span(values).first(count)) {
      const std::uint32_t writer = value >> 24;
      ASSERT_EQ(value & 0xffffff, next[writer]++);
      ASSERT_EQ(announced[writer][(value & 0xffffff) % kCredits], value & 0xffffff);
      consumed[writer].store(next[writer], std::memory_order_release);
      --left;
    }
  }
  for (std::thread& writer : writers) writer.join();
}

}  // namespace
}  // namespace glaive::rdma
