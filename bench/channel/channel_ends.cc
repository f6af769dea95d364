#include "bench/channel/channel_ends.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include "bench/common/or_die.h"

namespace glaive::bench {
namespace {

using rdma::ChannelReceiver;
using rdma::ExecutorMesh;
using rdma::Message;
using rdma::SegmentId;

double SecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Sends messages of a full slot as long as that is possible, at most `limit`; how many. They still need a Flush.
std::uint64_t SendAvailable(ExecutorMesh& mesh, ExecutorId peer, std::uint64_t limit) {
  OrDie(mesh.Poll());
  std::uint64_t sent = 0;
  for (; sent < limit && mesh.sender(peer).HasCredit(); ++sent) {
    const std::optional<SegmentId> segment = mesh.segments().TryAcquire();
    if (!segment) break;
    if (!mesh.sender(peer).TrySend(*segment, mesh.segments().payload_capacity(), rdma::MessageTag())) {
      mesh.segments().Release(*segment);
      break;
    }
  }
  return sent;
}

void SendOne(const ChannelCase& shape, ExecutorMesh& mesh, ExecutorId peer) {
  SpinUntil([&] { return SendAvailable(mesh, peer, 1) == 1; }, shape.attempts_before_yield());
  mesh.Flush();
}

void ReceiveOne(const ChannelCase& shape, ExecutorMesh& mesh, ExecutorId peer) {
  SpinUntil(
      [&] {
        OrDie(mesh.Poll());
        return OrDie(mesh.receiver(peer).TryReceive()).has_value();
      },
      shape.attempts_before_yield());
  mesh.receiver(peer).Release();
}

}  // namespace

double SendingEnd::Send(std::uint64_t messages) {
  const auto start = std::chrono::steady_clock::now();
  std::uint64_t sent = 0;
  std::vector<std::uint64_t> left(meshes_.size(), messages / meshes_.size());
  left[0] += messages % meshes_.size();
  // A turn of all channels, as an executor takes it; while there is something to send, turn follows turn.
  const auto take_turn = [&] {
    std::uint64_t now = 0;
    for (std::size_t i = 0; i < meshes_.size(); ++i) {
      const std::uint64_t count = SendAvailable(*meshes_[i], kReceiver, left[i]);
      meshes_[i]->Flush();
      left[i] -= count;
      now += count;
    }
    sent += now;
    return now;
  };
  SpinUntil(
      [&] {
        while (sent < messages && take_turn() > 0) {
        }
        return sent == messages;
      },
      shape_.attempts_before_yield());
  SpinUntil([this] { return CreditsAreBack(); }, shape_.attempts_before_yield());
  return SecondsSince(start);
}

bool SendingEnd::CreditsAreBack() {
  return std::all_of(meshes_.begin(), meshes_.end(), [](const auto& mesh) {
    OrDie(mesh->Poll());
    return mesh->sender(kReceiver).consumed() == mesh->sender(kReceiver).sent();
  });
}

double SendingEnd::Echo(std::uint64_t messages) {
  const auto start = std::chrono::steady_clock::now();
  for (std::uint64_t i = 0; i < messages; ++i) {
    SendOne(shape_, *meshes_.front(), kReceiver);
    ReceiveOne(shape_, *meshes_.front(), kReceiver);
  }
  return SecondsSince(start);
}

void ReceivingEnd::Receive(std::uint64_t messages) {
  std::uint64_t received = 0;
  SpinUntil(
      [&] {
        // Something came, so something may come at once: start to count idle turns anew.
        while (received < messages) {
          const std::uint64_t more = TakeTurn();
          if (more == 0) break;
          received += more;
        }
        return received >= messages;
      },
      shape_.attempts_before_yield());
  ReturnCredits();
}

std::uint64_t ReceivingEnd::TakeTurn() {
  std::uint64_t received = 0;
  for (const auto& mesh : meshes_) {
    OrDie(mesh->Poll());
    received += ReceiveAvailable(*mesh);
    mesh->Flush();
  }
  return received;
}

// A turn of one mesh, as an executor takes it.
std::uint64_t ReceivingEnd::ReceiveAvailable(ExecutorMesh& mesh) {
  if (mesh.arrivals() == 0) {
    mesh.FlushCredits();
    return 0;
  }
  std::uint64_t received = 0;
  for (; mesh.arrivals() > 0 && received < shape_.credits; ++received) {
    ChannelReceiver& receiver = mesh.NextArrival();
    const std::optional<Message> message = OrDie(receiver.TryReceive());
    if (!message.has_value()) break;  // with --arrival=poll a part of it is under way
    if (shape_.read_payload) sum_ += ReadEveryByte(message->payload);
    receiver.Release();
    mesh.Flush();  // a credit that is held back keeps the sender waiting
  }
  return received;
}

void ReceivingEnd::ReturnCredits() {
  for (const auto& mesh : meshes_) {
    for (std::uint32_t sender = 0; sender < shape_.senders; ++sender) {
      SpinUntil(
          [&] {
            OrDie(mesh->Poll());
            return mesh->receiver(ExecutorId{Value(kFirstSender) + sender}).FlushCredits();
          },
          shape_.attempts_before_yield());
      mesh->Flush();
    }
  }
}

void ReceivingEnd::Echo(std::uint64_t messages) {
  for (std::uint64_t i = 0; i < messages; ++i) {
    ReceiveOne(shape_, *meshes_.front(), kFirstSender);
    SendOne(shape_, *meshes_.front(), kFirstSender);
  }
}

std::uint64_t ReadEveryByte(std::span<const std::byte> data) {
  std::uint64_t sum = 0;
  const auto* const words = reinterpret_cast<const std::uint64_t*>(data.data());
  for (std::size_t i = 0; i < data.size() / sizeof(std::uint64_t); ++i) sum += words[i];
  return sum;
}

}  // namespace glaive::bench
