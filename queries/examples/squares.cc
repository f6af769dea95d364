// The smallest stream: the squares of the numbers 1 to 10.
#include <cstdint>
#include <memory>

#include <glaive/engine/api/generated.h>
#include <glaive/engine/cluster/main.h>

using namespace glaive::engine;

std::unique_ptr<Query> Squares(const Results& results) {
  return FromRange(1, 11).Map([](std::uint64_t n) { return n * n; }).To(results);
}

int main(int argc, char** argv) { return Main(argc, argv, Squares); }
