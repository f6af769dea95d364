#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "rdma/bootstrap/frame.h"

namespace glaive::rdma {
namespace {

using ::testing::HasSubstr;

constexpr FrameLimits kLimits{.max_header_bytes = 100, .max_payload_bytes = 1000};

TEST(FrameDecoder, GivesBackWhatWasEncodedHoweverTheBytesAreCut) {
  const std::string payload = std::string("any\0bytes\xff", 10);
  const std::string stream = EncodeFrame("first", payload) + EncodeFrame("", "") + EncodeFrame("third", "");
  for (std::size_t piece = 1; piece <= stream.size(); ++piece) {
    FrameDecoder decoder(kLimits);
    std::vector<Frame> frames;
    for (std::size_t at = 0; at < stream.size(); at += piece) {
      decoder.Append(std::string_view(stream).substr(at, piece));
      while (true) {
        auto frame = decoder.Next();
        ASSERT_TRUE(frame.ok()) << frame.status();
        if (!frame->has_value()) break;
        frames.push_back(**frame);
      }
    }
    ASSERT_EQ(frames.size(), 3U) << "pieces of " << piece;
    EXPECT_EQ(frames[0].header, "first");
    EXPECT_EQ(frames[0].payload, payload);
    EXPECT_EQ(frames[1].header, "");
    EXPECT_EQ(frames[2].header, "third");
  }
}

TEST(FrameDecoder, RefusesAnotherProtocolAtItsFirstWrongByte) {
  FrameDecoder decoder(kLimits);
  decoder.Append("GET / HTTP/1.1\r\n");
  EXPECT_EQ(decoder.Next().status().code(), absl::StatusCode::kInvalidArgument);

  FrameDecoder short_decoder(kLimits);
  short_decoder.Append("GX");
  EXPECT_FALSE(short_decoder.Next().ok());
}

TEST(FrameDecoder, RefusesASizeOverTheLimitBeforeTheBytesCome) {
  FrameDecoder decoder(kLimits);
  decoder.Append(EncodeFrame(std::string(101, 'x'), "").substr(0, kFramePrefixBytes));
  const absl::Status status = decoder.Next().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("101 + 0"));
  EXPECT_THAT(status.message(), HasSubstr("100 + 1000"));

  FrameDecoder payload_decoder(kLimits);
  payload_decoder.Append(EncodeFrame("", std::string(1001, 'x')).substr(0, kFramePrefixBytes));
  EXPECT_FALSE(payload_decoder.Next().ok());
}

TEST(FrameDecoder, TakesSizesThatAreJustAtTheLimit) {
  FrameDecoder decoder(kLimits);
  decoder.Append(EncodeFrame(std::string(100, 'h'), std::string(1000, 'p')));
  auto frame = decoder.Next();
  ASSERT_TRUE(frame.ok());
  EXPECT_EQ(frame->value().payload.size(), 1000U);
}

}  // namespace
}  // namespace glaive::rdma
