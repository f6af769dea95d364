// Records move to other executors: executor 0 makes all numbers, and all executors test them for primes.
#include <cstdint>
#include <memory>
#include <optional>

#include <glaive/engine/api/generated.h>
#include <glaive/engine/cluster/main.h>

using namespace glaive::engine;

bool IsPrime(std::uint64_t n) {
  for (std::uint64_t divisor = 2; divisor * divisor <= n; ++divisor) {
    if (n % divisor == 0) {
      return false;
    }
  }
  return n > 1;
}

std::unique_ptr<Query> Primes(const Results& results) {
  const auto numbers = [](const SourceContext& context) {
    return [left = Value(context.executor) == 0 ? std::uint64_t{200} : 0]() mutable {
      return left == 0 ? std::nullopt : std::optional(left--);
    };
  };
  return FromParallel(numbers).Shuffle().Filter(&IsPrime).To(results);
}

int main(int argc, char** argv) { return Main(argc, argv, Primes); }
