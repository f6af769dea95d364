#include "rdma/channel/channel_options.h"

#include "absl/strings/str_cat.h"

#include "rdma/memory/segment_pool.h"

namespace glaive::rdma {

absl::Status ChannelOptions::Validate() const {
  if (absl::Status status = CheckSlotBytes(slot_bytes); !status.ok()) return status;
  if (credits < kMinCredits || credits > kMaxCredits) {
    return absl::InvalidArgumentError(
        absl::StrCat("--credits=", credits, ": must be from ", kMinCredits, " to ", kMaxCredits));
  }
  return absl::OkStatus();
}

}  // namespace glaive::rdma
