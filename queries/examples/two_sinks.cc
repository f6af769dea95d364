// One source, two results: the odd numbers as they are, and how many of all numbers there are for each last digit.
#include <cstdint>
#include <memory>
#include <utility>

#include <glaive/engine/api/generated.h>
#include <glaive/engine/api/together.h>
#include <glaive/engine/cluster/main.h>
#include <glaive/engine/sink/csv.h>

using namespace glaive::engine;

std::unique_ptr<Query> OddAndDigits(const Results& results) {
  const auto numbers = FromRange(0, 25).Map([](std::uint64_t n) { return n * n; });
  auto odd = Stream(numbers).Filter([](std::uint64_t n) { return n % 2 == 1; });
  auto digits = Stream(numbers).KeyBy([](std::uint64_t n) { return n % 10; }).Aggregate(Count{});
  return Together(std::move(odd).To(Csv{"odd.csv"}), std::move(digits).To(results));
}

int main(int argc, char** argv) { return Main(argc, argv, OddAndDigits); }
