// Checksums of messages and the token of a ring: what tells damaged, forged and foreign messages from good ones.
//
// They guard against faults (torn writes, stale memory, another run's messages), not against someone who computes them
// on purpose. Pure functions; a footer costs a few nanoseconds, a payload about 20 GB/s.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "rdma/base/ids.h"
#include "rdma/channel/slot_footer.h"

namespace glaive::rdma {

/// Over the whole footer as if its checksum field were zero.
std::uint32_t FooterChecksum(const SlotFooter& footer);

/// Never 0, which stands for "off".
std::uint64_t PayloadChecksum(std::span<const std::byte> payload);

/// Differs, as far as 32 bits can, between runs and between the rings of one run.
std::uint32_t RingToken(std::uint64_t run_token, ExecutorId source, ExecutorId destination);

}  // namespace glaive::rdma
