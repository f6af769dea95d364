#include "queries/wordcount/wordcount_query.h"

#include <utility>

#include "engine/api/stream.h"
#include "queries/wordcount/words.h"
#include "rdma/base/check.h"

namespace glaive::queries::wordcount {
namespace {

/// The words as a key.
constexpr auto kItself = [](const Text& word) { return word; };

/// The forms without windows of event time. `words` is a stream of texts.
template <typename Words>
std::unique_ptr<engine::Query> CountAll(Form form, Words words, const ResultSinks& sinks) {
  auto by_word = std::move(words).KeyBy(kItself);
  if (form == Form::kCountWindow) {
    return std::move(by_word)
        .Window(engine::CountWindow{.size = kCountWindowSize, .slide = kCountWindowSlide})
        .Aggregate(engine::Count{})
        .To(sinks);
  }
  return form == Form::kPlain ? std::move(by_word).Partition().Aggregate(engine::Count{}).To(sinks)
                              : std::move(by_word).Aggregate(engine::Count{}).To(sinks);
}

}  // namespace

std::unique_ptr<engine::Query> BuildWordcount(const WordcountOptions& options,
                                              const engine::SourceSpec<TextLine, TextLineTime>& lines,
                                              const ResultSinks& sinks) {
  auto words = engine::From(lines).FlatMap([](const TextLine& line) { return Words(line.text()); });
  if (options.form != Form::kWindowed) {
    return CountAll(options.form, std::move(words), sinks);
  }
  return std::move(words)
      .KeyBy(kItself)
      .Window(engine::Tumbling{options.window})
      .AllowedLateness(options.allowed_lateness)
      .Aggregate(engine::Count{})
      .To(sinks);
}

std::unique_ptr<engine::Query> BuildWordcountOfFiles(Form form, const std::vector<engine::ListedFile>& files,
                                                     const engine::LineSourceOptions& options,
                                                     const ResultSinks& sinks) {
  GLAIVE_CHECK(form != Form::kWindowed, "lines of files have no event times");
  return CountAll(form, engine::From(engine::Lines(files, options)).FlatMap([](const engine::TextLine& line) {
    return Words(line.text);
  }),
                  sinks);
}

}  // namespace glaive::queries::wordcount
