// Frame: the unit of the bootstrap connections. A short JSON header names its kind; a payload of any bytes follows.
//
//   offset  size  field
//        0     4  magic, "GLV3"
//        4     4  header_bytes, little endian
//        8     4  payload_bytes, little endian
//       12     -  header (JSON), then payload
//
// On an authenticated connection the bytes of the frames travel in encrypted records (frame_seal.h).
//
// Input may be hostile, so the decoder checks magic and sizes as soon as it has them. Of unauthenticated bytes it holds
// no more than the longest frame allowed, or than a record and the bytes that were appended last. Plain value types,
// owned by one thread.
//
//   FrameDecoder decoder({.max_header_bytes = 1 << 16, .max_payload_bytes = 0});
//   decoder.Append(bytes);   // no more than decoder.room()
//   while (auto frame = *decoder.Next()) Handle(*frame);
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "rdma/bootstrap/frame_seal.h"

namespace glaive::rdma {

inline constexpr std::size_t kFramePrefixBytes = 12;
inline constexpr std::string_view kFrameMagic = "GLV3";

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

  /// What follows the frames given out so far are records.
  void set_seal(const FrameSeal& seal);

  /// The most bytes that may be appended. Without a seal: none when the longest frame allowed is there already.
  std::size_t room() const;

  /// Adds bytes as they came from the connection, cut anywhere, and opens the records that are whole.
  void Append(std::string_view bytes);

  /// The next whole frame; empty when more bytes are needed. kInvalidArgument on a wrong magic, a size over the
  /// limit or a record that is not the next one, behind the frames before it. Then the stream has ended: every call
  /// returns that error, and bytes that are appended are dropped.
  absl::StatusOr<std::optional<Frame>> Next();

  /// Records that were found to be the other end's, so far.
  std::uint64_t records() const { return records_; }

 private:
  void OpenRecords();
  /// Ends the stream.
  absl::Status Refuse(std::string_view why);
  /// Of a frame that is not whole: empty, or the error that ended the stream.
  absl::StatusOr<std::optional<Frame>> More() const;
  /// Forgets the next `bytes` bytes of buffer_.
  void Drop(std::size_t bytes);

  FrameLimits limits_;
  std::optional<FrameSeal> seal_;
  absl::Status error_;
  std::string sealed_;  // the start of a record
  std::uint64_t records_ = 0;
  std::string buffer_;
  std::size_t start_ = 0;  // the first byte of buffer_ not yet given out
};

}  // namespace glaive::rdma
