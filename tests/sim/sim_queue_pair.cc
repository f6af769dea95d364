#include <algorithm>
#include <cstring>

#include "rdma/transport/immediate.h"
#include "rdma/transport/write_bounds.h"
#include "tests/sim/sim_transport.h"

namespace glaive::sim {

using rdma::WriteRequest;
using rdma::WriteStatus;

namespace {

// How often a piece that changes nothing is placed when its turn comes.
constexpr double kUnseenPieces = 1.0 / 16;
// How many writes are slow: their pieces that change nothing wait, so that the slot may be written again meanwhile.
// They wait for up to kSlowest times as long as a write takes. A write in smaller pieces than kLeastSlowPiece is never
// slow: it has many of them, and takes long enough.
constexpr double kSlowWrites = 1.0 / 8;
constexpr std::int64_t kSlowest = 32;
constexpr std::size_t kLeastSlowPiece = 64;

}  // namespace

SimQueuePair::SimQueuePair(Network& of, SimTransport& by, NodeId to, std::uint64_t to_transport)
    : network(&of), owner(&by), peer(to), peer_transport(to_transport) {
  connected_ns = of.time_->now_ns() + of.options_.latency_ns + of.random_.Between(0, of.options_.jitter_ns);
  is_broken = of.broken_.contains(std::minmax(by.node(), to));
  of.queue_pairs_.push_back(this);
}

bool SimQueuePair::TryPostWrite(const WriteRequest& request) {
  rdma::CheckWriteBounds(request);
  if (outstanding >= owner->queue_depth() || network->random_.Chance(network->options_.full_queue)) return false;
  Write write{.request = request};
  if (request.inline_payload) {
    if (request.length > write.payload.size()) network->observer_->OnViolation("an inline write of more than 8 bytes");
    std::memcpy(write.payload.data(), request.local, std::min<std::size_t>(request.length, write.payload.size()));
  } else if (request.length > 0 && !owner->IsRegistered(request.local, request.length)) {
    network->observer_->OnViolation("a write from memory that is not registered");
  }
  if (request.immediate.has_value() && owner->arrival() != rdma::Arrival::kImmediate) {
    network->observer_->OnViolation("an immediate value over a transport that has none");
  }
  const bool is_device = owner->kind() == rdma::TransportKind::kVerbs;
  if (request.immediate.has_value() && is_device) {
    write.request.immediate = rdma::Immediate::WithExecutor(*request.immediate, request.remote.owner);
  }
  ++outstanding;
  posted.push_back(write);
  return true;
}

void SimQueuePair::Flush() {
  for (Write& write : posted) {
    if (is_broken) {
      ended.push_back({.completion = {.wr_id = write.request.wr_id, .status = WriteStatus::kPeerUnreachable},
                       .is_reported = true,
                       .due_ns = network->time_->now_ns()});
      continue;
    }
    last_due_ns = std::max(last_due_ns, network->time_->now_ns() + network->options_.latency_ns +
                                            network->random_.Between(0, network->options_.jitter_ns));
    write.due_ns = last_due_ns;
    const bool may_be_slow = owner->places_in_any_order() && network->options_.piece_bytes >= kLeastSlowPiece;
    if (may_be_slow && network->random_.Chance(kSlowWrites)) {
      write.rest_due_ns =
          write.due_ns + network->random_.Between(0, kSlowest * (write.due_ns - network->time_->now_ns()));
    }
    under_way.push_back(write);
    if (!network->options_.completion_frees_memory) Complete(write.request);  // as iWARP does, before it has arrived
  }
  posted.clear();
}

bool SimQueuePair::HasPieceDue() const {
  const std::int64_t now_ns = network->time_->now_ns();
  const bool can_complete = !under_way.empty() && under_way.front().due_ns <= now_ns && under_way.front().has_arrived();
  return can_complete || std::ranges::any_of(under_way, [&](const Write& write) { return write.HasPieceDue(now_ns); });
}

SimQueuePair::Write& SimQueuePair::DrawWrite() {
  if (!owner->places_in_any_order()) return under_way.front();
  constexpr std::size_t kMostAtATime = 8;
  const std::int64_t now_ns = network->time_->now_ns();
  std::vector<Write*> incomplete;
  for (Write& write : under_way) {
    if (write.due_ns > now_ns || incomplete.size() == kMostAtATime) break;
    if (write.HasPieceDue(now_ns)) incomplete.push_back(&write);
  }
  return incomplete.empty() ? under_way.front() : *incomplete[network->random_.Below(incomplete.size())];
}

// Some of the pieces that lie between boundaries at the other end: the next ones, or with any order ones from a drawn
// one on. With any order, pieces of messages that equal the bytes that lie there are mostly left for later: no checksum
// misses them, so they show whether a slot or a segment is used again before its write is complete.
void SimQueuePair::PlacePieces(Write& write) {
  const WriteRequest& request = write.request;
  if (request.length == 0) return;
  const std::size_t piece_bytes = network->options_.piece_bytes;
  const std::uint64_t begin = request.remote_offset;
  const std::uint64_t end = begin + request.length;
  const std::size_t pieces = (end + piece_bytes - 1) / piece_bytes - begin / piece_bytes;
  write.placed.resize(pieces);
  const bool in_any_order = owner->places_in_any_order();
  const bool rest_is_due = write.rest_due_ns <= network->time_->now_ns();
  const auto left = static_cast<std::size_t>(std::ranges::count(write.placed, false));
  std::size_t now = network->random_.Chance(0.5) ? left : 1 + network->random_.Below(left);
  std::size_t piece = in_any_order ? network->random_.Below(pieces) : 0;
  write.has_only_rest = true;
  for (std::size_t looked = 0; now > 0 && looked < pieces; ++looked, piece = (piece + 1) % pieces) {
    if (write.placed[piece]) continue;
    const std::uint64_t from = std::max(begin, (begin / piece_bytes + piece) * piece_bytes);
    const std::uint64_t to = std::min(end, (begin / piece_bytes + piece + 1) * piece_bytes);
    auto* const there = reinterpret_cast<std::byte*>(request.remote.address + from);
    const bool is_same = std::memcmp(there, write.data() + (from - begin), to - from) == 0;
    const bool changes_nothing = is_same && !request.inline_payload;
    if (changes_nothing && in_any_order && !(rest_is_due && network->random_.Chance(kUnseenPieces))) continue;
    write.has_only_rest = write.has_only_rest && changes_nothing;
    std::memcpy(there, write.data() + (from - begin), to - from);
    write.placed[piece] = true;
    write.arrived += to - from;
    --now;
  }
}

void SimQueuePair::Complete(const WriteRequest& request) {
  const std::int64_t last_ns = ended.empty() ? 0 : ended.back().due_ns;
  const std::int64_t due_ns = network->time_->now_ns() + network->random_.Between(0, network->options_.completion_ns);
  ended.push_back({.completion = {.wr_id = request.wr_id, .status = WriteStatus::kDone},
                   .is_reported = request.signaled,
                   .due_ns = std::max(last_ns, due_ns)});
}

void SimQueuePair::Break() {
  if (is_broken) return;
  is_broken = true;
  const std::int64_t now_ns = network->time_->now_ns();
  for (const Write& write : under_way) {
    if (!network->options_.completion_frees_memory) break;  // they are complete already
    ended.push_back({.completion = {.wr_id = write.request.wr_id, .status = WriteStatus::kPeerUnreachable},
                     .is_reported = true,
                     .due_ns = now_ns});
  }
  under_way.clear();
}

std::int64_t SimQueuePair::NextDueNs() const {
  std::int64_t due_ns = kNever;
  if (!under_way.empty()) {
    due_ns =
        under_way.front().Waits(network->time_->now_ns()) ? under_way.front().rest_due_ns : under_way.front().due_ns;
    const std::int64_t given_up_ns = due_ns + network->options_.retries_ns;
    const std::int64_t held_until_ns =
        network->silent_.contains(peer) ? kNever : network->HeldUntil(owner->node(), peer);
    if (held_until_ns > due_ns) due_ns = std::min(held_until_ns, given_up_ns);
  }
  if (!ended.empty()) due_ns = std::min(due_ns, ended.front().due_ns);
  return due_ns;
}

}  // namespace glaive::sim
