#include "rdma/bootstrap/hmac.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>

#include "rdma/base/check.h"

namespace glaive::rdma {
namespace {

struct MacDeleter {
  void operator()(EVP_MAC* mac) const { ::EVP_MAC_free(mac); }
  void operator()(EVP_MAC_CTX* context) const { ::EVP_MAC_CTX_free(context); }
};

}  // namespace

Digest HmacSha256(std::span<const std::uint8_t> key, std::initializer_list<std::string_view> parts) {
  const std::unique_ptr<EVP_MAC, MacDeleter> mac(::EVP_MAC_fetch(nullptr, "HMAC", nullptr));
  GLAIVE_CHECK(mac != nullptr, "OpenSSL has no HMAC; look at its configuration (openssl.cnf)");
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
  GLAIVE_CHECK(good && bytes == digest.size(), "OpenSSL cannot compute HMAC-SHA256; look at its configuration");
  return digest;
}

bool SameDigest(const Digest& a, const Digest& b) { return ::CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0; }

}  // namespace glaive::rdma
