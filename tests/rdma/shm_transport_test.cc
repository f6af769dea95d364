#include "rdma/transport/shm_transport.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
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

UniqueFd MakeMemoryFile() {
  UniqueFd file(memfd_create("test", MFD_ALLOW_SEALING));
  EXPECT_EQ(ftruncate(file.get(), 4096), 0);
  EXPECT_EQ(fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
  return file;
}

RegionDescriptor DescriptorOf(int fd, pid_t process) {
  struct stat facts{};
  EXPECT_EQ(fstat(fd, &facts), 0);
  return {.owner = static_cast<std::uint64_t>(process),
          .key = static_cast<std::uint64_t>(fd),
          .address = facts.st_ino,
          .size_bytes = 4096};
}

// A process of user 65534 with a memory file, which is that user's or root's.
class OtherUsersChild {
 public:
  explicit OtherUsersChild(bool file_is_theirs) : file_(MakeMemoryFile()) {
    if (file_is_theirs) EXPECT_EQ(fchown(file_.get(), 65534, 65534), 0);
    int ready[2];
    EXPECT_EQ(pipe(ready), 0);
    pid_ = fork();
    if (pid_ == 0) {
      const bool changed = setresuid(65534, 65534, 65534) == 0 && prctl(PR_SET_DUMPABLE, 1) == 0;
      (void)!write(ready[1], changed ? "y" : "n", 1);
      for (;;) pause();
    }
    char answer = 0;
    EXPECT_EQ(read(ready[0], &answer, 1), 1);
    EXPECT_EQ(answer, 'y');
    close(ready[0]);
    close(ready[1]);
  }
  ~OtherUsersChild() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

  RegionDescriptor descriptor() const { return DescriptorOf(file_.get(), pid_); }

 private:
  UniqueFd file_;
  pid_t pid_ = 0;
};

std::uint64_t PidOfADeadProcess() {
  const pid_t pid = fork();
  if (pid == 0) _exit(0);
  waitpid(pid, nullptr, 0);
  return static_cast<std::uint64_t>(pid);
}

TEST(ShmTransport, LetsAPeerWriteIntoExposedMemory) {
  ShmTransport owner({.queue_depth = 1});
  ShmTransport peer({.queue_depth = 1});
  const ExposedRegion exposed = owner.Expose(4096).value();
  const RemoteRegion remote = peer.Attach(exposed.descriptor).value();
  EXPECT_EQ(remote.size_bytes, exposed.memory.size());
  std::memcpy(reinterpret_cast<void*>(remote.address), "hello", 5);
  EXPECT_EQ(std::memcmp(exposed.memory.data(), "hello", 5), 0);
}

TEST(ShmTransport, LetsAnotherProcessWriteIntoExposedMemory) {
  ShmTransport owner({.queue_depth = 1});
  const ExposedRegion exposed = owner.Expose(4096).value();
  const pid_t child = fork();
  if (child == 0) {
    ShmTransport peer({.queue_depth = 1});
    absl::StatusOr<RemoteRegion> remote = peer.Attach(exposed.descriptor);
    absl::StatusOr<QueuePair*> queue_pair = peer.Connect(ExecutorId{0}, owner.endpoint());
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
  ShmTransport transport({.queue_depth = 1});
  RegionDescriptor descriptor = transport.Expose(4096).value().descriptor;
  descriptor.owner = PidOfADeadProcess();
  const absl::Status status = transport.Attach(descriptor).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound) << status;
  EXPECT_THAT(status.message(), HasSubstr("be alive"));
}

TEST(ShmTransport, RefusesAClosedDescriptor) {
  ShmTransport transport({.queue_depth = 1});
  RegionDescriptor descriptor = transport.Expose(4096).value().descriptor;
  descriptor.key = 99999;
  EXPECT_EQ(transport.Attach(descriptor).status().code(), absl::StatusCode::kNotFound);
}

TEST(ShmTransport, RefusesAFileThatIsNoSealedMemory) {
  ShmTransport transport({.queue_depth = 1});
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
  ShmTransport transport({.queue_depth = 1});
  RegionDescriptor first = transport.Expose(4096).value().descriptor;
  const RegionDescriptor second = transport.Expose(4096).value().descriptor;
  first.key = second.key;
  EXPECT_THAT(transport.Attach(first).status().message(), HasSubstr("another memory file"));
}

TEST(ShmTransport, RefusesMemoryOfAnotherSizeThanDescribed) {
  ShmTransport transport({.queue_depth = 1});
  RegionDescriptor descriptor = transport.Expose(4096).value().descriptor;
  EXPECT_EQ(descriptor.size_bytes, 8192U) << "an arrival queue and what was asked for";
  descriptor.size_bytes = 16384;
  const absl::Status status = transport.Attach(descriptor).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("has 8192 bytes, expected 16384"));
}

TEST(ShmTransport, RefusesMemoryOfAnotherUser) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user, and open another user's memory";
  ShmTransport transport({.queue_depth = 1});
  {
    const OtherUsersChild child(/*file_is_theirs=*/true);
    const absl::Status status = transport.Attach(child.descriptor()).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied) << status;
    EXPECT_THAT(status.message(), HasSubstr("is of user 65534, but this process of user 0"));
  }
  const UniqueFd theirs = MakeMemoryFile();
  ASSERT_EQ(fchown(theirs.get(), 65534, 65534), 0);
  const absl::Status status = transport.Attach(DescriptorOf(theirs.get(), getpid())).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied) << "our process, their file: " << status;
  const OtherUsersChild child(/*file_is_theirs=*/false);
  EXPECT_EQ(transport.Attach(child.descriptor()).status().code(), absl::StatusCode::kPermissionDenied)
      << "their process, our file";
}

TEST(ShmTransport, RefusesToConnectToADeadProcess) {
  ShmTransport transport({.queue_depth = 1});
  const absl::Status status = transport.Connect(ExecutorId{3}, {.owner = PidOfADeadProcess()}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound) << status;
  EXPECT_THAT(status.message(), HasSubstr("node 3 is gone"));
}

TEST(ShmTransport, RefusesAProcessIdThatCannotBe) {
  ShmTransport transport({.queue_depth = 1});
  EXPECT_EQ(transport.Connect(ExecutorId{3}, {.owner = 0}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(transport.Connect(ExecutorId{3}, {.owner = ~std::uint64_t{0}}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(ShmTransport, ReportsAKilledPeerOnce) {
  ShmTransport transport({.queue_depth = 1});
  IdleChild survivor;
  IdleChild victim;
  ASSERT_TRUE(transport.Connect(ExecutorId{1}, {.owner = survivor.pid()}).ok());
  ASSERT_TRUE(transport.Connect(ExecutorId{2}, {.owner = victim.pid()}).ok());
  EXPECT_TRUE(transport.PollFailure().ok());
  victim.Kill();
  const absl::Status failure = transport.PollFailure();
  EXPECT_EQ(failure.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(failure.message(), AllOf(HasSubstr("node 2"), HasSubstr("was lost: it has ended")));
  EXPECT_TRUE(transport.PollFailure().ok());
}

TEST(ShmTransport, LeavesNothingBehindInTheFileSystem) {
  ShmTransport transport({.queue_depth = 1});
  const RegionDescriptor descriptor = transport.Expose(4096).value().descriptor;
  struct stat status{};
  ASSERT_EQ(fstat(static_cast<int>(descriptor.key), &status), 0);
  EXPECT_EQ(status.st_nlink, 0U);
}

}  // namespace
}  // namespace glaive::rdma
