#include "rdma/bootstrap/frame_seal.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace glaive::rdma {

Digest FrameSeal::Tag(std::string_view frame) {
  std::array<std::uint8_t, sizeof(next_)> number{};
  for (std::size_t i = 0; i < number.size(); ++i) number[i] = static_cast<std::uint8_t>(next_ >> (8 * i));
  ++next_;
  return HmacSha256(key_, {AsText(number), frame});
}

std::string FrameSeal::NextTag(std::string_view frame) { return std::string(AsText(Tag(frame))); }

bool FrameSeal::CheckNext(std::string_view frame, std::string_view tag) {
  Digest received{};
  if (tag.size() != received.size()) return false;
  std::copy(tag.begin(), tag.end(), received.begin());
  return SameDigest(Tag(frame), received);
}

}  // namespace glaive::rdma
