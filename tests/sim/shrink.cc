#include "tests/sim/shrink.h"

#include <cstdint>

namespace glaive::sim {
namespace {

constexpr int kMostTries = 300;

}  // namespace

Scenario Shrink(const Scenario& scenario, const std::function<bool(const Scenario&)>& fails) {
  Scenario smallest = scenario;
  int tries = 0;
  for (bool has_changed = true; has_changed && tries < kMostTries;) {
    has_changed = false;
    for (const Knob& knob : Knobs()) {
      if (knob.name == "query") continue;  // another query fails for another reason
      // At once to the simplest value, else half the way to it.
      for (std::int64_t value = knob.simplest; value != smallest.*knob.value && tries < kMostTries;
           value += (smallest.*knob.value - value + 1) / 2) {
        Scenario tried = smallest;
        tried.*knob.value = value;
        tried.Fit();
        ++tries;
        if (fails(tried)) {
          smallest = tried;
          has_changed = true;
          break;
        }
        if (knob.name == "fault" || knob.name == "second-fault") break;  // a number between two kinds is another kind
        if (value + 1 >= smallest.*knob.value) break;
      }
    }
  }
  return smallest;
}

}  // namespace glaive::sim
