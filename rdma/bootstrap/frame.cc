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

void FrameDecoder::set_seal(const FrameSeal& seal) {
  seal_ = seal;
  sealed_ = buffer_.substr(start_);
  Drop(buffer_.size() - start_);
  OpenRecords();
}

std::size_t FrameDecoder::room() const {
  if (seal_.has_value() || !error_.ok()) return std::numeric_limits<std::size_t>::max();
  const std::size_t most = kFramePrefixBytes + limits_.max_header_bytes + limits_.max_payload_bytes;
  return most - std::min(most, buffer_.size() - start_);
}

void FrameDecoder::Append(std::string_view bytes) {
  if (!error_.ok()) return;
  (seal_.has_value() ? sealed_ : buffer_).append(bytes);
  if (seal_.has_value()) OpenRecords();
}

void FrameDecoder::OpenRecords() {
  std::size_t opened = 0;  // bytes of sealed_
  while (sealed_.size() - opened >= kRecordPrefixBytes) {
    const std::string_view rest = std::string_view(sealed_).substr(opened);
    const std::size_t text_bytes = ReadU32(rest);
    const std::size_t record_bytes = kRecordPrefixBytes + text_bytes + kRecordTagBytes;
    const bool may_be = text_bytes >= 1 && text_bytes <= kMaxRecordBytes;
    if (may_be && rest.size() < record_bytes) break;
    const std::optional<std::string> text = may_be ? seal_->Open(rest.substr(0, record_bytes)) : std::nullopt;
    if (!text.has_value()) {
      (void)Refuse("it sent a record that is not the node's: somebody interferes with the connection");
      return;
    }
    buffer_.append(*text);
    ++records_;
    opened += record_bytes;
  }
  sealed_.erase(0, opened);
}

absl::Status FrameDecoder::Refuse(std::string_view why) {
  error_ = absl::InvalidArgumentError(std::string(why));
  sealed_.clear();
  return error_;
}

void FrameDecoder::Drop(std::size_t bytes) {
  start_ += bytes;
  if (start_ == buffer_.size()) {
    buffer_.clear();
    start_ = 0;
  } else if (start_ > buffer_.size() / 2) {
    buffer_.erase(0, start_);
    start_ = 0;
  }
}

// What was vouched for before the stream was broken is given out first.
absl::StatusOr<std::optional<Frame>> FrameDecoder::Next() {
  const std::string_view rest = std::string_view(buffer_).substr(start_);
  const std::size_t magic_bytes = std::min(rest.size(), kFrameMagic.size());
  if (rest.substr(0, magic_bytes) != kFrameMagic.substr(0, magic_bytes)) {
    return Refuse("it does not speak this version of glaive's bootstrap protocol");
  }
  if (rest.size() < kFramePrefixBytes) return More();
  const std::size_t header_bytes = ReadU32(rest.substr(4));
  const std::size_t payload_bytes = ReadU32(rest.substr(8));
  if (header_bytes > limits_.max_header_bytes || payload_bytes > limits_.max_payload_bytes) {
    return Refuse(absl::StrCat("it sent a frame of ", header_bytes, " + ", payload_bytes,
                               " bytes, the most allowed is ", limits_.max_header_bytes, " + ",
                               limits_.max_payload_bytes));
  }
  const std::size_t frame_bytes = kFramePrefixBytes + header_bytes + payload_bytes;
  if (rest.size() < frame_bytes) return More();
  Frame frame{.header = std::string(rest.substr(kFramePrefixBytes, header_bytes)),
              .payload = std::string(rest.substr(kFramePrefixBytes + header_bytes, payload_bytes))};
  Drop(frame_bytes);
  return std::optional<Frame>(std::move(frame));
}

absl::StatusOr<std::optional<Frame>> FrameDecoder::More() const {
  if (!error_.ok()) return error_;
  return std::optional<Frame>();
}

}  // namespace glaive::rdma
