#include "engine/flags/engine_flags.h"

#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace glaive::engine {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

struct EngineProgram {
  EngineProgram() { RegisterEngineFlags(flags, options, {.has_check = true, .has_loop = true}); }

  std::optional<int> Run(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "prog");
    return flags.Parse(static_cast<int>(arguments.size()), arguments.data(), out, err);
  }

  EngineOptions options;
  FlagSet flags{{.program = "prog", .summary = "A program.", .version = "1", .commit = "abc"}};
  std::ostringstream out;
  std::ostringstream err;
};

std::string Complaint(std::vector<const char*> arguments) {
  EngineProgram program;
  EXPECT_EQ(program.Run(std::move(arguments)), 2);
  return program.err.str();
}

void ExpectAccepted(std::vector<const char*> arguments) {
  EngineProgram program;
  EXPECT_EQ(program.Run(std::move(arguments)), std::nullopt) << program.err.str();
}

TEST(EngineFlags, TheDefaultsGoTogether) {
  EXPECT_EQ(Validate(EngineOptions{}), absl::OkStatus());
  ExpectAccepted({});
}

TEST(EngineFlags, EveryFlagReachesItsOption) {
  EngineProgram program;
  EXPECT_EQ(program.Run({"--nodes=4",          "--executors=2",         "--rank=1",
                         "--coordinator=h:7",  "--bind=0.0.0.0:0",      "--join-timeout=5s",
                         "--transport=shm",    "--slot-bytes=256",      "--credits=2",
                         "--ring-budget=1MiB", "--memory-limit=2GiB",   "--fragment-bytes=64KiB",
                         "--epoch-bytes=1",    "--epoch-min-bytes=0",   "--epoch-interval=1ms",
                         "--max-lead=1h",      "--idle-timeout=5s",     "--output=o.csv",
                         "--join-output",      "--json=r.json",         "--verify",
                         "--progress=never",   "--prefault-state=1MiB", "--publish=end"}),
            std::nullopt)
      << program.err.str();
  const EngineOptions& options = program.options;
  EXPECT_EQ(options.cluster.nodes, 4U);
  EXPECT_EQ(options.cluster.executors, 2U);
  EXPECT_EQ(options.cluster.rank, 1U);
  EXPECT_EQ(options.cluster.coordinator, "h:7");
  EXPECT_EQ(options.cluster.bind, "0.0.0.0:0");
  EXPECT_EQ(options.cluster.join_timeout, absl::Seconds(5));
  EXPECT_EQ(options.cluster.transport, TransportChoice::kShm);
  EXPECT_EQ(options.channel.slot_bytes, 256U);
  EXPECT_EQ(options.channel.credits, 2U);
  EXPECT_EQ(options.channel.ring_budget_bytes, 1U << 20);
  EXPECT_EQ(options.state.memory_limit_bytes, std::uint64_t{2} << 30);
  EXPECT_EQ(options.state.prefault_bytes, std::uint64_t{1} << 20);
  EXPECT_EQ(options.state.fragment_bytes, 65536U);
  EXPECT_EQ(options.epoch.epoch_bytes, 1U);
  EXPECT_EQ(options.epoch.epoch_min_bytes, 0U);
  EXPECT_EQ(options.epoch.epoch_interval, absl::Milliseconds(1));
  EXPECT_EQ(options.epoch.max_lead, absl::Hours(1));
  EXPECT_EQ(options.epoch.idle_timeout, absl::Seconds(5));
  EXPECT_EQ(options.output.output, "o.csv");
  EXPECT_TRUE(options.output.join_output);
  EXPECT_EQ(options.output.publish, PublishChoice::kEnd);
  EXPECT_EQ(options.output.json, "r.json");
  EXPECT_TRUE(options.output.verify);
  EXPECT_EQ(options.output.progress, ProgressChoice::kNever);
}

TEST(EngineFlags, HelpListsEveryLayerWithItsDefaults) {
  EngineProgram program;
  EXPECT_EQ(program.Run({"--help"}), 0);
  EXPECT_THAT(program.out.str(),
              AllOf(HasSubstr("\nCluster:\n"), HasSubstr("\nChannel (rdma):\n"), HasSubstr("\nState:\n"),
                    HasSubstr("\nEpochs and progress (engine):\n"), HasSubstr("\nOutput:\n")));
  for (const auto& [name, value] : program.flags.AllSettings()) {
    EXPECT_THAT(program.out.str(), HasSubstr("--" + name)) << name;
    EXPECT_THAT(program.out.str(), HasSubstr("[default: " + (value.empty() ? "none" : value) + "]")) << name;
  }
}

