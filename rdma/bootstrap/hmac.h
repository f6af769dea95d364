// HmacSha256: a proof that the writer of some bytes has a key (RFC 2104 with SHA-256), by OpenSSL.
//
// Pure functions.
//
//   const Digest tag = HmacSha256(key, {"label", bytes});
//   if (!SameDigest(tag, received)) Refuse();
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include "absl/status/status.h"

namespace glaive::rdma {

inline constexpr std::size_t kDigestBytes = 32;
using Digest = std::array<std::uint8_t, kDigestBytes>;

/// FailedPrecondition when OpenSSL's configuration leaves out what HmacSha256 needs. To be asked before its first use.
absl::Status CheckHmac();

/// Of the parts one after another, so callers see to it that their lengths are known. About 1 ns a byte. Throws
/// std::bad_alloc, as the standard library does, if OpenSSL gets no memory: see CatchExhaustion.
Digest HmacSha256(std::span<const std::uint8_t> key, std::initializer_list<std::string_view> parts);

/// Takes the same time whatever the bytes are.
bool SameDigest(const Digest& a, const Digest& b);

/// The bytes of `values`, to be read as text.
inline std::string_view AsText(std::span<const std::uint8_t> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size()};
}

}  // namespace glaive::rdma
