#include "rdma/bootstrap/handshake.h"

#include <string_view>

namespace glaive::rdma {
namespace {

// Labels of different uses differ in length or text, and what follows has a fixed length.
Digest Under(const Secret& secret, std::string_view label, const Nonces& nonces) {
  return HmacSha256(secret.bytes(), {label, AsText(nonces.coordinator), AsText(nonces.member)});
}

}  // namespace

Nonce MakeNonce(const RandomBytes& random) {
  Nonce nonce{};
  random(nonce);
  return nonce;
}

Digest MemberProof(const Secret& secret, const Nonces& nonces) { return Under(secret, "glaive member proof", nonces); }

Digest CoordinatorProof(const Secret& secret, const Nonces& nonces) {
  return Under(secret, "glaive coordinator proof", nonces);
}

SessionKeys DeriveKeys(const Secret& secret, const Nonces& nonces) {
  return {.coordinator = Under(secret, "glaive coordinator key", nonces),
          .member = Under(secret, "glaive member key", nonces)};
}

}  // namespace glaive::rdma
