#include "rdma/transport/shm_transport.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "rdma/base/unique_fd.h"

namespace glaive::rdma {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// A child that does nothing until it is killed.
class IdleChild {
 public:
  IdleChild() : pid_(fork()) {
    if (pid_ == 0) {
      for (;;) pause();
    }
  }
  ~IdleChild() {
    Kill();
    waitpid(pid_, nullptr, 0);
  }

  std::uint64_t pid() const { return static_cast<std::uint64_t>(pid_); }
  // Returns when it is dead; it is not reaped yet.
  void Kill() {
    kill(pid_, SIGKILL);
    siginfo_t info{};
    waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT);
  }

 private:
  pid_t pid_;
};

std::uint64_t PidOfADeadProcess() {
  const pid_t pid = fork();
  if (pid == 0) _exit(0);
  waitpid(pid, nullptr, 0);
  return static_cast<std::uint64_t>(pid);
}

TEST(ShmTransport, LetsAPeerWriteIntoExposedMemory) {
  ShmTransport owner(1);
  ShmTransport peer(1);
  const ExposedRegion exposed = owner.Expose(4096).value();
  const RemoteRegion remote = peer.Attach(exposed.descriptor).value();
  EXPECT_EQ(remote.size_bytes, exposed.memory.size());
  std::memcpy(reinterpret_cast<void*>(remote.address), "hello", 5);
  EXPECT_EQ(std::memcmp(exposed.memory.data(), "hello", 5), 0);
}

TEST(ShmTransport, LetsAnotherProcessWriteIntoExposedMemory) {
  ShmTransport owner(1);
  const ExposedRegion exposed = owner.Expose(4096).value();
  const pid_t child = fork();
  if (child == 0) {
    ShmTransport peer(1);
    absl::StatusOr<RemoteRegion> remote = peer.Attach(exposed.descriptor);
    absl::StatusOr<QueuePair*> queue_pair = peer.Connect(NodeId{0}, owner.endpoint());
    if (!remote.ok() || !queue_pair.ok()) _exit(1);
    const std::array<std::byte, 4> bytes{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
    _exit((*queue_pair)->TryPostWrite({.local = bytes.data(), .length = 4, .remote = *remote, .remote_offset = 60})
              ? 0
              : 2);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(exposed.memory[63], std::byte{4});
}

TEST(ShmTransport, RefusesTheMemoryOfADeadProcess) {
  ShmTransport transport(1);
  RegionDescriptor descriptor = transport.Expose(4096).value().descriptor;
  descriptor.owner = PidOfADeadProcess();
  const absl::Status status = transport.Attach(descriptor).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound) << status;
  EXPECT_THAT(status.message(), HasSubstr("be alive"));
}

TEST(ShmTransport, RefusesAClosedDescriptor) {
  ShmTransport transport(1);
  RegionDescriptor descriptor = transport.Expose(4096).value().descriptor;
  descriptor.key = 99999;
  EXPECT_EQ(transport.Attach(descriptor).status().code(), absl::StatusCode::kNotFound);
}

TEST(ShmTransport, RefusesAFileThatIsNoSealedMemory) {
  ShmTransport transport(1);
  RegionDescriptor descriptor = transport.Expose(4096).value().descriptor;
  const UniqueFd device(open("/dev/null", O_RDWR));
  descriptor.key = static_cast<std::uint64_t>(device.get());
  EXPECT_THAT(transport.Attach(descriptor).status().message(), HasSubstr("not a memory file sealed"));
  const UniqueFd unsealed(memfd_create("unsealed", MFD_ALLOW_SEALING));
  ASSERT_EQ(ftruncate(unsealed.get(), 4096), 0);
  descriptor.key = static_cast<std::uint64_t>(unsealed.get());
  EXPECT_THAT(transport.Attach(descriptor).status().message(), HasSubstr("not a memory file sealed"));
}

TEST(ShmTransport, RefusesAnotherMemoryFileThanDescribed) {
  ShmTransport transport(1);
  RegionDescriptor first = transport.Expose(4096).value().descriptor;
  const RegionDescriptor second = transport.Expose(4096).value().descriptor;
  first.key = second.key;
  EXPECT_THAT(transport.Attach(first).status().message(), HasSubstr("another memory file"));
}

TEST(ShmTransport, RefusesMemoryOfAnotherSizeThanDescribed) {
  ShmTransport transport(1);
  RegionDescriptor descriptor = transport.Expose(4096).value().descriptor;
  descriptor.size_bytes = 8192;
  const absl::Status status = transport.Attach(descriptor).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("has 4096 bytes, expected 8192"));
}

TEST(ShmTransport, RefusesToConnectToADeadProcess) {
  ShmTransport transport(1);
  const absl::Status status = transport.Connect(NodeId{3}, {.owner = PidOfADeadProcess()}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound) << status;
  EXPECT_THAT(status.message(), HasSubstr("node 3 is gone"));
}

TEST(ShmTransport, RefusesAProcessIdThatCannotBe) {
  ShmTransport transport(1);
  EXPECT_EQ(transport.Connect(NodeId{3}, {.owner = 0}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(transport.Connect(NodeId{3}, {.owner = ~std::uint64_t{0}}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(ShmTransport, ReportsAKilledPeerOnce) {
  ShmTransport transport(1);
  IdleChild survivor;
  IdleChild victim;
  ASSERT_TRUE(transport.Connect(NodeId{1}, {.owner = survivor.pid()}).ok());
  ASSERT_TRUE(transport.Connect(NodeId{2}, {.owner = victim.pid()}).ok());
  EXPECT_TRUE(transport.PollFailure().ok());
  victim.Kill();
  const absl::Status failure = transport.PollFailure();
  EXPECT_EQ(failure.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(failure.message(), AllOf(HasSubstr("node 2"), HasSubstr("was lost: it has ended")));
  EXPECT_TRUE(transport.PollFailure().ok());
}

TEST(ShmTransport, LeavesNothingBehindInTheFileSystem) {
  ShmTransport transport(1);
  const RegionDescriptor descriptor = transport.Expose(4096).value().descriptor;
  struct stat status{};
  ASSERT_EQ(fstat(static_cast<int>(descriptor.key), &status), 0);
  EXPECT_EQ(status.st_nlink, 0U);
}

}  // namespace
}  // namespace glaive::rdma
