#include "state/index/key_hash.h"

namespace glaive::state {

std::uint64_t KeyHash::OfAnyBytes(std::string_view bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

}  // namespace glaive::state
