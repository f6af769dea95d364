// RunKey: 256 bits that the nodes of a run share, and the tokens that follow from them. A token proves that a queue
// pair, or a message in a ring, belongs to the run.
//
// HMAC-SHA256 under the run's secret of a label and the run's token gives the key. The key is never sent: every node
// derives it. HMAC-SHA256 under the key of a label and both executors gives a token, cut to the bits that its place
// has. A token is sent in clear text. It reveals nothing of the key, nor of the token of another use, pair or
// direction. HMAC-SHA256 under the key of a label and a number gives the key of a part of the run.
//
// Pure functions of plain values; a token takes about a microsecond.
//
//   const RunKey key = DeriveRunKey(secret, run_token);
//   message.token = ConnectToken(key, self, peer);
#pragma once

#include <cstdint>

#include "rdma/base/ids.h"
#include "rdma/bootstrap/hmac.h"
#include "rdma/bootstrap/secret.h"

namespace glaive::rdma {

using RunKey = Digest;

/// `run_token` is another one in every run: a secret that is used again gives another key.
RunKey DeriveRunKey(const Secret& secret, std::uint64_t run_token);

/// The key of part `number` of a run whose parts have the same executors, such as the channels of a benchmark.
RunKey PartKey(const RunKey& key, std::uint32_t number);

/// What `from` has to show to `to` when their queue pair is connected.
std::uint64_t ConnectToken(const RunKey& key, ExecutorId from, ExecutorId to);

/// What every message in the ring from `source` to `destination` bears.
std::uint32_t RingToken(const RunKey& key, ExecutorId source, ExecutorId destination);

}  // namespace glaive::rdma
