#include "engine/cluster/main.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"

#include "queries/common/generated_program.h"
#include "queries/loops/loop_query.h"
#include "queries/loops/window_loop.h"
#include "queries/ro/generator.h"
#include "queries/ro/item_fold.h"
#include "queries/ro/ro_query.h"

namespace glaive::queries::ro {
namespace {

class RoProgram final : public GeneratedProgram<Item, ItemTime> {
 public:
  std::string name() const override { return "ro"; }
  std::string summary() const override {
    return "Items of 16 bytes: how often each key has come, with no window: one result a key at the stream's end.";
  }
  bool has_loop() const override { return true; }

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
  std::unique_ptr<engine::Query> BuildLoop(const Events& items, std::uint64_t keys,
                                           const ResultSinks& sinks) const override {
    using Loop = WindowLoop<ItemFold>;
    const WindowLoopOptions options{.window_ms = 0, .keys = keys};
    return LoopQueryOver(items, Loop::MemoryBytes(keys), [=] { return Loop::Create({}, options); }, sinks);
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
