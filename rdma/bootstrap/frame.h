// Frame: the unit of the bootstrap connections. A short JSON header says what it is; a payload of any bytes follows.
//
//   offset  size  field
//        0     4  magic, "GLV2"
//        4     4  header_bytes, little endian
//        8     4  payload_bytes, little endian
//       12     -  header (JSON), then payload
//
// On an authenticated connection a tag follows each frame (frame_seal.h), which is checked before the frame is given
// out.
//
// What arrives is hostile until proven otherwise: the decoder checks magic and sizes as soon as it has them, and never
// holds more than its limits allow. Plain value types, owned by one thread.
//
//   FrameDecoder decoder({.max_header_bytes = 1 << 16, .max_payload_bytes = 0});
//   decoder.Append(bytes);
//   while (auto frame = *decoder.Next()) Handle(*frame);
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

#include "rdma/bootstrap/frame_seal.h"

namespace glaive::rdma {

inline constexpr std::size_t kFramePrefixBytes = 12;
inline constexpr std::string_view kFrameMagic = "GLV2";

struct Frame {
  std::string header;
  std::string payload;
};

struct FrameLimits {
  std::size_t max_header_bytes = 0;
  std::size_t max_payload_bytes = 0;
};

/// The frame as bytes. Both parts are shorter than 4 GiB (checked).
std::string EncodeFrame(std::string_view header, std::string_view payload);

/// Cuts a byte stream into frames.
class FrameDecoder {
 public:
  explicit FrameDecoder(FrameLimits limits) : limits_(limits) {}

  void set_limits(FrameLimits limits) { limits_ = limits; }

  /// From the next frame on, each is followed by its tag.
  void set_seal(const FrameSeal& seal) { seal_ = seal; }

  /// Adds bytes as they came from the connection, cut anywhere.
  void Append(std::string_view bytes) { buffer_.append(bytes); }

  /// The next whole frame; empty when more bytes are needed. kInvalidArgument on a wrong magic, a size over the
  /// limit or a wrong tag; the stream cannot be used after that.
  absl::StatusOr<std::optional<Frame>> Next();

 private:
  FrameLimits limits_;
  std::optional<FrameSeal> seal_;
  std::string buffer_;
  std::size_t start_ = 0;  // the first byte of buffer_ not yet given out
};

}  // namespace glaive::rdma
