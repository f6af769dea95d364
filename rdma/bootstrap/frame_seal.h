// FrameSeal: one direction of an authenticated connection. The bytes of its frames travel in records, which AES-256-GCM
// encrypts and authenticates (NIST SP 800-38D; OpenSSL's implementation). A record that a third party has changed, cut,
// left out, repeated or inserted is found before any of it is read.
//
//   offset  size  field
//        0     4  bytes of the ciphertext, 1 .. kMaxRecordBytes, little endian; authenticated, not encrypted
//        4     -  ciphertext of the next bytes of the frames (frame.h), cut anywhere
//        -    16  tag
//
// A key is good for one direction of one connection. The nonce is the record's number, from 0, which both ends count
// and which is not sent: 8 bytes, little endian, and 4 of zero. Numbers are never used twice. A billion records a
// second would use them up after 584 years, and are refused then.
//
// Records are small, so that a long frame shows that its sender is alive while it arrives, and so that a receiver of a
// wrong length waits for no more than kMaxRecordBytes.
//
// Owned by the connection whose direction it is. About 1 us and 0.3 ns a byte.
//
//   FrameSeal seal(keys.member);
//   std::string record = seal.Seal(bytes);
//   std::optional<std::string> bytes = seal_of_other_end.Open(record);
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"

#include "rdma/bootstrap/hmac.h"

namespace glaive::rdma {

/// The most bytes of frames in a record.
inline constexpr std::size_t kMaxRecordBytes = std::size_t{32} << 10;
inline constexpr std::size_t kRecordPrefixBytes = 4;
inline constexpr std::size_t kRecordTagBytes = 16;

/// FailedPrecondition when OpenSSL's configuration leaves out what FrameSeal needs. To be asked before its first use.
absl::Status CheckFrameSeal();

class FrameSeal {
 public:
  /// `next`: the number of the first record.
  explicit FrameSeal(const Digest& key, std::uint64_t next = 0) : key_(key), next_(next) {}

  /// The next record, with `text` in it: 1 to kMaxRecordBytes bytes.
  std::string Seal(std::string_view text);

  /// The text of `record` if that is the next record, whole. Else nothing, and the stream cannot be used any more.
  std::optional<std::string> Open(std::string_view record);

 private:
  Digest key_;
  std::uint64_t next_;
};

}  // namespace glaive::rdma
