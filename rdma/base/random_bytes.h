// RandomBytes: the generator of secrets and nonces. Only a program's `main` may make one from the system's generator; a
// test makes one that returns given bytes.
//
//   const RandomBytes random = [](std::span<std::uint8_t> out) { ... };
//   random(nonce);
#pragma once

#include <cstdint>
#include <functional>
#include <span>

namespace glaive {

/// Fills all of it with bytes that nobody can guess. Never fails.
using RandomBytes = std::function<void(std::span<std::uint8_t>)>;

}  // namespace glaive
