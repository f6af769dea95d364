// StagedUpdate: a record that survived the pipeline, reduced to what its update needs.
#pragma once

#include <cstdint>

#include "state/index/key_hash.h"

namespace glaive::state {

/// `hash` is HashKey(key); `input` is what the aggregate reads of the record.
template <StateKey K, typename InputT>
struct StagedUpdate {
  using Input = InputT;

  std::uint64_t hash;
  K key;
  [[no_unique_address]] InputT input;
};

}  // namespace glaive::state