TEST(EngineFlags, WhatEachRankDecidesForItselfIsNotShared) {
  EngineProgram program;
  EXPECT_EQ(program.Run({"--nodes=2", "--rank=1", "--coordinator=h:7"}), std::nullopt);
  const auto settings = program.flags.Settings();
  for (const char* name :
       {"rank", "coordinator", "bind", "device", "join-timeout", "memory-limit", "json", "progress"}) {
    EXPECT_FALSE(settings.contains(name)) << name;
  }
  for (const char* name :
       {"nodes", "executors", "slot-bytes", "credits", "ring-budget", "epoch-bytes", "max-lead", "verify", "output"}) {
    EXPECT_TRUE(settings.contains(name)) << name;
  }
}

TEST(EngineFlags, ZeroAndAbsurdSizesAreRefused) {
  for (const char* flag : {"--nodes=0", "--nodes=1025", "--executors=0", "--executors=257", "--credits=1",
                           "--credits=1025", "--slot-bytes=0", "--slot-bytes=255", "--slot-bytes=32MiB",
                           "--fragment-bytes=0", "--epoch-bytes=0", "--ring-budget=0", "--epoch-interval=0",
                           "--join-timeout=0", "--max-lead=-1s", "--idle-timeout=-1s", "--memory-limit=99999TiB"}) {
    const std::string flag_name = std::string(flag).substr(0, std::string(flag).find('='));
    EXPECT_THAT(Complaint({flag}), AllOf(HasSubstr(flag_name), HasSubstr("it must be"))) << flag;
  }
}

TEST(EngineFlags, ASlotIsAMultipleOf64Bytes) {
  EXPECT_THAT(Complaint({"--slot-bytes=1000"}), HasSubstr("not a multiple of 64; the nearest are 960 and 1024"));
  ExpectAccepted({"--slot-bytes=320"});
}

TEST(EngineFlags, RanksStartedByHandNeedAMeetingPlace) {
  EXPECT_THAT(Complaint({"--nodes=2", "--rank=1"}), HasSubstr("--rank=1 needs --coordinator=host:port"));
  EXPECT_THAT(Complaint({"--nodes=2", "--rank=0"}), HasSubstr("--rank=0 needs --coordinator"));
  EXPECT_THAT(Complaint({"--nodes=2", "--coordinator=h:7"}), HasSubstr("--coordinator needs --rank"));
  EXPECT_THAT(Complaint({"--nodes=2", "--rank=2", "--coordinator=h:7"}), HasSubstr("the ranks are 0 to 1"));
  EXPECT_THAT(Complaint({"--nodes=2", "--rank=1", "--coordinator=h"}), HasSubstr("--coordinator: 'h' is no address"));
  EXPECT_THAT(Complaint({"--nodes=2", "--rank=1", "--coordinator=h:0"}), HasSubstr("the port must not be 0"));
  EXPECT_THAT(Complaint({"--nodes=2", "--bind=7700"}), HasSubstr("--bind: '7700' is no address"));
  ExpectAccepted({"--nodes=2", "--rank=0", "--coordinator=h:7"});
  ExpectAccepted({"--nodes=2", "--rank=0", "--bind=0.0.0.0:7700"});
  ExpectAccepted({"--nodes=1", "--rank=0"});
}

TEST(EngineFlags, AnAddressOfItsOwnMayComeWithoutAPort) {
  ExpectAccepted({"--nodes=2", "--bind=10.0.0.1"});
  ExpectAccepted({"--nodes=2", "--bind=fe80::1"});
  ExpectAccepted({"--nodes=2", "--rank=1", "--bind=[fe80::1]", "--coordinator=h:7"});
  EXPECT_THAT(Complaint({"--nodes=2", "--rank=0", "--bind=10.0.0.1"}), HasSubstr("--rank=0 needs --coordinator"));
}

TEST(EngineFlags, TheLocalTransportReachesOneProcess) {
  EXPECT_THAT(Complaint({"--nodes=2", "--transport=local"}), HasSubstr("--transport=local reaches no other process"));
  ExpectAccepted({"--executors=2", "--transport=local"});
}

