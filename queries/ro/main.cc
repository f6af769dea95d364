#include "engine/cluster/main.h"

#include <memory>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"

#include "queries/common/generated_program.h"
#include "queries/ro/generator.h"
#include "queries/ro/ro_query.h"

namespace glaive::queries::ro {
namespace {

class RoProgram final : public GeneratedProgram<Item, ItemTime> {
 public:
  std::string name() const override { return "ro"; }
  std::string summary() const override {
    return "Items of 16 bytes: how often each key has come, with no window: one result a key at the stream's end.";
  }

 protected:
  void SetDefaults(InputFlags& input) const override { input.keys = 100'000'000; }
  void RegisterQueryFlags(engine::FlagSet& /*flags*/, const std::string& /*group*/) override {}
  Shape shape() const override { return {.window_ms = kMinuteMs, .at_the_end = true}; }
  std::unique_ptr<Generator<Item>> MakeGenerator(const InputOptions& input) const override {
    return std::make_unique<ItemGenerator>(input);
  }
  std::unique_ptr<engine::Query> BuildQuery(const Events& items, const ResultSinks& sinks) const override {
    return BuildRo(items, sinks);
  }
  Verdict Recompute(const Recomputation<Item>& run) const override {
    return run.As<CountAccount<Item>>([](const Item& item) { return std::optional(item.key); });
  }
  std::string column_names() const override { return "key"; }
  void AppendColumns(std::string& line, const Item& item) const override { absl::StrAppend(&line, item.key); }

 private:
  static constexpr std::int64_t kMinuteMs = 60'000;  // the input spans ten of them
};

}  // namespace
}  // namespace glaive::queries::ro

int main(int argc, char** argv) { return glaive::engine::Main<glaive::queries::ro::RoProgram>(argc, argv); }
