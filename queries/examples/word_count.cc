// How often each word comes in fable.txt.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>

#include <glaive/engine/api/stream.h>
#include <glaive/engine/cluster/main.h>
#include <glaive/engine/source/line_source.h>

using namespace glaive::engine;
using glaive::Text;

std::vector<Text> WordsOf(const TextLine& line) {
  std::vector<Text> words;
  std::string_view rest = line.text.view();
  while (!rest.empty()) {
    const std::size_t length = std::min(rest.find(' '), rest.size());
    words.emplace_back(rest.substr(0, length));  // it refers to the bytes of the line
    rest.remove_prefix(std::min(length + 1, rest.size()));
  }
  return words;
}

absl::StatusOr<std::unique_ptr<Query>> CountWords(const Results& results) {
  const auto files = FindInputFiles("fable.txt");
  if (!files.ok()) {
    return files.status();
  }
  return From(Lines(*files))
      .FlatMap(&WordsOf)
      .KeyBy([](const Text& word) { return word; })
      .Aggregate(Count{})
      .To(results);
}

int main(int argc, char** argv) { return Main(argc, argv, CountWords); }
