// KeptTuples: the counters of the tuples that joins keep, and the result of a pair of tuples.
#pragma once

#include <concepts>
#include <cstdint>
#include <tuple>
#include <utility>

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

/// The window kind of a join (window_kind.h), which keeps tuples beyond the slices of its inputs:
///
///   kept()        the most that it has kept at a time
///   kept_now()    tuples of the left and of the right stream
template <typename Kind>
concept JoinWindowKind = requires(const Kind& kind) {
  { kind.kept() } -> std::same_as<const KeptTuples&>;
  { kind.kept_now() } -> std::same_as<std::pair<std::uint64_t, std::uint64_t>>;
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
