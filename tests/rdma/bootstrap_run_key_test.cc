// The run's key and its tokens. The expected values are computed by Python's hmac module.

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <set>
#include <string>

#include "absl/strings/escaping.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "rdma/base/sanitizers.h"
#include "rdma/bootstrap/run_key.h"
#include "tests/rdma/bootstrap_cluster.h"

namespace glaive::rdma {
namespace {

TEST(RunKey, IsTheHmacOfTheRunsTokenUnderTheSecret) {
  const RunKey key = DeriveRunKey(SecretOf('s'), kRunToken);
  EXPECT_EQ(absl::BytesToHexString(std::string(AsText(key))),
            "42afbe6b3518cd808749c5de5a3a9711e6f7fdcb4a219fc84968ce69d461a4bd");
  EXPECT_EQ(ConnectToken(key, ExecutorId{3}, ExecutorId{9}), 0xaccf79d7394eac7dU);
  EXPECT_EQ(RingToken(key, ExecutorId{3}, ExecutorId{9}), 0xf89b8944U);
  EXPECT_EQ(absl::BytesToHexString(std::string(AsText(PartKey(key, 3)))),
            "0c4f4c537ca7a19f9e6ccb9c870527ee9b71db4c522da9ba0135ca4157fa4b8f");
}

TEST(RunKey, PartsOfARunHaveKeysOfTheirOwn) {
  std::set<RunKey> keys;
  for (const char secret : {'a', 'b'}) {
    const RunKey key = DeriveRunKey(SecretOf(secret), kRunToken);
    keys.insert(key);
    for (const std::uint32_t part : {0U, 1U, 255U, 256U}) keys.insert(PartKey(key, part));
  }
  EXPECT_EQ(keys.size(), 10U);
}

TEST(RunKey, TokensTellUsesRunsSecretsPairsAndDirectionsApart) {
  std::set<std::uint64_t> connect_tokens;
  std::set<std::uint32_t> ring_tokens;
  std::size_t made = 0;
  for (const char secret : {'a', 'b'}) {
    for (const std::uint64_t run : {1U, 2U}) {
      const RunKey key = DeriveRunKey(SecretOf(secret), run);
      for (std::uint32_t from = 0; from < 12; ++from) {
        for (std::uint32_t to = 0; to < 12; ++to) {
          connect_tokens.insert(ConnectToken(key, ExecutorId{from}, ExecutorId{to}));
          ring_tokens.insert(RingToken(key, ExecutorId{from}, ExecutorId{to}));
          ring_tokens.insert(static_cast<std::uint32_t>(ConnectToken(key, ExecutorId{from}, ExecutorId{to})));
          ++made;
        }
      }
    }
  }
  EXPECT_EQ(connect_tokens.size(), made);
  EXPECT_EQ(ring_tokens.size(), 2 * made) << "none is the start of another use's";
}

TEST(RunKey, EveryNodeDerivesTheSameFromSecretAndToken) {
  const SteadyClock clock;
  const Planes planes = StartCluster(3, clock);
  for (const auto& plane : planes) EXPECT_EQ(plane->run_key(), DeriveRunKey(SecretOf(), kRunToken));
}

/// Takes all memory that the heap still has, with no more to come from the system.
void ExhaustMemory() {
  const rlimit none{.rlim_cur = 0, .rlim_max = 0};
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &none), 0);
  for (std::size_t bytes = 1 << 20; bytes > 0; bytes /= 2) {
    while (std::malloc(bytes) != nullptr) {
    }
  }
}

TEST(RunKey, MemoryThatCannotBeHadIsNoDefect) {
  if (kAddressSanitizer || kThreadSanitizer) GTEST_SKIP() << "their heaps do not obey a limit";
  const RunKey key = DeriveRunKey(SecretOf('s'), kRunToken);
  const pid_t pid = ::fork();
  ASSERT_GE(pid, 0);
  if (pid == 0) {
    ExhaustMemory();
    int code = 1;
    try {
      (void)RingToken(key, ExecutorId{3}, ExecutorId{9});
    } catch (const std::bad_alloc&) {
      code = 0;
    }
    ::_exit(code);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
}

TEST(RunKey, ARunOfOneNodeHasOne) {
  const SteadyClock clock;
  const auto plane = ControlPlane::Alone(HelloOf(0, 1), kRunToken, Patience(), clock);
  ASSERT_TRUE(plane.ok()) << plane.status();
  EXPECT_EQ((*plane)->run_key(), DeriveRunKey(SecretOf(), kRunToken));
}

}  // namespace
}  // namespace glaive::rdma
