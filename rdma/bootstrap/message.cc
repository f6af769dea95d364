#include "rdma/bootstrap/message.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"

namespace glaive::rdma {
namespace {

using Json = nlohmann::json;

// Reads the fields of one object and remembers the first that is not as it should be.
class ObjectReader {
 public:
  explicit ObjectReader(const Json& object) : object_(object) {}

  std::string Text(absl::string_view name) {
    const Json* field = Find(name);
    if (field != nullptr && field->is_string()) return field->get<std::string>();
    Wrong(name, "a string");
    return {};
  }

  std::uint64_t U64(absl::string_view name) {
    const Json* field = Find(name);
    if (field != nullptr && field->is_number_unsigned()) return field->get<std::uint64_t>();
    Wrong(name, "an unsigned integer");
    return 0;
  }

  std::uint32_t U32(absl::string_view name) {
    const std::uint64_t value = U64(name);
    if (value > std::numeric_limits<std::uint32_t>::max()) Wrong(name, "an unsigned integer of 32 bits");
    return static_cast<std::uint32_t>(value);
  }

  std::map<std::string, std::string> TextMap(absl::string_view name) {
    std::map<std::string, std::string> result;
    const Json* field = Find(name);
    if (field == nullptr || !field->is_object()) {
      Wrong(name, "an object");
      return result;
    }
    for (const auto& [key, value] : field->items()) {
      if (!value.is_string()) Wrong(absl::StrCat(name, ".", key), "a string");
      if (value.is_string()) result[key] = value.get<std::string>();
    }
    return result;
  }

  const Json& Array(absl::string_view name) {
    const Json* field = Find(name);
    if (field != nullptr && field->is_array()) return *field;
    Wrong(name, "an array");
    return empty_;
  }

  /// As many bytes as `Bytes` has, in hexadecimal digits.
  template <typename Bytes>
  Bytes Hex(absl::string_view name) {
    Bytes bytes{};
    const std::string digits = Text(name);
    if (digits.size() != 2 * bytes.size() || !std::all_of(digits.begin(), digits.end(), absl::ascii_isxdigit)) {
      Wrong(name, absl::StrCat(2 * bytes.size(), " hexadecimal digits"));
      return bytes;
    }
    const std::string decoded = absl::HexStringToBytes(digits);
    std::copy(decoded.begin(), decoded.end(), bytes.begin());
    return bytes;
  }

  void Adopt(const absl::Status& status) { status_.Update(status); }
  const absl::Status& status() const { return status_; }

 private:
  const Json* Find(absl::string_view name) const {
    if (!object_.is_object()) return nullptr;
    const auto found = object_.find(std::string(name));
    return found == object_.end() ? nullptr : &*found;
  }

  void Wrong(absl::string_view name, absl::string_view expected) {
    status_.Update(absl::InvalidArgumentError(absl::StrCat("its field '", name, "' is not ", expected)));
  }

