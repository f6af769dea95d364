#include "rdma/transport/node_arrivals.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "rdma/transport/immediate.h"

namespace glaive::rdma {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::uint32_t kReceives = 8;
constexpr ExecutorId kFirst{4};  // of node 2, whose executors are 4 and 5
constexpr ExecutorId kSecond{5};
constexpr ExecutorId kWriter{1};  // of node 0; the device hands its values to executor 5

class NodeArrivalsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const ExecutorId executor : {kFirst, kSecond}) ASSERT_TRUE(arrivals_.Open(executor, kReceives).ok());
  }

  // What waits for an executor.
  std::vector<std::uint32_t> Poll(ExecutorId executor) {
    std::array<std::uint32_t, kReceives> values;
    const std::size_t count = arrivals_.Poll(executor, values).value();
    return {values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count)};
  }

  NodeArrivals arrivals_{2};
};

TEST_F(NodeArrivalsTest, AValueForTheReceiverComesBackInTheWritersName) {
  const auto own = arrivals_.Take(kSecond, kWriter, Immediate::OfMessage(kSecond, 7).Pack());
  EXPECT_EQ(own.value(), Immediate::OfMessage(kWriter, 7).Pack());
  EXPECT_THAT(Poll(kFirst), ElementsAre());
  EXPECT_THAT(Poll(kSecond), ElementsAre());
}

TEST_F(NodeArrivalsTest, ValuesForAnotherExecutorOfTheNodeReachItInOrder) {
  for (const std::uint32_t slot : {3U, 1U, 2U}) {
    const auto own = arrivals_.Take(kSecond, kWriter, Immediate::OfMessage(kFirst, slot).Pack());
    EXPECT_EQ(own.value(), std::nullopt);
  }
  EXPECT_EQ(arrivals_.Take(kSecond, kWriter, Immediate::OfCredit(kFirst, 4).Pack()).value(), std::nullopt);
  EXPECT_THAT(Poll(kSecond), ElementsAre());
  EXPECT_THAT(Poll(kFirst),
              ElementsAre(Immediate::OfMessage(kWriter, 3).Pack(), Immediate::OfMessage(kWriter, 1).Pack(),
                          Immediate::OfMessage(kWriter, 2).Pack(), Immediate::OfCredit(kWriter, 4).Pack()));
  EXPECT_THAT(Poll(kFirst), ElementsAre());
}

// A peer may write what it likes.
TEST_F(NodeArrivalsTest, RefusesValuesForExecutorsOfOtherNodes) {
  for (const std::uint32_t executor : {0U, 3U, 6U, Immediate::kMaxExecutors - 1}) {
    const auto own = arrivals_.Take(kSecond, kWriter, Immediate::OfMessage(ExecutorId{executor}, 0).Pack());
    EXPECT_THAT(own.status().message(), HasSubstr("which is of another node")) << executor;
  }
}

}  // namespace
}  // namespace glaive::rdma
