#include "rdma/bootstrap/frame.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include "rdma/base/check.h"

namespace glaive::rdma {
namespace {

void AppendU32(std::string& out, std::size_t value) {
  GLAIVE_CHECK(value <= std::numeric_limits<std::uint32_t>::max(), "frame part of ", value, " bytes");
  for (int shift = 0; shift < 32; shift += 8) out.push_back(static_cast<char>((value >> shift) & 0xff));
}

std::size_t ReadU32(std::string_view bytes) {
  std::size_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value |= std::size_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  return value;
}

}  // namespace

std::string EncodeFrame(std::string_view header, std::string_view payload) {
  std::string out;
  out.reserve(kFramePrefixBytes + header.size() + payload.size());
  out.append(kFrameMagic);
  AppendU32(out, header.size());
  AppendU32(out, payload.size());
  out.append(header);
  out.append(payload);
  return out;
}

absl::StatusOr<std::optional<Frame>> FrameDecoder::Next() {
  const std::string_view rest = std::string_view(buffer_).substr(start_);
  const std::size_t magic_bytes = std::min(rest.size(), kFrameMagic.size());
  if (rest.substr(0, magic_bytes) != kFrameMagic.substr(0, magic_bytes)) {
    return absl::InvalidArgumentError("it does not speak glaive's bootstrap protocol");
  }
  if (rest.size() < kFramePrefixBytes) return std::nullopt;
  const std::size_t header_bytes = ReadU32(rest.substr(4));
  const std::size_t payload_bytes = ReadU32(rest.substr(8));
  if (header_bytes > limits_.max_header_bytes || payload_bytes > limits_.max_payload_bytes) {
    return absl::InvalidArgumentError(absl::StrCat("it sent a frame of ", header_bytes, " + ", payload_bytes,
                                                   " bytes, the most allowed is ", limits_.max_header_bytes, " + ",
                                                   limits_.max_payload_bytes));
  }
  const std::size_t frame_bytes = kFramePrefixBytes + header_bytes + payload_bytes;
  const std::size_t tag_bytes = seal_.has_value() ? kDigestBytes : 0;
  if (rest.size() < frame_bytes + tag_bytes) return std::nullopt;
  if (seal_.has_value() && !seal_->CheckNext(rest.substr(0, frame_bytes), rest.substr(frame_bytes, tag_bytes))) {
    return absl::InvalidArgumentError(
        "it sent a frame that is not the node's: somebody interferes with the connection");
  }
  Frame frame{.header = std::string(rest.substr(kFramePrefixBytes, header_bytes)),
              .payload = std::string(rest.substr(kFramePrefixBytes + header_bytes, payload_bytes))};
  start_ += frame_bytes + tag_bytes;
  if (start_ == buffer_.size()) {
    buffer_.clear();
    start_ = 0;
  } else if (start_ > buffer_.size() / 2) {
    buffer_.erase(0, start_);
    start_ = 0;
  }
  return std::optional<Frame>(std::move(frame));
}

}  // namespace glaive::rdma
