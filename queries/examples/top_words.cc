// Results are a stream again: the three most frequent words of words.txt, which has one on each line.
#include <array>
#include <compare>
#include <cstdint>
#include <memory>
#include <string>

#include <absl/status/statusor.h>

#include <glaive/engine/api/stream.h>
#include <glaive/engine/cluster/main.h>
#include <glaive/engine/source/line_source.h>

using namespace glaive::engine;

struct Ranked {
  std::uint64_t count;
  std::array<char, 16> word;  // its first 15 bytes, and zeros
  friend auto operator<=>(const Ranked&, const Ranked&) = default;
  friend void AppendCsv(std::string& line, const Ranked& ranked) {
    line += std::string(ranked.word.data()) + "=" + std::to_string(ranked.count);
  }
};

Ranked Rank(const WindowResult<glaive::Text, std::uint64_t>& row) {
  Ranked ranked{.count = row.value, .word = {}};
  row.key.view().copy(ranked.word.data(), ranked.word.size() - 1);
  return ranked;
}

absl::StatusOr<std::unique_ptr<Query>> TopWords(const Results& results) {
  const auto files = FindInputFiles("words.txt");
  if (!files.ok()) {
    return files.status();
  }
  return From(Lines(*files)).KeyBy(&TextLine::text).Aggregate(Count{}).Aggregate(TopK<3>(&Rank)).To(results);
}

int main(int argc, char** argv) { return Main(argc, argv, TopWords); }
