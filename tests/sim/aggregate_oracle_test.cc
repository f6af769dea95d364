// The oracle's sums, means and variances are rounded once, and scenarios have weights for which that matters.

#include "tests/sim/aggregate_oracle.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/sim/scenario.h"

namespace glaive::sim {
namespace {

std::vector<Event> WithWeights(const std::vector<float>& weights) {
  std::vector<Event> events;
  for (const float weight : weights) events.push_back({.weight = weight});
  return events;
}
std::vector<Event> WithAmounts(const std::vector<std::int64_t>& amounts) {
  std::vector<Event> events;
  for (const std::int64_t amount : amounts) events.push_back({.amount = amount});
  return events;
}

TEST(AggregateOracle, SumsAreRoundedOnce) {
  EXPECT_EQ(WeightOf(WithWeights({0x1p60F, 1, 0x1p-40F, -0x1p60F})), "1.0000000000009095");
  EXPECT_EQ(WeightOf(WithWeights({1.5F, -1.5F})), "0");
  EXPECT_EQ(WeightOf(WithWeights({-0.25F})), "-0.25");
  // 2^53 and 2^53 + 2 are doubles, 2^53 + 1 is between them, and the even one of the two is the former.
  EXPECT_EQ(WeightOf(WithWeights({0x1p53F, 1})), "9007199254740992");
  EXPECT_EQ(WeightOf(WithWeights({0x1p53F, 1, 0x1p-40F})), "9007199254740994");
  EXPECT_EQ(WeightOf(WithWeights({0x1p53F, 1, -0x1p-40F})), "9007199254740992");
  EXPECT_EQ(WeightOf(WithWeights({0x1p53F, 2, 1})), "9007199254740996");
  EXPECT_EQ(WeightOf(WithWeights({0x1p54F, -1})), "18014398509481984") << "half a unit below a power of 2, to the even";
  EXPECT_EQ(WeightOf(WithWeights({-0x1p53F, -1, -0x1p-40F})), "-9007199254740994");
}

TEST(AggregateOracle, MeansAndVariancesAreRoundedOnce) {
  EXPECT_EQ(MeanOf(WithWeights({1, 0, 0})), absl::StrFormat("%.17g", 1.0 / 3));
  EXPECT_EQ(MeanOf(WithWeights({-2, 0, 0})), absl::StrFormat("%.17g", -2.0 / 3));
  EXPECT_EQ(MeanOf(WithWeights({0x1p60F, 7, -0x1p60F})), absl::StrFormat("%.17g", 7.0 / 3));
  EXPECT_EQ(VarianceOf(WithWeights({1, 2, 3})), absl::StrFormat("%.17g", 2.0 / 3));
  EXPECT_EQ(VarianceOf(WithWeights({0x1p20F + 1, 0x1p20F + 2, 0x1p20F + 3})), absl::StrFormat("%.17g", 2.0 / 3));
  EXPECT_EQ(VarianceOf(WithWeights({0x1p60F})), "0");
  EXPECT_EQ(VarianceOf(WithWeights({0x1p60F, -0x1p60F})), absl::StrFormat("%.17g", 0x1p120));
  EXPECT_EQ(BigMeanOf(WithAmounts({1, 0, 0})), absl::StrFormat("%.17g", 0x1p53 / 3));
  EXPECT_EQ(BigVarianceOf(WithAmounts({1, 2, 3})), absl::StrFormat("%.17g", 0x1p106 * 2 / 3));
}

TEST(AggregateOracle, IntegersAreWhole) {
  EXPECT_EQ(BigSumOf(WithAmounts({1'000, 1'000, 1'000})), "27021597764222976000") << "beyond 64 bits";
  EXPECT_EQ(BigSumOf(WithAmounts({-1'000, -1'000, -1'000})), "-27021597764222976000");
  EXPECT_EQ(SumOf(WithAmounts({5, -7})), "-2");
}

double PlainSum(const std::vector<Event>& events) {
  double sum = 0;
  for (const Event& event : events) sum += double{event.weight};
  return sum;
}

/// Some events of a scenario, as a window of one key has them.
std::vector<std::vector<Event>> GroupsOf(const Scenario& scenario, std::size_t size) {
  const Input input = MakeInput(scenario, 1, /*may_be_silent=*/false);
  std::vector<std::vector<Event>> groups{{}};
  for (const Batch& batch : input.sources[0][0]) {
    for (const Event& event : batch.events) {
      if (groups.back().size() == size) groups.emplace_back();
      groups.back().push_back(event);
    }
  }
  return groups;
}

TEST(Input, APlainSumOfWeightsIsOftenWrongInAnyOrder) {
  Scenario scenario;
  scenario.records = 20'000;
  scenario.large_percent = 25;
  const std::vector<std::vector<Event>> groups = GroupsOf(scenario, 50);
  std::array<int, 4> wrong{};  // as they come, backward, the smallest first, the largest first
  int wrong_in_all = 0;
  for (std::vector<Event> events : groups) {
    const std::string exact = WeightOf(events);
    bool is_wrong_in_all = true;
    for (std::size_t order = 0; order < wrong.size(); ++order) {
      if (order % 2 == 1) std::ranges::reverse(events);
      if (order == 2) std::ranges::sort(events, {}, [](const Event& event) { return std::abs(event.weight); });
      const bool is_wrong = absl::StrFormat("%.17g", PlainSum(events)) != exact;
      wrong[order] += is_wrong ? 1 : 0;
      is_wrong_in_all = is_wrong_in_all && is_wrong;
    }
    wrong_in_all += is_wrong_in_all ? 1 : 0;
  }
  const int count = static_cast<int>(groups.size());
  EXPECT_THAT(wrong, ::testing::Each(::testing::Gt(count / 4)));
  EXPECT_GT(wrong_in_all, count / 10);
}

TEST(Input, SomeWeightsAreSumsThatADoubleHas) {
  Scenario scenario;
  scenario.records = 2'000;
  scenario.large_percent = 2;
  const std::vector<std::vector<Event>> groups = GroupsOf(scenario, 20);
  const auto right = std::ranges::count_if(
      groups, [](const auto& events) { return absl::StrFormat("%.17g", PlainSum(events)) == WeightOf(events); });
  EXPECT_GT(right, static_cast<int>(groups.size()) / 3) << "so that short forms of sums are tested";
}

}  // namespace
}  // namespace glaive::sim
