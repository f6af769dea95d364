// A join with a table that every executor has: each number with the word for its last digit, if the table has it.
#include <cstdint>
#include <map>
#include <memory>

#include <glaive/engine/api/generated.h>
#include <glaive/engine/cluster/main.h>

using namespace glaive::engine;
using glaive::Text;

struct Named {
  std::uint64_t number;
  Text digit;
};
GLAIVE_RECORD(Named, number, digit)

std::unique_ptr<Query> NameDigits(const Results& results) {
  const std::map<std::uint64_t, Text> words = {{0, Text("zero")}, {5, Text("five")}, {7, Text("seven")}};
  const auto table = std::make_shared<const StaticTable<std::uint64_t, Text>>(words);
  return FromRange(1, 31)
      .JoinTable(
          table, [](std::uint64_t n) { return n % 10; },
          [](std::uint64_t n, const Text& word) { return Named{n, word}; })
      .To(results);
}

int main(int argc, char** argv) { return Main(argc, argv, NameDigits); }
