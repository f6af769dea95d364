#include "engine/executor/roles.h"

#include <cstdint>
#include <optional>

#include <gtest/gtest.h>

namespace glaive::engine {
namespace {

TEST(Roles, InSlashEachExecutorReadsAndLeads) {
  const Roles roles(3);
  EXPECT_FALSE(roles.partitions());
  EXPECT_EQ(roles.reader_count(), 3U);
  EXPECT_EQ(roles.leaders().count(), 3U);
  for (std::uint32_t executor = 0; executor < 3; ++executor) {
    EXPECT_TRUE(roles.Reads(ExecutorId{executor}));
    EXPECT_EQ(roles.ReaderOf(ExecutorId{executor}), executor);
    EXPECT_EQ(roles.reader(executor), ExecutorId{executor});
  }
}

TEST(Roles, InUpParTheFirstOfEachNodeReadAndTheOthersLead) {
  const Roles roles = Roles::Partitioned(/*executor_count=*/6, /*group=*/3, /*partitioners=*/2);
  EXPECT_TRUE(roles.partitions());
  EXPECT_EQ(roles.reader_count(), 4U);
  const std::uint32_t readers[] = {0, 1, 3, 4};
  for (std::uint32_t number = 0; number < 4; ++number) {
    EXPECT_EQ(roles.reader(number), ExecutorId{readers[number]});
    EXPECT_TRUE(roles.Reads(ExecutorId{readers[number]}));
    EXPECT_EQ(roles.ReaderOf(ExecutorId{readers[number]}), number);
    EXPECT_FALSE(roles.leaders().Leads(ExecutorId{readers[number]}));
    EXPECT_EQ(roles.FlowOf(ExecutorId{readers[number]}), number);
  }
  for (const std::uint32_t leader : {2U, 5U}) {
    EXPECT_FALSE(roles.Reads(ExecutorId{leader}));
    EXPECT_TRUE(roles.leaders().Leads(ExecutorId{leader}));
  }
}

TEST(Roles, WhereExecutorsAreFedTheFirstHalfOfEachGroupReadsForTheSecond) {
  const Roles roles = Roles::Fed(/*executor_count=*/8, /*group=*/4);
  EXPECT_TRUE(roles.feeds());
  EXPECT_FALSE(roles.partitions());
  EXPECT_FALSE(Roles(8).feeds());
  EXPECT_EQ(roles.reader_count(), 4U);
  const std::uint32_t feeders[] = {0, 1, 4, 5};
  const std::uint32_t consumers[] = {2, 3, 6, 7};
  for (std::uint32_t number = 0; number < 4; ++number) {
    const ExecutorId feeder{feeders[number]};
    const ExecutorId consumer{consumers[number]};
    EXPECT_TRUE(roles.Reads(feeder));
    EXPECT_EQ(roles.ReaderOf(feeder), number);
    EXPECT_FALSE(roles.leaders().Leads(feeder));
    EXPECT_FALSE(roles.Reads(consumer));
    EXPECT_TRUE(roles.leaders().Leads(consumer));
    EXPECT_EQ(roles.FedBy(feeder), consumer);
    EXPECT_EQ(roles.FeederOf(consumer), feeder);
    EXPECT_EQ(roles.FlowOf(feeder), std::nullopt);
    EXPECT_EQ(roles.FlowOf(consumer), number);
  }
}

}  // namespace
}  // namespace glaive::engine
