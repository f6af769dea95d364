// KeptTuples: the counters of the tuples that joins keep.
#pragma once

#include <cstdint>

namespace glaive::engine {

/// The most tuples that a join has kept on this executor at one time, and the executor's state then.
struct KeptTuples {
  std::uint64_t most = 0;
  std::uint64_t state_bytes = 0;

  void Note(std::uint64_t tuples, std::uint64_t bytes) {
    if (tuples > most) {
      most = tuples;
      state_bytes = bytes;
    }
  }
};

}  // namespace glaive::engine
