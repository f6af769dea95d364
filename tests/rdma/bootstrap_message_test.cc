#include <limits>
#include <string>
#include <variant>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "rdma/bootstrap/message.h"

namespace glaive::rdma {
namespace {

using ::testing::HasSubstr;

// What arrives at the other end.
ControlMessage RoundTrip(const ControlMessage& message) {
  FrameDecoder decoder({.max_header_bytes = 1 << 20, .max_payload_bytes = 1 << 20});
  decoder.Append(EncodeMessage(message));
  absl::StatusOr<ControlMessage> decoded = DecodeMessage(decoder.Next().value().value());
  EXPECT_TRUE(decoded.ok()) << decoded.status();
  return decoded.ok() ? *decoded : ControlMessage{};
}

TEST(ControlMessage, HelloArrivesWithAllItsFields) {
  const Hello sent{.program = "ysb",
                   .commit = "abc",
                   .rank = NodeId{2},
                   .nodes = 4,
                   .executors_per_node = 3,
                   .host_id = "host",
                   .pid = 4711,
                   .settings = {{"slot-bytes", "64KiB"}, {"output", "a \"b\"\n.csv"}}};
  const Hello got = std::get<Hello>(RoundTrip(sent));
  EXPECT_EQ(got.protocol_version, kBootstrapProtocolVersion);
  EXPECT_EQ(got.program, "ysb");
  EXPECT_EQ(got.commit, "abc");
  EXPECT_EQ(got.rank, NodeId{2});
  EXPECT_EQ(got.nodes, 4U);
  EXPECT_EQ(got.executors_per_node, 3U);
  EXPECT_EQ(got.host_id, "host");
  EXPECT_EQ(got.pid, 4711);
  EXPECT_EQ(got.settings, sent.settings);
}

TEST(ControlMessage, WelcomeKeepsAllBitsOfTheToken) {
  const auto got = std::get<WelcomeMessage>(RoundTrip(WelcomeMessage{
      .run_token = std::numeric_limits<std::uint64_t>::max(),
      .members = {{.rank = NodeId{0}, .host_id = "a", .pid = 1}, {.rank = NodeId{1}, .host_id = "b", .pid = 2}}}));
  EXPECT_EQ(got.run_token, std::numeric_limits<std::uint64_t>::max());
  ASSERT_EQ(got.members.size(), 2U);
  EXPECT_EQ(got.members[0].host_id, "a");
  EXPECT_EQ(got.members[1].rank, NodeId{1});
}

TEST(ControlMessage, PayloadsAreAnyBytes) {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes.push_back(static_cast<char>(byte));
  EXPECT_EQ(std::get<GatherMessage>(RoundTrip(GatherMessage{.phase = "p", .payload = bytes})).payload, bytes);
  EXPECT_EQ(std::get<PartMessage>(RoundTrip(PartMessage{.phase = "p", .rank = NodeId{1}, .payload = bytes})).payload,
            bytes);
}

TEST(ControlMessage, TheHandshakeKeepsEveryByte) {
  Nonce nonce{};
  Digest proof{};
  for (std::size_t i = 0; i < nonce.size(); ++i) {
    nonce[i] = static_cast<std::uint8_t>(8 * i + 3);
    proof[i] = static_cast<std::uint8_t>(255 - i);
  }
  EXPECT_EQ(std::get<ChallengeMessage>(RoundTrip(ChallengeMessage{.nonce = nonce})).nonce, nonce);
  const auto answer = std::get<AnswerMessage>(RoundTrip(AnswerMessage{.nonce = nonce, .proof = proof}));
  EXPECT_EQ(answer.nonce, nonce);
  EXPECT_EQ(answer.proof, proof);
  EXPECT_EQ(std::get<AcceptMessage>(RoundTrip(AcceptMessage{.proof = proof})).proof, proof);
}

TEST(ControlMessage, TextThatIsNotUtf8StillGoesThrough) {
  const auto got = std::get<AbortMessage>(RoundTrip(AbortMessage{absl::NotFoundError("no file \xff\xfe")}));
  EXPECT_EQ(got.reason.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(got.reason.message(), HasSubstr("no file"));
}

TEST(ControlMessage, AnAbortIsNeverOk) {
  const auto decoded = DecodeMessage({.header = R"({"type":"abort","code":0,"text":""})", .payload = ""});
  ASSERT_TRUE(decoded.ok());
  EXPECT_FALSE(std::get<AbortMessage>(*decoded).reason.ok());
}

TEST(ControlMessage, AHelloOfAnotherVersionNeedOnlySayItsVersionAndRank) {
  const auto decoded = DecodeMessage({.header = R"({"type":"hello","protocol":99,"rank":3})", .payload = ""});
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(std::get<Hello>(*decoded).protocol_version, 99U);
}

TEST(ControlMessage, RefusesWhatIsMissingOrOfTheWrongTypeByName) {
  const auto error = [](const char* header) {
    const auto decoded = DecodeMessage({.header = header, .payload = ""});
    EXPECT_EQ(decoded.status().code(), absl::StatusCode::kInvalidArgument) << header;
    return std::string(decoded.status().message());
  };
  EXPECT_THAT(error(""), HasSubstr("no JSON object"));
  EXPECT_THAT(error("{"), HasSubstr("no JSON object"));
  EXPECT_THAT(error("[]"), HasSubstr("no JSON object"));
  EXPECT_THAT(error("7"), HasSubstr("no JSON object"));
  EXPECT_THAT(error("{}"), HasSubstr("unknown type"));
  EXPECT_THAT(error(R"({"type":7})"), HasSubstr("unknown type"));
  EXPECT_THAT(error(R"({"type":"gather"})"), HasSubstr("'phase'"));
  EXPECT_THAT(error(R"({"type":"part","phase":"p","rank":-1})"), HasSubstr("'rank'"));
  EXPECT_THAT(error(R"({"type":"part","phase":"p","rank":4294967296})"), HasSubstr("'rank'"));
  EXPECT_THAT(error(R"({"type":"part","phase":"p","rank":1.5})"), HasSubstr("'rank'"));
  EXPECT_THAT(error(R"({"type":"abort","code":"x","text":""})"), HasSubstr("'code'"));
  EXPECT_THAT(error(R"({"type":"challenge","nonce":"00"})"), HasSubstr("'nonce' is not 64 hexadecimal digits"));
  EXPECT_THAT(error((R"({"type":"accept","proof":")" + std::string(64, 'g') + "\"}").c_str()), HasSubstr("'proof'"));
  EXPECT_THAT(error(R"({"type":"welcome","token":1,"members":[7]})"), HasSubstr("'rank'"));
  EXPECT_THAT(error(R"({"type":"welcome","token":1,"members":{}})"), HasSubstr("'members'"));
  EXPECT_THAT(error(R"({"type":"hello","protocol":3,"rank":0,"program":"p","commit":"c","nodes":1,"executors":1,)"
                    R"("host":"h","pid":1,"settings":{"keys":7}})"),
              HasSubstr("'settings.keys'"));
}

}  // namespace
}  // namespace glaive::rdma
