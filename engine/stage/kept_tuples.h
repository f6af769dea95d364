// What joins keep, and what they make of it: the counters of kept tuples, and the result of a pair.
#pragma once

#include <cstdint>
#include <tuple>

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

/// The result of a pair of tuples; null where there is no partner.
template <typename Plan>
typename Plan::Result MakeResult(const typename Plan::Left::Tuple* left, const typename Plan::Right::Tuple* right) {
  typename Plan::Result result{};
  if (left != nullptr) {
    std::get<0>(result) = *left;
  }
  if (right != nullptr) {
    std::get<1>(result) = *right;
  }
  return result;
}

}  // namespace glaive::engine
