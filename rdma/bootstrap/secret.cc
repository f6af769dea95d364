#include "rdma/bootstrap/secret.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

#include "rdma/bootstrap/hmac.h"

namespace glaive::rdma {

absl::StatusOr<Secret> Secret::FromText(std::string_view text) {
  constexpr std::string_view kWhiteSpace = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kWhiteSpace);
  const std::size_t last = text.find_last_not_of(kWhiteSpace);
  const std::string_view trimmed = first == std::string_view::npos ? "" : text.substr(first, last - first + 1);
  if (trimmed.size() < kMinSecretCharacters) {
    return absl::InvalidArgumentError(absl::StrCat("a secret of ", trimmed.size(),
                                                   " characters can be guessed; make one of ", kMinSecretCharacters,
                                                   " or more: openssl rand -hex 32"));
  }
  return Secret(std::string(trimmed));
}

Secret Secret::Make(const RandomBytes& random) {
  std::array<std::uint8_t, 32> bytes{};
  random(bytes);
  const std::string_view text = AsText(bytes);
  return Secret(absl::BytesToHexString({text.data(), text.size()}));
}

}  // namespace glaive::rdma
