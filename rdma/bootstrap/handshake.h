// The handshake of a bootstrap connection: each end proves that it has the run's secret, without showing it, before
// either sends anything else.
//
//   coordinator -> member       challenge: its nonce
//   member      -> coordinator  answer: a nonce of its own, and MemberProof
//   coordinator -> member       accept: CoordinatorProof
//   from here on everything that both send is encrypted (frame_seal.h), beginning with the member's Hello
//
// Proofs and keys are HMAC-SHA256 under the secret of a label and both nonces. The label tells the member's proof from
// the coordinator's, so the proof of one end is no answer of the other (reflection). The nonces are fresh for every
// connection, so a proof on one is no answer on another (replay). A third party that passes messages on between two
// honest ends learns no key, so it can neither read a frame nor add one.
//
// Pure functions of plain values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "rdma/base/random_bytes.h"
#include "rdma/bootstrap/hmac.h"
#include "rdma/bootstrap/secret.h"

namespace glaive::rdma {

inline constexpr std::size_t kNonceBytes = 32;
using Nonce = std::array<std::uint8_t, kNonceBytes>;

Nonce MakeNonce(const RandomBytes& random);

/// The nonces of one connection.
struct Nonces {
  Nonce coordinator{};
  Nonce member{};
};

Digest MemberProof(const Secret& secret, const Nonces& nonces);
Digest CoordinatorProof(const Secret& secret, const Nonces& nonces);

/// What each end encrypts its frames with.
struct SessionKeys {
  Digest coordinator{};
  Digest member{};
};

SessionKeys DeriveKeys(const Secret& secret, const Nonces& nonces);

}  // namespace glaive::rdma
