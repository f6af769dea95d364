// kTestHash: the hash of keys in a StateMemory that was given no seed.
#pragma once

#include "state/index/key_hash.h"

namespace glaive::state {

inline const KeyHash kTestHash(/*seed=*/0);

}  // namespace glaive::state
