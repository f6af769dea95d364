// --verify, from the command line to the exit code: a program whose check disagrees with its results gets them neither
// committed nor called right, at any node. The nodes are threads of this process, each with a RunProgram of its own.

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <new>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/api/stream.h"
#include "engine/cluster/run_program.h"
#include "engine/sink/all_of.h"
#include "engine/sink/csv.h"
#include "engine/source/block_source.h"
#include "rdma/base/steady_clock.h"
#include "rdma/bootstrap/listener.h"
#include "rdma/bootstrap/secret.h"
#include "tests/engine/temporary_folder.h"

namespace glaive::engine {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;

struct KeyedTick {
  std::uint64_t key;
  std::int64_t time_ms;
};

/// What the check of one node says.
struct Opinion {
  absl::Status of_node = {};
  absl::Status of_run = {};
  bool runs_out_of_memory = false;  // the node, behind the naming of its files
};

using TickCount = WindowResult<std::uint64_t, std::uint64_t>;

/// A sink for whose Commit there is no memory.
class NoMemory {
 public:
  template <typename Row>
  SinkFactory<Row> Factory() const {
    return [](const SinkContext&) -> absl::StatusOr<std::unique_ptr<Sink<Row>>> {
      return std::make_unique<NoMemorySink<Row>>();
    };
  }

 private:
  template <typename Row>
  class NoMemorySink final : public Sink<Row> {
   public:
    absl::Status Write(std::span<const Row>) override { return absl::OkStatus(); }
    absl::Status Commit() override { throw std::bad_alloc(); }
  };
};

/// Counts ticks, and checks nothing: its verdict is planted.
class PlantedProgram final : public QueryProgram, public RunCheck {
 public:
  explicit PlantedProgram(const Opinion& opinion) : opinion_(opinion) {}

  std::string name() const override { return "planted"; }
  absl::StatusOr<std::unique_ptr<Query>> Build(const EngineOptions& options, std::uint32_t, FileClaims&,
                                               const Watch&) override {
    const auto time_ms = [](const KeyedTick& tick) { return tick.time_ms; };
    const auto open = [time_ms](const SourceContext& context) {
      const auto generate = [](std::uint64_t first, std::span<KeyedTick> ticks) {
        for (std::size_t i = 0; i < ticks.size(); ++i) {
          ticks[i] = {.key = i % 10, .time_ms = static_cast<std::int64_t>(first + i)};
        }
      };
      return BlockSource<KeyedTick, decltype(time_ms)>::Create(
          {.block_records = 1'000, .total_records = 1'000, .span_ms = 1}, *context.clock, generate, time_ms);
    };
    return From(SourceSpec<KeyedTick, decltype(time_ms)>{.open = open, .event_time_ms = time_ms})
        .KeyBy(&KeyedTick::key)
        .Window(Tumbling{absl::Milliseconds(100)})
        .Aggregate(Count{})
        .To(engine::AllOf<TickCount>(SinksFor(options.output.output)));
  }
  RunCheck* check() override { return this; }
  std::uint64_t verify_memory_bytes(std::uint32_t) const override { return 0; }
  absl::StatusOr<std::string> CheckNode(const RunFacts&, const Watch&) override {
    return opinion_.of_node.ok() ? absl::StatusOr<std::string>("fine") : opinion_.of_node;
  }
  absl::Status CheckRun(std::span<const std::string>) override { return opinion_.of_run; }

 private:
  std::vector<SinkFactory<TickCount>> SinksFor(const std::string& path) const {
    std::vector<SinkFactory<TickCount>> sinks = {Csv{path}.Factory<TickCount>()};
    if (opinion_.runs_out_of_memory) {
      sinks.push_back(NoMemory().Factory<TickCount>());
    }
    return sinks;
  }

