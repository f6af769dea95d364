#include "engine/cluster/cpu_claims.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace glaive::engine {
namespace {

using ::testing::ElementsAre;

// Numbers of processors that no machine has, so that runs beside this test have claimed none; each test its own.
constexpr int kFirst = 1'000'000;

TEST(CpuClaims, NobodyElseGetsAProcessorUntilItIsGivenBack) {
  const std::vector<int> cpus = {kFirst, kFirst + 1, kFirst + 2};
  CpuClaims first;
  EXPECT_THAT(*first.Take(cpus, 2), ElementsAre(kFirst, kFirst + 1));
  CpuClaims second;
  EXPECT_THAT(*second.Take(cpus, 1), ElementsAre(kFirst + 2));
  first.Release();
  EXPECT_THAT(*second.Take(cpus, 2), ElementsAre(kFirst, kFirst + 1));
}

TEST(CpuClaims, WhoCannotHaveAllGetsNoneAndKeepsNone) {
  const std::vector<int> cpus = {kFirst + 10, kFirst + 11};
  CpuClaims first;
  EXPECT_THAT(*first.Take(cpus, 1), ElementsAre(kFirst + 10));
  CpuClaims second;
  EXPECT_EQ(second.Take(cpus, 2).status().message(), "other runs have claimed processors of this host");
  CpuClaims third;
  EXPECT_THAT(*third.Take(cpus, 1), ElementsAre(kFirst + 11));
}

TEST(CpuClaims, HoldForAllProcessesOfTheHostAndEndWithTheirOwn) {
  const std::vector<int> cpus = {kFirst + 20};
  CpuClaims claims;
  const pid_t pid = ::fork();
  ASSERT_GE(pid, 0);
  if (pid == 0) {
    CpuClaims own;
    ::_exit(own.Take(cpus, 1).ok() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
  EXPECT_THAT(*claims.Take(cpus, 1), ElementsAre(kFirst + 20));
  const pid_t other = ::fork();
  ASSERT_GE(other, 0);
  if (other == 0) {
    CpuClaims own;
    ::_exit(absl::IsResourceExhausted(own.Take(cpus, 1).status()) ? 0 : 1);
  }
  ASSERT_EQ(::waitpid(other, &status, 0), other);
  EXPECT_EQ(status, 0);
}

TEST(CpuClaims, WhatTheSystemRefusesIsNotTakenForOtherRuns) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto cpus = CpuClaims().Take({kFirst + 30}, 1);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(cpus.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(cpus.status().message(),
            "processor 1000030 cannot be claimed: socket: Too many open files; raise ulimit -n");
}

}  // namespace
}  // namespace glaive::engine
