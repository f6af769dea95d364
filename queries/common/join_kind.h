// JoinKind: which records of a join's two sides have rows.
#pragma once

#include <cstdint>

namespace glaive::queries {

enum class JoinKind : std::uint8_t {
  kInner,  // pairs with the same key in the same window
  kLeft,   // and records of the left side without a partner there
  kFull,   // and those of the right side
};

}  // namespace glaive::queries
