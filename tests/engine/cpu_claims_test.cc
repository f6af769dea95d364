#include "engine/cluster/cpu_claims.h"

#include <sys/wait.h>
#include <unistd.h>

#include <optional>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace glaive::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Numbers of processors that no machine has, so that runs beside this test have claimed none; each test its own.
constexpr int kFirst = 1'000'000;

TEST(CpuClaims, NobodyElseGetsAProcessorUntilItIsGivenBack) {
  const std::vector<int> cpus = {kFirst, kFirst + 1, kFirst + 2};
  std::optional<CpuClaims> first(std::in_place);
  EXPECT_THAT(first->Take(cpus, 2), ElementsAre(kFirst, kFirst + 1));
  CpuClaims second;
  EXPECT_THAT(second.Take(cpus, 1), ElementsAre(kFirst + 2));
  first.reset();
  EXPECT_THAT(second.Take(cpus, 2), ElementsAre(kFirst, kFirst + 1));
}

TEST(CpuClaims, WhoCannotHaveAllGetsNoneAndKeepsNone) {
  const std::vector<int> cpus = {kFirst + 10, kFirst + 11};
  CpuClaims first;
  EXPECT_THAT(first.Take(cpus, 1), ElementsAre(kFirst + 10));
  CpuClaims second;
  EXPECT_THAT(second.Take(cpus, 2), IsEmpty());
  CpuClaims third;
  EXPECT_THAT(third.Take(cpus, 1), ElementsAre(kFirst + 11));
}

TEST(CpuClaims, HoldForAllProcessesOfTheHostAndEndWithTheirOwn) {
  const std::vector<int> cpus = {kFirst + 20};
  CpuClaims claims;
  const pid_t pid = ::fork();
  ASSERT_GE(pid, 0);
  if (pid == 0) {
    CpuClaims own;
    ::_exit(own.Take(cpus, 1).size() == 1 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
  EXPECT_THAT(claims.Take(cpus, 1), ElementsAre(kFirst + 20));
  const pid_t other = ::fork();
  ASSERT_GE(other, 0);
  if (other == 0) {
    CpuClaims own;
    ::_exit(own.Take(cpus, 1).empty() ? 0 : 1);
  }
  ASSERT_EQ(::waitpid(other, &status, 0), other);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace glaive::engine
