// CheckLines: right lines pass, and a wrong, a missing or an additional one is found, whichever executor has it.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "queries/nexmark/events/event_generator.h"
#include "queries/nexmark/suite/lines_check.h"
#include "queries/nexmark/suite/queries.h"

namespace glaive::queries::nexmark::suite {
namespace {

using ::testing::HasSubstr;
using Lines = std::vector<std::string>;

constexpr std::uint32_t kExecutors = 2;
constexpr std::uint64_t kEvents = 3'000;  // of an executor

/// A run of a query on two executors, whose lines are the right ones until a test changes them.
class NexmarkLinesCheck : public ::testing::TestWithParam<std::string_view> {
 protected:
  NexmarkLinesCheck()
      : query_(*std::ranges::find(AllQueries(), GetParam(), &QueryDefinition::name)),
        generator_({.texts = query_.texts, .event_rate = 1'000}, kExecutors),
        flows_({.generator = &generator_, .records_read = {kEvents, kEvents}}),
        lines_(kExecutors) {
    Lines all;
    for (std::uint32_t executor = 0; executor < kExecutors; ++executor) {
      const bool reads = query_.emitter == Emitter::kReader;
      if (reads || executor == 0) {
        EXPECT_EQ(query_.recompute(reads ? flows_.Of(executor) : flows_, {},
                                   [&](std::string line) { all.push_back(std::move(line)); }),
                  absl::OkStatus());
      }
      const std::size_t here = reads || executor == kExecutors - 1 ? all.size() : all.size() / 2;
      lines_[executor].assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(here));
      all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(here));
      EXPECT_GE(lines_[executor].size(), 2U);
    }
  }

  Verdict Check(std::vector<ExecutorId> executors = {ExecutorId{0}, ExecutorId{1}}) {
    return CheckLines(query_, flows_, {},
                      {.roles = engine::Roles(kExecutors),
                       .records_read = flows_.records_read,
                       .executors = std::move(executors),
                       .key_hash = {}},
                      lines_);
  }
  void ExpectWrong() {
    const Verdict verdict = Check();
    EXPECT_EQ(verdict.status.code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(std::string(verdict.status.message()), HasSubstr(std::string(GetParam()) + " results are wrong"));
  }

  const QueryDefinition& query_;
  events::EventGenerator generator_;
  EventFlows flows_;
  std::vector<Lines> lines_;  // by executor
};

TEST_P(NexmarkLinesCheck, RightLinesPass) { EXPECT_EQ(Check().status, absl::OkStatus()); }

TEST_P(NexmarkLinesCheck, AWrongLineIsFound) {
  for (std::uint32_t executor = 0; executor < kExecutors; ++executor) {
    SCOPED_TRACE(executor);
    const std::vector<Lines> right = lines_;
    char& last = lines_[executor].back().front();
    last = last == '7' ? '8' : '7';
    ExpectWrong();
    lines_ = right;
  }
}

TEST_P(NexmarkLinesCheck, AMissingLineIsFound) {
  lines_[1].pop_back();
  ExpectWrong();
}

TEST_P(NexmarkLinesCheck, ALineThatComesTwiceIsFound) {
  lines_[0].push_back(lines_[0].front());
  ExpectWrong();
}

TEST_P(NexmarkLinesCheck, OfOneNodeALineThatAnotherMayHaveIsMissingInTheTotals) {
  if (query_.emitter == Emitter::kReader) {
    EXPECT_EQ(Check({ExecutorId{0}}).status, absl::OkStatus()) << "its lines follow from its own flow";
    return;
  }
  const Verdict verdict = Check({ExecutorId{0}});
  EXPECT_EQ(verdict.status, absl::OkStatus());
  EXPECT_NE(verdict.expected, verdict.emitted);
}

INSTANTIATE_TEST_SUITE_P(Emitters, NexmarkLinesCheck, ::testing::Values("q1", "q20"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace glaive::queries::nexmark::suite
