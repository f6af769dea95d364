#include "engine/cluster/main.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/api/generated.h"
#include "engine/cluster/run_program.h"

namespace glaive::engine {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::unique_ptr<Query> BuildSquares(const Results& results) {
  return FromRange(1, 4).Map([](std::uint64_t n) { return n * n; }).To(results);
}

class MainTest : public ::testing::Test {
 protected:
  /// The exit code of a program called "squares".
  ExitCode Run(const QueryFunction& build, const ExpectedLines& expected, std::vector<std::string> flags) {
    flags.insert(flags.begin(), "some/folder/squares");
    std::vector<char*> argv;
    for (std::string& word : flags) {
      argv.push_back(word.data());
    }
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    const int code = Main(static_cast<int>(argv.size()), argv.data(), build, expected);
    out_ = ::testing::internal::GetCapturedStdout();
    err_ = ::testing::internal::GetCapturedStderr();
    return ExitCode{code};
  }

  static ExpectedLines These(std::vector<std::string> lines) {
    return [lines = std::move(lines)](std::uint32_t) { return lines; };
  }

  std::string out_;
  std::string err_;
};

TEST_F(MainTest, RunsAFunctionAsAProgramOfItsFilesName) {
  EXPECT_EQ(Run(BuildSquares, nullptr, {"--executors=2"}), ExitCode::kSuccess) << err_;
  EXPECT_THAT(out_, AllOf(HasSubstr("\nsquares 0."), HasSubstr("records            3 ")));
  EXPECT_THAT(err_, IsEmpty());
  EXPECT_EQ(Run(BuildSquares, nullptr, {"--help"}), ExitCode::kSuccess);
  EXPECT_THAT(out_, AllOf(HasSubstr("Usage: squares "), HasSubstr("--nodes="), Not(HasSubstr("\n  --verify"))));
}

TEST_F(MainTest, HasVerifyIfItIsToldTheTrueRows) {
  EXPECT_EQ(Run(BuildSquares, These({"9", "4", "1"}), {"--executors=2", "--verify"}), ExitCode::kSuccess) << err_;
  EXPECT_THAT(out_, HasSubstr("verification       passed"));
  EXPECT_EQ(Run(BuildSquares, These({"1", "4", "8"}), {"--verify"}), ExitCode::kWrongResult);
  EXPECT_THAT(err_, HasSubstr("squares: rank 0: wrong result at rank 0: the row '8' is missing, '9' is wrong"));
  EXPECT_EQ(Run(BuildSquares, These({"1"}), {"--help"}), ExitCode::kSuccess);
  EXPECT_THAT(out_, HasSubstr("\n  --verify"));
}

TEST_F(MainTest, EndsWithTheErrorOfAFunctionThatHasNoQuery) {
  const auto fail = [](const Results&) { return absl::NotFoundError("there is no input"); };
  EXPECT_EQ(Run(fail, nullptr, {}), ExitCode::kFailed);
  EXPECT_THAT(err_, HasSubstr("squares: rank 0: there is no input\n"));
  const auto forget = [](const Results&) { return std::unique_ptr<Query>(); };
  EXPECT_EQ(Run(forget, nullptr, {}), ExitCode::kFailed);
  EXPECT_THAT(err_, HasSubstr("has returned no query"));
}

}  // namespace
}  // namespace glaive::engine
