// Connection: one nonblocking TCP connection that carries ControlMessages.
//
// Owned by one thread. Nothing here blocks: the owner polls fd() for readability, and for writability while
// wants_write(), then calls Receive and Flush. Messages that arrived before the end of the connection can still be
// taken after it: an Abort is often followed by the end at once.
//
// Seal begins the encrypted part of the connection: handshake.h.
//
//   connection.Send(EncodeMessage(LeaveMessage{}));
//   connection.Receive();
//   while (auto message = *connection.Next()) Handle(*message);
//   if (connection.ended()) Lost(connection.end_reason());
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

#include "rdma/base/address.h"
#include "rdma/base/unique_fd.h"
#include "rdma/bootstrap/frame.h"
#include "rdma/bootstrap/frame_seal.h"
#include "rdma/bootstrap/hello.h"
#include "rdma/bootstrap/hmac.h"
#include "rdma/bootstrap/message.h"
#include "rdma/bootstrap/pulse.h"

namespace glaive::rdma {

/// What may come before the other end has proved to know the secret: a message of the handshake. No more than this is
/// read from a stranger, so its buffer stays below 4 KiB.
inline constexpr FrameLimits kStrangerLimits{.max_header_bytes = 512, .max_payload_bytes = 0};
/// What may come after that: a Hello.
inline constexpr FrameLimits kNewcomerLimits{.max_header_bytes = std::size_t{1} << 16, .max_payload_bytes = 0};
/// What a node of the run may send.
inline constexpr FrameLimits kMemberLimits{.max_header_bytes = std::size_t{1} << 20,
                                           .max_payload_bytes = std::size_t{16} << 20};

class Connection {
 public:
  /// Takes a connected socket and makes it nonblocking, without delay, with keep-alive. `peer` is for messages.
  Connection(UniqueFd fd, std::string peer, FrameLimits limits);

  int fd() const { return fd_.get(); }
  const std::string& peer() const { return peer_; }
  SocketAddress local_address() const { return LocalAddress(fd_.get()); }
  void set_limits(FrameLimits limits) { decoder_.set_limits(limits); }

  /// From the next frame on, records under these keys carry what is sent and received.
  void Seal(const Digest& sending, const Digest& receiving);
  bool sealed() const { return seal_.has_value(); }

  /// Queues a frame, shared so that one frame for all nodes exists once, and sends what the socket takes now. It is
  /// encrypted record by record on its way.
  void Send(std::shared_ptr<const std::string> frame);
  void Send(std::string frame) { Send(std::make_shared<const std::string>(std::move(frame))); }

  /// Sends what the socket takes now.
  void Flush();
  bool wants_write() const { return sent_of_chunk_ < chunk_.size() || !outbound_.empty(); }

  /// Reads what has arrived, at most about 1 MiB at a time; before Seal, no more than the longest frame allowed.
  void Receive();

  /// From now on the other end has to be heard; see pulse.h. Only records show that it is alive.
  void StartPulse(absl::Duration peer_timeout, std::int64_t now_ns) { pulse_.emplace(peer_timeout, now_ns); }
  /// After Receive: lets the other end hear from this one now and then, once the connection is sealed, and if `judge`
  /// ends the connection when that has been silent for too long.
  void Tend(std::int64_t now_ns, bool judge);

  /// The next message that arrived whole. An error: the peer does not keep to the protocol.
  absl::StatusOr<std::optional<ControlMessage>> Next();

  /// Whether the peer closed the connection, it broke or fell silent, and how.
  bool ended() const { return !end_reason_.empty(); }
  const std::string& end_reason() const { return end_reason_; }
  /// Whether it ended because nothing came.
  bool silent() const { return silent_; }

  /// Why the run ends for this node, `self`, when `loss` is what the connection's end, or a message from it, says: if
  /// this node has not polled for so long that the others lost it, then that, and `loss`. Other errors stay as they
  /// are.
  absl::Status ExplainLoss(const absl::Status& loss, const Member& self) const;

  /// Says that nothing more will be sent; what the peer sent can still be received.
  void ShutdownWrite();

 private:
  struct Outbound {
    std::shared_ptr<const std::string> frame;
    bool sealed;
  };

  /// Makes the next bytes of the queued frames ready for the socket, as a record once the connection is sealed. False
  /// when there are none.
  bool TakeChunk();

  UniqueFd fd_;
  std::string peer_;
  FrameDecoder decoder_;
  std::optional<FrameSeal> seal_;  // of what is sent
  std::optional<Pulse> pulse_;
  std::deque<Outbound> outbound_;
  std::size_t taken_of_first_ = 0;  // bytes of its first frame that have been in chunk_
  std::string chunk_;               // on its way into the socket
  std::size_t sent_of_chunk_ = 0;
  std::string end_reason_;
  bool silent_ = false;
};

}  // namespace glaive::rdma