  const Json& object_;
  const Json empty_ = Json::array();
  absl::Status status_;
};

std::int64_t ToPid(std::uint64_t value) { return static_cast<std::int64_t>(value & 0x7fffffffu); }

std::string HexOf(std::span<const std::uint8_t> bytes) {
  const std::string_view text = AsText(bytes);
  return absl::BytesToHexString({text.data(), text.size()});
}

Json ToJson(const ChallengeMessage& challenge) { return {{"type", "challenge"}, {"nonce", HexOf(challenge.nonce)}}; }

Json ToJson(const AnswerMessage& answer) {
  return {{"type", "answer"}, {"nonce", HexOf(answer.nonce)}, {"proof", HexOf(answer.proof)}};
}

Json ToJson(const AcceptMessage& accept) { return {{"type", "accept"}, {"proof", HexOf(accept.proof)}}; }

Json ToJson(const Hello& hello) {
  return {{"type", "hello"},
          {"protocol", hello.protocol_version},
          {"program", hello.program},
          {"commit", hello.commit},
          {"rank", Value(hello.rank)},
          {"nodes", hello.nodes},
          {"executors", hello.executors_per_node},
          {"host", hello.host_id},
          {"pid", static_cast<std::uint64_t>(hello.pid)},
          {"settings", hello.settings}};
}

Json ToJson(const WelcomeMessage& welcome) {
  Json members = Json::array();
  for (const Member& member : welcome.members) {
    members.push_back(
        {{"rank", Value(member.rank)}, {"host", member.host_id}, {"pid", static_cast<std::uint64_t>(member.pid)}});
  }
  return {{"type", "welcome"}, {"token", welcome.run_token}, {"members", std::move(members)}};
}

Json ToJson(const GatherMessage& gather) { return {{"type", "gather"}, {"phase", gather.phase}}; }

Json ToJson(const PartMessage& part) { return {{"type", "part"}, {"phase", part.phase}, {"rank", Value(part.rank)}}; }

Json ToJson(const AbortMessage& abort) {
  return {{"type", "abort"},
          {"code", static_cast<std::uint32_t>(abort.reason.code())},
          {"text", std::string(abort.reason.message())}};
}

Json ToJson(const LeaveMessage&) { return {{"type", "leave"}}; }

Json ToJson(const BeatMessage&) { return {{"type", "beat"}}; }

std::string_view PayloadOf(const ControlMessage& message) {
  if (const auto* gather = std::get_if<GatherMessage>(&message)) return gather->payload;
  if (const auto* part = std::get_if<PartMessage>(&message)) return part->payload;
  return {};
}

ControlMessage ReadHello(ObjectReader& fields) {
  Hello hello;
  hello.protocol_version = fields.U32("protocol");
  hello.rank = NodeId{fields.U32("rank")};
  // Another version may spell the rest differently; it is refused for its version all the same.
  if (hello.protocol_version != kBootstrapProtocolVersion) return hello;
  hello.program = fields.Text("program");
  hello.commit = fields.Text("commit");
  hello.nodes = fields.U32("nodes");
  hello.executors_per_node = fields.U32("executors");
  hello.host_id = fields.Text("host");
  hello.pid = ToPid(fields.U64("pid"));
  hello.settings = fields.TextMap("settings");
  return hello;
}

ControlMessage ReadWelcome(ObjectReader& fields) {
  WelcomeMessage welcome;
  welcome.run_token = fields.U64("token");
  for (const Json& entry : fields.Array("members")) {
    ObjectReader member(entry);
    welcome.members.push_back(
        {.rank = NodeId{member.U32("rank")}, .host_id = member.Text("host"), .pid = ToPid(member.U64("pid"))});
    fields.Adopt(member.status());
  }
  return welcome;
}

ControlMessage ReadAbort(ObjectReader& fields) {
  const auto code = static_cast<absl::StatusCode>(fields.U32("code"));
  absl::Status reason(code, fields.Text("text"));
  if (reason.ok()) reason = absl::UnknownError("no reason given");
  return AbortMessage{std::move(reason)};
}

}  // namespace

std::string EncodeMessage(const ControlMessage& message) {
  const Json header = std::visit([](const auto& alternative) { return ToJson(alternative); }, message);
  return EncodeFrame(header.dump(-1, ' ', false, Json::error_handler_t::replace), PayloadOf(message));
}

absl::StatusOr<ControlMessage> DecodeMessage(Frame frame) {
  const Json header = Json::parse(frame.header, nullptr, /*allow_exceptions=*/false);
  if (!header.is_object()) return absl::InvalidArgumentError("it sent a frame whose header is no JSON object");
  ObjectReader fields(header);
  const std::string type = fields.Text("type");
  ControlMessage message;
  if (type == "challenge") {
    message = ChallengeMessage{.nonce = fields.Hex<Nonce>("nonce")};
  } else if (type == "answer") {
    message = AnswerMessage{.nonce = fields.Hex<Nonce>("nonce"), .proof = fields.Hex<Digest>("proof")};
  } else if (type == "accept") {
    message = AcceptMessage{.proof = fields.Hex<Digest>("proof")};
  } else if (type == "beat") {
    message = BeatMessage{};
  } else if (type == "hello") {
    message = ReadHello(fields);
  } else if (type == "welcome") {
    message = ReadWelcome(fields);
  } else if (type == "gather") {
    message = GatherMessage{.phase = fields.Text("phase"), .payload = std::move(frame.payload)};
  } else if (type == "part") {
    message = PartMessage{
        .phase = fields.Text("phase"), .rank = NodeId{fields.U32("rank")}, .payload = std::move(frame.payload)};
  } else if (type == "abort") {
    message = ReadAbort(fields);
  } else if (type == "leave") {
    message = LeaveMessage{};
  } else {
    return absl::InvalidArgumentError("it sent a message of an unknown type");
  }
  if (!fields.status().ok()) return fields.status();
  return message;
}

}  // namespace glaive::rdma
