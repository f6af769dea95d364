// FrameSeal: one direction of an authenticated connection. Each frame is followed by a tag that only the two ends can
// make, over the frame and its number: a frame that was changed, left out, said twice or put in by somebody else is
// found before any of it is looked at.
//
//   offset  size  field
//        0     -  frame (frame.h)
//        -    32  HMAC-SHA256 under the direction's key of the frame's number (u64, little endian, from 0) and the
//        frame
//
// Owned by the connection whose direction it is; both ends count frames alike.
//
//   FrameSeal seal(keys.member);
//   std::string tag = seal.NextTag(frame);                 // to send behind it
//   bool good = seal.CheckNext(frame, received_tag);       // at the other end
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "rdma/bootstrap/hmac.h"

namespace glaive::rdma {

class FrameSeal {
 public:
  explicit FrameSeal(const Digest& key) : key_(key) {}

  /// The tag of the next frame.
  std::string NextTag(std::string_view frame);

  /// Whether `tag` is the next frame's.
  bool CheckNext(std::string_view frame, std::string_view tag);

 private:
  Digest Tag(std::string_view frame);

  Digest key_;
  std::uint64_t next_ = 0;  // number of the next frame
};

}  // namespace glaive::rdma
