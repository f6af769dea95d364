#include "engine/cluster/main.h"

#include <filesystem>
#include <random>
#include <span>

#include "engine/cluster/line_check.h"
#include "engine/cluster/run_program.h"
#include "rdma/base/exhaustion.h"
#include "rdma/base/steady_clock.h"

namespace glaive::engine {
namespace {

/// A program that is a function.
class FunctionProgram final : public QueryProgram {
 public:
  FunctionProgram(std::string name, const QueryFunction& build, const ExpectedLines& expected)
      : name_(std::move(name)), build_(build), lines_(std::make_shared<RetainedLines>()) {
    if (expected) {
      check_.emplace(expected, lines_);
    }
  }

  std::string name() const override { return name_; }

  absl::StatusOr<std::unique_ptr<Query>> Build(const EngineOptions& options, std::uint32_t executor_count,
                                               FileClaims& /*claims*/, const Watch& /*watch*/) override {
    lines_->by_executor.resize(executor_count);
    absl::StatusOr<std::unique_ptr<Query>> query =
        build_(Results(options.output.output, options.output.verify ? lines_ : nullptr));
    if (query.ok() && *query == nullptr) {
      return absl::FailedPreconditionError("the function that main has given to Main() has returned no query");
    }
    return query;
  }

  RunCheck* check() override { return check_ ? &*check_ : nullptr; }

 private:
  std::string name_;
  QueryFunction build_;
  std::shared_ptr<RetainedLines> lines_;  // shared with the sinks
  std::optional<LineCheck> check_;
};

}  // namespace

int MainOf(int argc, char** argv, absl::FunctionRef<std::unique_ptr<QueryProgram>()> make) {
  return RunMain([&] {
    const SteadyClock clock;
    std::random_device entropy;  // the kernel's
    const std::uint64_t run_token = (std::uint64_t{entropy()} << 32) | entropy();
    const auto random = [&entropy](std::span<std::uint8_t> out) {
      for (std::uint8_t& byte : out) {
        byte = static_cast<std::uint8_t>(entropy());
      }
    };
    const std::unique_ptr<QueryProgram> program = make();
    return RunProgram(argc, argv, *program, {.clock = &clock, .run_token = run_token, .random = random});
  });
}

int Main(int argc, char** argv, const QueryFunction& build, const ExpectedLines& expected) {
  return MainOf(argc, argv, [&] {
    return std::make_unique<FunctionProgram>(std::filesystem::path(argv[0]).filename().string(), build, expected);
  });
}

}  // namespace glaive::engine
