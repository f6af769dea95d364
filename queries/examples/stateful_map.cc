// A state for each key: how much each meter has gone up since its reading before.
#include <cstdint>
#include <memory>

#include <glaive/engine/api/generated.h>
#include <glaive/engine/cluster/main.h>

using namespace glaive::engine;

struct Reading {
  std::uint64_t meter;
  std::uint64_t value;
};

Reading MakeReading(std::uint64_t n) { return {.meter = n % 3, .value = n * n}; }

std::unique_ptr<Query> Increases(const Results& results) {
  return FromRange(0, 12)
      .Map(&MakeReading)
      .KeyBy(&Reading::meter)
      .RichMap(std::uint64_t{0},
               [](std::uint64_t& last, const Reading& reading) {
                 const std::uint64_t increase = reading.value - last;
                 last = reading.value;
                 return increase;
               })
      .To(results);
}

int main(int argc, char** argv) { return Main(argc, argv, Increases); }
