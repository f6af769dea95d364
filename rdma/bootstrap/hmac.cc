#include "rdma/bootstrap/hmac.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string_view>

namespace glaive::rdma {
namespace {

struct MacDeleter {
  void operator()(EVP_MAC* mac) const { ::EVP_MAC_free(mac); }
  void operator()(EVP_MAC_CTX* context) const { ::EVP_MAC_CTX_free(context); }
};

// None where OpenSSL cannot compute it.
std::optional<Digest> TryHmac(std::span<const std::uint8_t> key, std::initializer_list<std::string_view> parts) {
  const std::unique_ptr<EVP_MAC, MacDeleter> mac(::EVP_MAC_fetch(nullptr, "HMAC", nullptr));
  if (mac == nullptr) return std::nullopt;
  const std::unique_ptr<EVP_MAC_CTX, MacDeleter> context(::EVP_MAC_CTX_new(mac.get()));
  char hash[] = "SHA256";
  const OSSL_PARAM parameters[] = {::OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, hash, 0),
                                   ::OSSL_PARAM_construct_end()};
  bool good = context != nullptr && ::EVP_MAC_init(context.get(), key.data(), key.size(), parameters) == 1;
  for (const std::string_view part : parts) {
    good =
        good && ::EVP_MAC_update(context.get(), reinterpret_cast<const unsigned char*>(part.data()), part.size()) == 1;
  }
  Digest digest{};
  std::size_t bytes = 0;
  good = good && ::EVP_MAC_final(context.get(), digest.data(), &bytes, digest.size()) == 1;
  return good && bytes == digest.size() ? std::optional(digest) : std::nullopt;
}

}  // namespace

absl::Status CheckHmac() {
  constexpr std::array<std::uint8_t, 1> kKey = {1};
  return TryHmac(kKey, {}).has_value() ? absl::OkStatus()
                                       : absl::FailedPreconditionError(
                                             "OpenSSL computes no HMAC-SHA256, by which nodes prove to know the run's "
                                             "secret and executors to be of the run: its configuration (openssl.cnf, "
                                             "OPENSSL_CONF) must activate the "
                                             "default provider, or one that has it");
}

Digest HmacSha256(std::span<const std::uint8_t> key, std::initializer_list<std::string_view> parts) {
  const std::optional<Digest> digest = TryHmac(key, parts);
  if (!digest.has_value()) throw std::bad_alloc();  // CheckHmac has passed, so only memory can be missing
  return *digest;
}

bool SameDigest(const Digest& a, const Digest& b) { return ::CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0; }

}  // namespace glaive::rdma
