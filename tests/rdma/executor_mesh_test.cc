#include "rdma/mesh/executor_mesh.h"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "rdma/base/unique_fd.h"
#include "rdma/transport/arrival_queue.h"
#include "tests/rdma/channel_pair.h"
#include "tests/rdma/meshes.h"

namespace glaive::rdma {
namespace {

using ::testing::HasSubstr;

// Receives a message of each channel on which one has arrived.
absl::Status ReceiveArrivals(ExecutorMesh& mesh) {
  for (std::size_t left = mesh.arrivals(); left > 0; --left) {
    ChannelReceiver& receiver = mesh.NextArrival();
    const absl::StatusOr<std::optional<Message>> message = receiver.TryReceive();
    if (!message.ok()) return message.status();
    if (!*message) continue;
    if (!HasPattern((*message)->payload, (*message)->number)) return absl::DataLossError("wrong payload");
    receiver.Release();
  }
  return absl::OkStatus();
}

// One round over all peers: sends and receives what is possible. `done` says whether `messages` went both ways.
absl::Status ExchangeOnce(ExecutorMesh& mesh, std::uint64_t messages, bool& done) {
  const std::uint32_t executors = mesh.options().executor_count;
  const std::uint32_t self = Value(mesh.options().self);
  done = true;
  for (std::uint32_t step = 1; step < executors; ++step) {
    const ExecutorId peer{(self + step) % executors};
    ChannelSender& sender = mesh.sender(peer);
    const auto payload_bytes = static_cast<std::uint32_t>(sender.sent() * 13 % 449);
    if (sender.sent() < messages) SendPattern(mesh.segments(), sender, payload_bytes);
    done = done && sender.consumed() == messages && mesh.receiver(peer).received() == messages;
  }
  if (absl::Status status = ReceiveArrivals(mesh); !status.ok()) return status;
  done = mesh.FlushCredits() && done;
  mesh.Flush();
  return mesh.Poll();
}

// Exchanges `messages` with every peer. Whoever fails raises `failed`, on which all others give up too.
void ExchangeWithAllPeers(ExecutorMesh& mesh, std::uint64_t messages, std::atomic<bool>& failed) {
  for (bool done = false; !done && !failed;) {
    const absl::Status status = ExchangeOnce(mesh, messages, done);
    EXPECT_TRUE(status.ok()) << status;
    const absl::Status failure = mesh.PollFailure();
    EXPECT_TRUE(failure.ok()) << failure;
    if (!status.ok() || !failure.ok()) failed = true;
    if (!done) std::this_thread::yield();
  }
}

// The same in one thread per executor. Each polls until all have finished: see ExecutorMesh.
void ExchangeInThreads(Meshes& meshes, std::uint64_t messages) {
  std::atomic<bool> failed = false;
  std::atomic<std::size_t> finished = 0;
  std::vector<std::thread> threads;
  for (std::size_t id = 0; id < meshes.size(); ++id) {
    threads.emplace_back([&, id] {
      ExchangeWithAllPeers(meshes[id], messages, failed);
      ++finished;
      while (finished < meshes.size() && !failed) {
        if (!meshes[id].Poll().ok()) failed = true;
        std::this_thread::yield();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(failed);
}

TEST(ExecutorMesh, OfOneExecutorHasSegmentsAndNoRings) {
  Meshes meshes(MeshOf(1, 1), 3);
  meshes.Connect();
  EXPECT_EQ(meshes[0].ring_bytes(), 0U);
  EXPECT_EQ(meshes[0].segments().size(), 3U);
  EXPECT_EQ(meshes[0].regions().size(), 1U);
  EXPECT_TRUE(meshes[0].Poll().ok());
  EXPECT_TRUE(meshes[0].PollFailure().ok());
}

TEST(ExecutorMesh, SetUpFromOneThreadServesAllItsExecutors) {
  Meshes meshes(MeshOf(2, 6), 8);
  meshes.Connect();
  ExchangeInThreads(meshes, 300);
  for (std::size_t id = 0; id < meshes.size(); ++id) {
    EXPECT_TRUE(meshes[id].Poll().ok());
    EXPECT_EQ(meshes[id].segments().available(), 8U) << id;
  }
}

void ExchangeOverVerbs(Arrival arrival) {
  MeshOptions options = MeshOf(2, 6);
  options.same_host = TransportKind::kVerbs;
  options.device = OpenTestDevice();
  options.arrival = arrival;
  Meshes meshes(options, 8);
  meshes.Connect();
  constexpr std::uint64_t kMessages = 300;
  const ExpectDeviceTraffic traffic(6 * 4 * kMessages);
  ExchangeInThreads(meshes, kMessages);
  for (std::size_t id = 0; id < meshes.size(); ++id) {
    EXPECT_TRUE(meshes[id].Poll().ok());
    EXPECT_EQ(meshes[id].segments().available(), 8U) << id;
  }
}

TEST(ExecutorMeshOverVerbs, CarriesMessagesBetweenAllExecutorsOfThreeNodes) { ExchangeOverVerbs(Arrival::kChecksum); }

TEST(ExecutorMeshImmediatesOverVerbs, CarryMessagesBetweenAllExecutorsOfThreeNodes) {
  if (!OpenTestDevice()->info().has_immediates()) GTEST_SKIP() << "the device has no immediate values";
  ExchangeOverVerbs(Arrival::kImmediate);
}

TEST(ExecutorMesh, SetUpByEachExecutorsOwnThread) {
  constexpr std::uint32_t kExecutors = 4;
  std::array<MeshDescriptor, kExecutors> all;
  std::atomic<std::uint32_t> published = 0;
  std::atomic<std::uint32_t> finished = 0;
  std::atomic<bool> failed = false;
  std::vector<std::thread> threads;
  for (std::uint32_t id = 0; id < kExecutors; ++id) {
    threads.emplace_back([&, id] {
      MeshOptions options = MeshOf(2, kExecutors);
      options.self = ExecutorId{id};
      const std::unique_ptr<ExecutorMesh> mesh = ExecutorMesh::Prepare(options, 6).value();
      all[id] = mesh->descriptor();
      ++published;
      while (published < kExecutors) std::this_thread::yield();
      const absl::Status status = mesh->Connect(all);
      EXPECT_TRUE(status.ok()) << status;
      if (!status.ok()) failed = true;
      ExchangeWithAllPeers(*mesh, 50, failed);
      ++finished;
      while (finished < kExecutors) std::this_thread::yield();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(failed);
}

TEST(ExecutorMesh, UsesOneTransportForAllWhenTold) {
  MeshOptions options = MeshOf(2, 4);
  options.same_node = TransportKind::kShm;
  Meshes meshes(options, 8);
  meshes.Connect();
  ASSERT_EQ(meshes[0].descriptor().exposures.size(), 1U);
  EXPECT_EQ(meshes[0].regions()[1].what, "rings over shm");
  ExchangeInThreads(meshes, 100);
}

// One line of text over a socket.
void SendLine(int socket, std::string line) {
  line += '\n';
  ASSERT_EQ(write(socket, line.data(), line.size()), static_cast<ssize_t>(line.size()));
}
std::string ReadLine(int socket) {
  std::string line;
  for (char c = 0; read(socket, &c, 1) == 1 && c != '\n';) line += c;
  return line;
}

// One of two nodes; returns what its process would.
int RunNode(std::uint32_t id, int socket) {
  MeshOptions options = MeshOf(1, 2);
  options.self = ExecutorId{id};
  absl::StatusOr<std::unique_ptr<ExecutorMesh>> mesh = ExecutorMesh::Prepare(options, 4);
  if (!mesh.ok()) return 1;
  SendLine(socket, (*mesh)->descriptor().Encode());
  absl::StatusOr<MeshDescriptor> other = MeshDescriptor::Decode(ReadLine(socket));
  if (!other.ok()) return 2;
  const std::array<MeshDescriptor, 2> all{(*mesh)->descriptor(), *other};
  if (!(*mesh)->Connect(all).ok()) return 3;
  std::atomic<bool> failed = false;
  ExchangeWithAllPeers(**mesh, 2000, failed);
  if (failed) return 4;
  SendLine(socket, "done");
  return ReadLine(socket) == "done" ? 0 : 5;
}

TEST(ExecutorMesh, ConnectsTwoProcesses) {
  std::array<int, 2> sockets;
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets.data()), 0);
  const UniqueFd ours(sockets[0]);
  UniqueFd theirs(sockets[1]);
  const pid_t child = fork();
  if (child == 0) _exit(RunNode(1, theirs.get()));
  theirs.Reset();
  EXPECT_EQ(RunNode(0, ours.get()), 0);
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(ExecutorMesh, Of160ExecutorsFitsItsBudget) {
  MeshOptions options = MeshOf(10, 160);
  options.channel = {.slot_bytes = 65536, .credits = 8, .checksum_payload = false, .signal_interval = 0};
  options.ring_budget_bytes = std::uint64_t{256} << 20;
  options.self = ExecutorId{77};
  const std::unique_ptr<ExecutorMesh> mesh = ExecutorMesh::Prepare(options, 16).value();
  EXPECT_EQ(mesh->channel().credits, 2U);
  EXPECT_LE(mesh->ring_bytes(), options.ring_budget_bytes / 10);
  EXPECT_THAT(mesh->plan_note(), HasSubstr("--ring-budget=256MiB"));
  EXPECT_EQ(mesh->regions().size(), 3U);
}

TEST(ExecutorMesh, SaysWhatIsWrongWithItsBudget) {
  MeshOptions options = MeshOf(2, 4);
  options.ring_budget_bytes = 1000;
  EXPECT_THAT(ExecutorMesh::Prepare(options, 1).status().message(), HasSubstr("--ring-budget"));
}

TEST(ExecutorMesh, RefusesDescriptorsThatDoNotMatchAndNamesTheExecutor) {
  const auto error = [](auto change) {
    Meshes meshes(MeshOf(1, 3), 1);
    change(meshes.descriptors());
    return std::string(meshes[0].Connect(meshes.descriptors()).message());
  };
  using All = std::vector<MeshDescriptor>;
  EXPECT_THAT(error([](All& all) { all.pop_back(); }), HasSubstr("executor 2: no mesh descriptor"));
  EXPECT_THAT(error([](All& all) { all[2] = all[1]; }), HasSubstr("executor 1: two mesh descriptors"));
  EXPECT_THAT(error([](All& all) { all[1].executor = ExecutorId{9}; }), HasSubstr("executor 9: the run has 3"));
  EXPECT_THAT(error([](All& all) { all[1].credits = 5; }), HasSubstr("executor 1: rings of 5 x 512 bytes, expected 4"));
  EXPECT_THAT(error([](All& all) { all[1].exposures.clear(); }), HasSubstr("executor 1: no memory over transport shm"));
  EXPECT_THAT(error([](All& all) { all[1].exposures[0].arrival = Arrival::kChecksum; }),
              HasSubstr("executor 1: messages arrive by poll there, and by imm here: give all nodes the same"));
  EXPECT_THAT(error([](All& all) { all[2].exposures[0].region.size_bytes = 64; }), HasSubstr("bytes, expected 64"));
  EXPECT_THAT(error([](All& all) { all[2].exposures[0].region.key = 9999; }),
              HasSubstr("executor 2: transport shm: cannot open"));
}

TEST(ExecutorMesh, RefusesARegionThatIsSmallerThanItsRings) {
  Meshes meshes(MeshOf(3, 3), 1);
  meshes.descriptors()[2].exposures[0].region.size_bytes = ArrivalQueue::BytesFor(2 * 2 * 4) + 64;
  EXPECT_THAT(meshes[0].Connect(meshes.descriptors()).message(),
              HasSubstr("executor 2: a region of 64 bytes over transport local, expected at least 8192"));
}

TEST(ExecutorMesh, RefusesMessagesOfAnotherRun) {
  std::vector<std::unique_ptr<ExecutorMesh>> meshes;
  std::vector<MeshDescriptor> all;
  for (std::uint32_t id = 0; id < 2; ++id) {
    MeshOptions options = MeshOf(1, 2);
    options.self = ExecutorId{id};
    options.run_key = {static_cast<std::uint8_t>(id)};
    meshes.push_back(ExecutorMesh::Prepare(options, 1).value());
    all.push_back(meshes.back()->descriptor());
  }
  for (const auto& mesh : meshes) ASSERT_TRUE(mesh->Connect(all).ok());
  ASSERT_TRUE(SendPattern(meshes[0]->segments(), meshes[0]->sender(ExecutorId{1}), 8));
  ASSERT_TRUE(meshes[1]->Poll().ok());
  EXPECT_THAT(meshes[1]->receiver(ExecutorId{0}).TryReceive().status().message(), HasSubstr("ring token"));
}

TEST(ExecutorMesh, SlotsThatItHalvesItselfAreThoseOfItsSegments) {
  MeshOptions options = MeshOf(2, 2);
  options.channel.slot_bytes = 8192;
  options.ring_budget_bytes = 2 * 2 * 4096;
  Meshes meshes(options, 2);
  meshes.Connect();
  EXPECT_EQ(meshes[0].channel().slot_bytes, 4096U);
  ASSERT_TRUE(SendPattern(meshes[0].segments(), meshes[0].sender(ExecutorId{1}), 4000));
}

TEST(ExecutorMesh, SegmentsComeBackWithThePollAfterASend) {
  Meshes meshes(MeshOf(2, 2), 1);
  meshes.Connect();
  ASSERT_TRUE(SendPattern(meshes[0].segments(), meshes[0].sender(ExecutorId{1}), 8));
  EXPECT_EQ(meshes[0].segments().available(), 0U);
  EXPECT_FALSE(SendPattern(meshes[0].segments(), meshes[0].sender(ExecutorId{1}), 8));
  ASSERT_TRUE(meshes[0].Poll().ok());
  EXPECT_EQ(meshes[0].segments().available(), 1U);
}

TEST(ExecutorMeshDeathTest, HasNoChannelsBeforeItIsConnected) {
  Meshes meshes(MeshOf(2, 2), 1);
  EXPECT_DEATH(meshes[0].sender(ExecutorId{1}), "executor 0 is not connected");
}

TEST(ExecutorMeshDeathTest, HasNoChannelWithItself) {
  Meshes meshes(MeshOf(2, 2), 1);
  meshes.Connect();
  EXPECT_DEATH(meshes[0].sender(ExecutorId{0}), "executor 0 has no channel with executor 0 of 2");
  EXPECT_DEATH(meshes[0].receiver(ExecutorId{2}), "executor 0 has no channel with executor 2 of 2");
}

}  // namespace
}  // namespace glaive::rdma
