#include "rdma/channel/checksum.h"

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

}  // namespace glaive::rdma
