// A program with a flag of its own: --last=N, the last of the numbers that are added up.
#include <cstdint>
#include <memory>
#include <string>

#include <absl/status/statusor.h>

#include <glaive/engine/api/generated.h>
#include <glaive/engine/cluster/main.h>

using namespace glaive::engine;

class SumProgram final : public QueryProgram {
 public:
  std::string name() const override { return "own_flags"; }
  std::string summary() const override { return "Adds up the numbers 1 to --last."; }

  void RegisterFlags(FlagSet& flags) override {
    flags.AddInteger({.name = "last", .group = "Numbers", .help = "the last number"}, last_, {.min = 1});
  }

  absl::StatusOr<std::unique_ptr<Query>> Build(const EngineOptions& options, std::uint32_t /*executor_count*/,
                                               FileClaims& /*claims*/, const glaive::Watch& /*watch*/) override {
    return FromRange(1, last_ + 1).Aggregate(Sum{[](std::uint64_t n) { return n; }}).To(Results(options.output.output));
  }

 private:
  std::uint64_t last_ = 100;
};

int main(int argc, char** argv) { return Main<SumProgram>(argc, argv); }