TEST(EngineFlags, UpParDividesTheExecutorsOfEachNode) {
  EXPECT_THAT(Complaint({"--engine=uppar"}), HasSubstr("--engine=uppar needs two executors or more"));
  EXPECT_THAT(Complaint({"--engine=uppar", "--executors=4", "--partitioners=4"}),
              HasSubstr("--partitioners=4 leaves none of each 4 executors to have the state of keys: write at "
                        "most 3"));
  EXPECT_THAT(Complaint({"--executors=4", "--partitioners=2"}), HasSubstr("how --engine=uppar divides"));
  EXPECT_THAT(Complaint({"--engine=flink"}), HasSubstr("write one of slash, uppar, loop"));
  EXPECT_THAT(Complaint({"--engine=uppar", "--nodes=2", "--partitioners=2"}),
              HasSubstr("leaves none of each 2 executors"));
  ExpectAccepted({"--engine=uppar", "--executors=4", "--partitioners=3"});
  ExpectAccepted({"--engine=uppar", "--nodes=2"});
  EngineOptions options;
  options.cluster.nodes = 2;
  options.cluster.executors = 5;
  options.cluster.engine = EngineChoice::kUpPar;
  EXPECT_EQ(options.cluster.roles().reader_count(), 4U) << "half of the executors, rounded down";
  options.cluster.executors = 1;
  EXPECT_TRUE(options.cluster.roles().Reads(ExecutorId{0}));
  EXPECT_FALSE(options.cluster.roles().Reads(ExecutorId{1})) << "one node partitions, and the other leads";
}

TEST(EngineFlags, OfEachTwoNodesOneStreamsToTheOther) {
  EXPECT_THAT(Complaint({"--ingest=channel"}), HasSubstr("--executors=1 must be even, or raise --nodes to 2"));
  EXPECT_THAT(Complaint({"--ingest=channel", "--nodes=3"}), HasSubstr("--nodes=3 must be even"));
  EXPECT_THAT(Complaint({"--ingest=channel", "--engine=loop"}), HasSubstr("leave out --ingest"));
  EXPECT_THAT(Complaint({"--ingest=kafka"}), HasSubstr("write one of direct, channel"));
  EXPECT_THAT(Complaint({"--ingest=channel", "--engine=uppar", "--nodes=2", "--partitioners=2"}),
              HasSubstr("--partitioners=2 leaves none of each 2 executors"));
  EXPECT_THAT(Complaint({"--ingest=channel", "--engine=uppar", "--nodes=2", "--executors=2", "--partitioners=4"}),
              HasSubstr("--partitioners=4 leaves none of each 4 executors"));
  ExpectAccepted({"--ingest=channel", "--nodes=2"});
  ExpectAccepted({"--ingest=channel", "--executors=2"});
  EngineOptions options;
  options.cluster.nodes = 4;
  options.cluster.executors = 3;
  options.cluster.ingest = IngestChoice::kChannel;
  EXPECT_TRUE(options.cluster.roles().feeds());
  EXPECT_EQ(options.cluster.roles().FedBy(ExecutorId{7}), ExecutorId{10}) << "of the third node and the fourth";
  options.cluster.engine = EngineChoice::kUpPar;
  EXPECT_TRUE(options.cluster.roles().partitions());
  EXPECT_EQ(options.cluster.roles().reader_count(), 6U);
  EXPECT_TRUE(options.cluster.roles().Reads(ExecutorId{2})) << "the first of two nodes partitions";
  EXPECT_FALSE(options.cluster.roles().Reads(ExecutorId{3})) << "the second leads";
}

TEST(EngineFlags, ALoopIsOneThreadOfAProgramThatHasOne) {
  EXPECT_THAT(Complaint({"--engine=loop", "--executors=2"}),
              HasSubstr("--engine=loop is one thread: leave out --nodes and --executors"));
  EXPECT_THAT(Complaint({"--engine=loop", "--nodes=2"}), HasSubstr("--engine=loop is one thread"));
  EXPECT_THAT(Complaint({"--engine=loop", "--prefault-state=1MiB"}), HasSubstr("leave out --prefault-state"));
  ExpectAccepted({"--engine=loop"});
  EngineOptions options;
  FlagSet flags({.program = "prog", .summary = "A program.", .version = "1", .commit = "abc"});
  RegisterEngineFlags(flags, options, {.has_check = true});
  std::ostringstream out;
  std::ostringstream err;
  const std::vector<const char*> arguments = {"prog", "--engine=loop"};
  EXPECT_TRUE(flags.Parse(2, arguments.data(), out, err).has_value());
  EXPECT_THAT(err.str(), HasSubstr("write one of slash, uppar"));
}

TEST(EngineFlags, OutputsMustBeWritableNames) {
  EXPECT_THAT(Complaint({"--join-output"}), HasSubstr("--join-output needs --output=FILE"));
  EXPECT_THAT(Complaint({"--json=/no/such/folder/r.json"}), HasSubstr("there is no directory /no/such/folder"));
  EXPECT_THAT(Complaint({"--output=/tmp"}), HasSubstr("this is a directory"));
}

}  // namespace
}  // namespace glaive::engine
