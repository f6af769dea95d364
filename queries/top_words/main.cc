#include "engine/cluster/main.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

#include "engine/window/window_spec.h"
#include "engine/window/windows.h"
#include "queries/common/generated_program.h"
#include "queries/top_words/generator.h"
#include "queries/top_words/top_places.h"
#include "queries/top_words/top_words_query.h"

namespace glaive::queries::top_words {
namespace {

class TopWordsProgram final : public GeneratedProgram<Hashtag, HashtagTime> {
 public:
  std::string name() const override { return "top_words"; }
  std::string summary() const override {
    return "The four most frequent hashtags of each second, each half a second (RStream, Noir).";
  }

 protected:
  void SetDefaults(InputFlags& input) const override {
    input.keys = 50;
    input.key_distribution = "geometric:0.1";
  }
  void RegisterQueryFlags(engine::FlagSet& flags, const std::string& group) override {
    AddWindowFlag(flags, {.name = "window", .group = group, .help = "length of a window"}, options_.window);
    AddWindowFlag(flags, {.name = "slide", .group = group, .help = "time from one window's start to the next one's"},
                  options_.slide);
    flags.AddCheck([this] {
      return engine::Windows::Validate(engine::Sliding{.size = options_.window, .slide = options_.slide});
    });
  }
  Shape shape() const override {
    return {.window_ms = absl::ToInt64Milliseconds(options_.window),
            .slide_ms = absl::ToInt64Milliseconds(options_.slide),
            .keyed = false,
            .rows_a_record = double{kPlaces} * static_cast<double>(options_.window / options_.slide + 1)};
  }
  std::unique_ptr<Generator<Hashtag>> MakeGenerator(const InputOptions& input) const override {
    return std::make_unique<HashtagGenerator>(input);
  }
  std::unique_ptr<engine::Query> BuildQuery(const Events& tags, const ResultSinks& sinks) const override {
    TopWordsOptions options = options_;
    options.allowed_lateness = allowed_lateness();
    return BuildTopWords(options, tags, sinks);
  }
  Verdict Recompute(const Recomputation<Hashtag>& run) const override {
    return run.As<TopPlaces>([](const Hashtag& /*tag*/) { return std::optional<std::uint64_t>(0); });
  }
  std::string column_names() const override { return "word"; }
  void AppendColumns(std::string& line, const Hashtag& tag) const override {
    absl::StrAppend(&line, std::string(tag.word()));
  }

 private:
  TopWordsOptions options_;
};

}  // namespace
}  // namespace glaive::queries::top_words

int main(int argc, char** argv) {
  return glaive::engine::Main<glaive::queries::top_words::TopWordsProgram>(argc, argv);
}
