// Encrypted records: by themselves, under a decoder of frames, and over a connection. The expected bytes are computed
// by Python's cryptography module.

#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "rdma/bootstrap/frame.h"
#include "rdma/bootstrap/frame_seal.h"
#include "tests/rdma/bootstrap_cluster.h"
#include "tests/rdma/same_text.h"

namespace glaive::rdma {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr FrameLimits kSealLimits{.max_header_bytes = 100, .max_payload_bytes = std::size_t{1} << 20};

Digest CountingKey() {
  Digest key{};
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::uint8_t>(i);
  return key;
}

// The frames' bytes as records of at most `most` bytes.
std::vector<std::string> RecordsOf(const std::string& stream, std::size_t most) {
  FrameSeal seal(CountingKey());
  std::vector<std::string> records;
  for (std::size_t at = 0; at < stream.size(); at += most) records.push_back(seal.Seal(stream.substr(at, most)));
  return records;
}

std::string Join(const std::vector<std::string>& records) {
  std::string all;
  for (const std::string& record : records) all += record;
  return all;
}

// Headers of the frames that a decoder gives out, and "refused" if it ends the stream.
std::vector<std::string> Decode(const std::string& bytes) {
  FrameDecoder decoder(kSealLimits);
  decoder.set_seal(FrameSeal(CountingKey()));
  decoder.Append(bytes);
  std::vector<std::string> seen;
  while (true) {
    const auto frame = decoder.Next();
    if (!frame.ok()) {
      EXPECT_THAT(frame.status().message(), HasSubstr("somebody interferes"));
      EXPECT_EQ(decoder.Next().status(), frame.status()) << "the stream has ended";
      seen.push_back("refused");
      return seen;
    }
    if (!frame->has_value()) return seen;
    seen.push_back((*frame)->header);
  }
}

struct TwoEnds {
  explicit TwoEnds(FrameLimits limits = kMemberLimits) {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    connection = std::make_unique<Connection>(UniqueFd(ends[0]), "other", limits);
    other = UniqueFd(ends[1]);
  }
  void Write(const std::string& bytes) const {
    ASSERT_EQ(::send(other.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }
  std::string Read() const {
    std::string bytes(std::size_t{1} << 20, '\0');
    const ssize_t got = ::recv(other.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    bytes.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    return bytes;
  }

  std::unique_ptr<Connection> connection;
  UniqueFd other;
};

TEST(FrameSeal, MakesTheRecordsOfTheStandard) {
  FrameSeal seal(CountingKey());
  const std::string first = seal.Seal("first");
  const std::string second = seal.Seal("second");
  EXPECT_EQ(absl::BytesToHexString(first), "0500000068d5c7adc1f498f557adac7fc3dedce9b4fa1d5ab1");
  EXPECT_EQ(absl::BytesToHexString(second), "060000009149e150cacb84548d11e7575c9bf96f5539a9f04459");
  FrameSeal other(CountingKey());
  EXPECT_EQ(other.Open(first), "first");
  EXPECT_EQ(other.Open(second), "second");
}

TEST(FrameSeal, ARecordIsGoodOnceAndInItsTurn) {
  FrameSeal sender(CountingKey());
  const std::string first = sender.Seal("text");
  const std::string second = sender.Seal("text");
  EXPECT_NE(first, second) << "a nonce of its own";
  EXPECT_FALSE(FrameSeal(CountingKey()).Open(second).has_value()) << "the first was left out";
  EXPECT_FALSE(FrameSeal(HmacSha256(CountingKey(), {})).Open(first).has_value()) << "the other direction's key";
  FrameSeal receiver(CountingKey());
  EXPECT_TRUE(receiver.Open(first).has_value());
  EXPECT_FALSE(receiver.Open(first).has_value()) << "it was said twice";
}

TEST(FrameSeal, EveryBitAndEveryByteOfARecordCounts) {
  const std::string record = FrameSeal(CountingKey()).Seal("a text");
  for (std::size_t bit = 0; bit < 8 * record.size(); ++bit) {
    std::string changed = record;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(FrameSeal(CountingKey()).Open(changed).has_value()) << "bit " << bit;
  }
  for (std::size_t size = 0; size < record.size(); ++size) {
    EXPECT_FALSE(FrameSeal(CountingKey()).Open(record.substr(0, size)).has_value()) << size;
  }
}

TEST(FrameSeal, NoNumberIsUsedTwice) {
  constexpr std::uint64_t kLast = std::numeric_limits<std::uint64_t>::max() - 1;
  FrameSeal seal(CountingKey(), kLast);
  const std::string record = seal.Seal("the last one");
  EXPECT_DEATH((void)seal.Seal("one more"), "used up its nonces");
  FrameSeal other(CountingKey(), kLast);
  EXPECT_TRUE(other.Open(record).has_value());
  EXPECT_FALSE(other.Open(record).has_value());
}

TEST(SealedFrames, GiveBackFramesHoweverTheyAreCut) {
  const std::string stream =
      EncodeFrame("first", std::string(100'000, 'x')) + EncodeFrame("second", "") + EncodeFrame("third", "payload");
  for (const std::size_t most : {std::size_t{1000}, kMaxRecordBytes}) {
    const std::string bytes = Join(RecordsOf(stream, most));
    FrameDecoder decoder(kSealLimits);
    decoder.set_seal(FrameSeal(CountingKey()));
    std::vector<std::string> headers;
    for (std::size_t at = 0; at < bytes.size(); at += 777) {
      decoder.Append(std::string_view(bytes).substr(at, 777));
      for (auto frame = decoder.Next(); frame.ok() && frame->has_value(); frame = decoder.Next()) {
        headers.push_back((*frame)->header);
      }
    }
    EXPECT_THAT(headers, testing::ElementsAre("first", "second", "third"));
    EXPECT_EQ(decoder.records(), (stream.size() + most - 1) / most);
  }
}

TEST(SealedFrames, RecordsThatAreChangedLostRepeatedOrSwappedEndTheStream) {
  std::vector<std::string> records;
  FrameSeal seal(CountingKey());
  for (const char* header : {"1", "2", "3"}) records.push_back(seal.Seal(EncodeFrame(header, "")));
  const auto& [a, b, c] = std::tie(records[0], records[1], records[2]);
  EXPECT_THAT(Decode(a + b + c), testing::ElementsAre("1", "2", "3"));
  EXPECT_THAT(Decode(a + c), testing::ElementsAre("1", "refused"));
  EXPECT_THAT(Decode(a + a + b), testing::ElementsAre("1", "refused"));
  EXPECT_THAT(Decode(a + c + b), testing::ElementsAre("1", "refused"));
  EXPECT_THAT(Decode(a + "glaive" + b), testing::ElementsAre("1", "refused"));
  EXPECT_THAT(Decode(a + EncodeFrame("2", "")), testing::ElementsAre("1", "refused")) << "in clear text";
  EXPECT_THAT(Decode(a + b.substr(1) + c), testing::ElementsAre("1", "refused"));
  EXPECT_THAT(Decode(a + b.substr(0, b.size() - 1)), testing::ElementsAre("1")) << "nothing of a record that is cut";
}

TEST(SealedFrames, ALengthThatCannotBeIsRefusedBeforeTheBytesCome) {
  EXPECT_THAT(Decode(std::string("\x01\x80\x00\x00", 4)), testing::ElementsAre("refused"));
  EXPECT_THAT(Decode(std::string("\x00\x00\x00\x00", 4)), testing::ElementsAre("refused"));
  EXPECT_THAT(Decode(std::string("\x00\x80\x00\x00", 4)), testing::IsEmpty()) << "kMaxRecordBytes";
}

TEST(SealedConnection, ShowsNothingOfItsFramesOnTheWire) {
  const TwoEnds ends;
  const std::string payload(100'000, 'K');
  const std::string frame = EncodeMessage(GatherMessage{.phase = "regions", .payload = payload});
  ends.connection->Send(frame);
  EXPECT_EQ(ends.Read(), frame) << "before the handshake ends";
  ends.connection->Seal(CountingKey(), CountingKey());
  ends.connection->Send(frame);
  std::string wire;
  for (std::string bytes = ends.Read(); !bytes.empty(); bytes = ends.Read()) {
    wire += bytes;
    ends.connection->Flush();
  }
  for (const char* secret : {"GLV3", "gather", "regions", "KKKK"}) EXPECT_THAT(wire, Not(HasSubstr(secret)));
  EXPECT_EQ(wire, Join(RecordsOf(frame, kMaxRecordBytes)));
}

TEST(SealedConnection, WhatWasQueuedBeforeTheSealGoesOutInClearText) {
  const TwoEnds ends;
  const std::string large = EncodeFrame("{}", std::string(std::size_t{1} << 20, 'x'));
  ends.connection->Send(large);
  ASSERT_TRUE(ends.connection->wants_write());
  ends.connection->Seal(CountingKey(), CountingKey());
  ends.connection->Send(EncodeFrame("last", ""));
  std::string wire;
  for (std::string bytes = ends.Read(); !bytes.empty(); bytes = ends.Read()) {
    wire += bytes;
    ends.connection->Flush();
  }
  EXPECT_TRUE(SameText(wire, large + Join(RecordsOf(EncodeFrame("last", ""), kMaxRecordBytes))));
}

TEST(SealedConnection, OnlyRecordsAreSignsOfLife) {
  const TwoEnds ends;
  ends.connection->Seal(CountingKey(), CountingKey());
  ends.connection->StartPulse(absl::Seconds(1), 0);
  const std::string record = FrameSeal(CountingKey()).Seal(EncodeMessage(BeatMessage{}));
  std::int64_t now_ms = 0;
  const auto poll = [&] {
    ends.connection->Receive();
    ends.connection->Tend((now_ms += 100) * 1'000'000, /*judge=*/true);
  };
  for (int i = 0; i < 9; ++i) poll();
  ends.Write(record);
  for (int i = 0; i < 10; ++i) poll();  // the first of them finds the record
  EXPECT_FALSE(ends.connection->ended());
  // A record begins and never ends, a byte at each poll.
  ends.Write(std::string("\x00\x80\x00\x00", 4));
  poll();
  EXPECT_TRUE(ends.connection->silent());
}

TEST(SealedConnection, ALongFrameIsASignOfLifeWhileItArrives) {
  const TwoEnds ends;
  ends.connection->Seal(CountingKey(), CountingKey());
  ends.connection->StartPulse(absl::Seconds(1), 0);
  const std::string frame = EncodeMessage(GatherMessage{.phase = "p", .payload = std::string(1 << 20, 'x')});
  std::int64_t now_ms = 0;
  for (const std::string& record : RecordsOf(frame, kMaxRecordBytes)) {
    EXPECT_FALSE((*ends.connection->Next()).has_value());
    ends.Write(record);
    ends.connection->Receive();
    ends.connection->Tend((now_ms += 600) * 1'000'000, /*judge=*/true);
  }
  EXPECT_FALSE(ends.connection->ended());
  EXPECT_TRUE((*ends.connection->Next()).has_value());
}

TEST(StrangersConnection, ReadsNoMoreThanAFrameOfTheHandshake) {
  const TwoEnds ends(kStrangerLimits);
  const std::string header(kStrangerLimits.max_header_bytes, 'h');
  const std::string flood = EncodeFrame(header, "") + EncodeFrame(header, "") + std::string(60'000, 'x');
  ends.Write(flood);
  const auto taken = [&] {
    for (int i = 0; i < 10; ++i) ends.connection->Receive();
    int left = 0;
    EXPECT_EQ(::ioctl(ends.connection->fd(), FIONREAD, &left), 0);
    return flood.size() - static_cast<std::size_t>(left);
  };
  EXPECT_EQ(taken(), kFramePrefixBytes + header.size());
  EXPECT_LE(taken(), 4096U);
}

TEST(FrameDecoder, HasRoomForAFrameAtATimeBeforeItIsSealed) {
  FrameDecoder decoder({.max_header_bytes = 10, .max_payload_bytes = 20});
  EXPECT_EQ(decoder.room(), kFramePrefixBytes + 30);
  const std::string frame = EncodeFrame("header", "payload");
  decoder.Append(frame);
  EXPECT_EQ(decoder.room(), 30U + kFramePrefixBytes - frame.size());
  ASSERT_TRUE(decoder.Next().ok());
  EXPECT_EQ(decoder.room(), kFramePrefixBytes + 30);
}

}  // namespace
}  // namespace glaive::rdma
