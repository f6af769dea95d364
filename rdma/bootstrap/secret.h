// Secret: the bytes that only the nodes of a run have. A node sends nothing to a peer that cannot prove to have them.
//
// A plain value; no thread owns it. Never print it, and never put it on a command line, which every user of the host
// can read.
//
//   absl::StatusOr<Secret> secret = Secret::FromText(text_of_a_file);
//   Secret fresh = Secret::Make(random);
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"

#include "rdma/base/random_bytes.h"

namespace glaive::rdma {

/// The fewest characters of a secret: 128 bits of hexadecimal digits.
inline constexpr std::size_t kMinSecretCharacters = 32;

class Secret {
 public:
  /// Any text; white space around it does not count. kInvalidArgument when it is shorter than kMinSecretCharacters.
  static absl::StatusOr<Secret> FromText(std::string_view text);

  /// 256 random bits, as 64 hexadecimal digits.
  static Secret Make(const RandomBytes& random);

  /// For FromText in another process.
  const std::string& text() const { return text_; }
  std::span<const std::uint8_t> bytes() const {
    return {reinterpret_cast<const std::uint8_t*>(text_.data()), text_.size()};
  }

 private:
  explicit Secret(std::string text) : text_(std::move(text)) {}

  std::string text_;
};

}  // namespace glaive::rdma