  Opinion opinion_;
};

class VerificationTest : public ::testing::Test {
 protected:
  /// Runs as many nodes as there are opinions; their exit codes.
  std::vector<int> Run(const std::vector<Opinion>& opinions) {
    const std::string address = rdma::Listener::Bind("127.0.0.1", 0)->address();  // free again at once
    std::vector<int> codes(opinions.size());
    std::vector<std::thread> nodes;
    const std::string secret = SecretFile();
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    for (std::size_t rank = 0; rank < opinions.size(); ++rank) {
      nodes.emplace_back([&, rank] {
        const std::vector<std::string> words = {"planted",
                                                absl::StrCat("--nodes=", opinions.size()),
                                                absl::StrCat("--rank=", rank),
                                                "--coordinator=" + address,
                                                "--secret-file=" + secret,
                                                "--verify",
                                                "--output=" + (folder_.path() / "counts.csv").string(),
                                                "--json=" + (folder_.path() / "report.json").string()};
        std::vector<const char*> argv;
        for (const std::string& word : words) {
          argv.push_back(word.c_str());
        }
        const SteadyClock clock;
        PlantedProgram program(opinions[rank]);
        const RandomBytes random = [](std::span<std::uint8_t> out) {
          std::random_device entropy;
          std::generate(out.begin(), out.end(), [&] { return static_cast<std::uint8_t>(entropy()); });
        };
        codes[rank] = RunProgram(static_cast<int>(argv.size()), argv.data(), program,
                                 {.clock = &clock, .run_token = 1, .random = random});
      });
    }
    for (std::thread& node : nodes) {
      node.join();
    }
    table_ = ::testing::internal::GetCapturedStdout();
    complaints_ = ::testing::internal::GetCapturedStderr();
    return codes;
  }

  std::vector<std::string> Files() const { return folder_.Files(); }
  std::string Report() const {
    std::ifstream file(folder_.path() / "report.json");
    return {std::istreambuf_iterator<char>(file), {}};
  }

  /// A file with a secret that only its owner may read.
  std::string SecretFile() const {
    const std::filesystem::path path = secrets_.path() / "run.secret";
    if (!std::filesystem::exists(path)) {
      std::ofstream(path) << std::string(rdma::kMinSecretCharacters, 's') << "\n";
      std::filesystem::permissions(path, std::filesystem::perms::owner_read);
    }
    return path.string();
  }

  TemporaryFolder folder_;
  TemporaryFolder secrets_;
  std::string table_;
  std::string complaints_;
};

constexpr int kWrong = static_cast<int>(ExitCode::kWrongResult);

TEST_F(VerificationTest, AResultThatEverybodyFindsRightIsCommitted) {
  EXPECT_THAT(Run({{}, {}}), Each(0)) << complaints_;
  EXPECT_EQ(Files(),
            (std::vector<std::string>{"counts.csv.part-000-of-002", "counts.csv.part-001-of-002", "report.json"}));
  EXPECT_THAT(Report(), HasSubstr(R"("verification":"passed")"));
}

TEST_F(VerificationTest, AResultThatOneNodeFindsWrongIsCommittedByNone) {
  EXPECT_THAT(Run({{}, {.of_node = absl::DataLossError("window 100 key 7 is planted")}}), Each(kWrong)) << complaints_;
  EXPECT_EQ(Files(), std::vector<std::string>{"report.json"});
  EXPECT_THAT(Report(), HasSubstr(R"("verification":"failed")"));
  EXPECT_THAT(table_, HasSubstr("FAILED"));
  EXPECT_THAT(complaints_, AllOf(HasSubstr("rank 0: wrong result at rank 1: window 100 key 7 is planted"),
                                 HasSubstr("rank 1: wrong result at rank 1: window 100 key 7 is planted")));
}

TEST_F(VerificationTest, AResultThatIsWrongAsAWholeIsCommittedByNone) {
  const Opinion opinion{.of_node = {}, .of_run = absl::DataLossError("a row is missing")};
  EXPECT_THAT(Run({opinion, opinion}), Each(kWrong)) << complaints_;
  EXPECT_EQ(Files(), std::vector<std::string>{"report.json"});
  EXPECT_THAT(Report(), HasSubstr(R"("verification":"failed")"));
}

TEST_F(VerificationTest, ACheckWithoutAVerdictIsAFailedRunAndNoWrongResult) {
  const Opinion opinion{.of_node = absl::ResourceExhaustedError("too many rows to check")};
  EXPECT_THAT(Run({{}, opinion}), Each(static_cast<int>(ExitCode::kFailed))) << complaints_;
  EXPECT_THAT(Files(), ::testing::IsEmpty());
  EXPECT_THAT(complaints_, AllOf(HasSubstr("too many rows to check"), Not(HasSubstr("wrong result"))));
}

TEST_F(VerificationTest, ResultsAreTakenBackWhereANodeRunsOutOfMemoryWhileItNamesThem) {
  EXPECT_THAT(Run({{}, {.runs_out_of_memory = true}}), Each(static_cast<int>(ExitCode::kFailed))) << complaints_;
  EXPECT_THAT(Files(), ::testing::IsEmpty());
  EXPECT_THAT(complaints_,
              AllOf(HasSubstr("rank 1: out of memory"), HasSubstr("rank 0: node 1 ended the run: out of memory"),
                    Not(HasSubstr("ended at once"))));
}

}  // namespace
}  // namespace glaive::engine
