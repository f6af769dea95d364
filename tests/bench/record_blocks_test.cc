#include "bench/scaling/record_blocks.h"

#include <cstdint>
#include <span>

#include <gtest/gtest.h>

#include "engine/source/source.h"
#include "queries/common/generator.h"
#include "rdma/base/ids.h"
#include "rdma/base/steady_clock.h"

namespace glaive::bench {
namespace {

struct Numbered {
  std::uint64_t number;
  std::uint64_t executor;
};

struct TimeOf {
  std::int64_t operator()(const Numbered& record) const { return static_cast<std::int64_t>(record.number); }
};

class Numbers final : public queries::Generator<Numbered> {
 public:
  void Fill(std::uint32_t executor, std::uint64_t first, std::span<Numbered> records) const override {
    for (std::uint64_t i = 0; i < records.size(); ++i) records[i] = {.number = first + i, .executor = executor};
  }
};

// More records than a source takes over at once.
TEST(RecordBlocks, AreReadAsTheyWereGenerated) {
  constexpr std::uint64_t kRecords = 200'000;
  constexpr std::uint32_t kExecutors = 2;
  const auto blocks = RecordBlocks<Numbered, TimeOf>::Generate(Numbers(), kRecords, kExecutors);
  ASSERT_TRUE(blocks.ok()) << blocks.status();
  const auto events = (*blocks)->Source(/*repetitions=*/1, /*span_ms=*/kRecords);
  const SteadyClock clock;
  for (std::uint32_t executor = 0; executor < kExecutors; ++executor) {
    const auto source = events.open({.executor = ExecutorId{executor}, .executor_count = kExecutors, .clock = &clock});
    ASSERT_TRUE(source.ok()) << source.status();
    std::uint64_t read = 0;
    for (bool ended = false; !ended;) {
      const engine::SourceBatch<Numbered> batch = (*source)->Poll();
      for (const Numbered& record : batch.records) {
        ASSERT_EQ(record.number, read++);
        ASSERT_EQ(record.executor, executor);
      }
      ended = batch.ended;
    }
    EXPECT_EQ(read, kRecords);
  }
}

}  // namespace
}  // namespace glaive::bench
