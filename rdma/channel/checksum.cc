#include "rdma/channel/checksum.h"

#include <array>

#define XXH_INLINE_ALL  // a footer's 64 bytes are hashed by a few instructions, without a call
#include "xxhash.h"

namespace glaive::rdma {

std::uint32_t FooterChecksum(const SlotFooter& footer) {
  SlotFooter hashed = footer;
  hashed.footer_checksum = 0;
  return static_cast<std::uint32_t>(XXH3_64bits(&hashed, sizeof(hashed)));
}

std::uint64_t PayloadChecksum(std::span<const std::byte> payload) {
  const std::uint64_t hash = XXH3_64bits(payload.data(), payload.size());
  return hash == 0 ? 1 : hash;
}

std::uint32_t RingToken(std::uint64_t run_token, ExecutorId source, ExecutorId destination) {
  const std::array<std::uint32_t, 2> ring = {Value(source), Value(destination)};
  return static_cast<std::uint32_t>(XXH3_64bits_withSeed(ring.data(), sizeof(ring), run_token));
}

}  // namespace glaive::rdma
