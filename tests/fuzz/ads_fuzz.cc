// Feeds files to the reader of the ad table (`ysb --ads`), and compares what it says with a slow reader of the same
// format: the ads in the file's order, or the first line that is wrong.
//
// An input that begins with '!' is drawn: lines of ads and campaigns out of a few, some with the same id, in any of
// JSON's spellings, then perhaps some damage; the file is plain, or gzip in pieces. Any other input is a file's text.

#include <fuzzer/FuzzedDataProvider.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

#include "queries/ysb/ad_file.h"
#include "rdma/base/watch.h"
#include "tests/fuzz/json/json_reader.h"
#include "tests/fuzz/json/json_spelling.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/parse_outcome.h"
#include "tests/fuzz/require.h"
#include "tests/fuzz/spelling.h"
#include "tests/fuzz/text_lines.h"
#include "tests/fuzz/text_or_drawn.h"
#include "tests/fuzz/uuid_text.h"

namespace glaive::queries::ysb {
namespace {

struct ReadAd {
  UuidBytes ad;
  UuidBytes campaign;
};

/// What the format's description says of a file.
struct Reading {
  std::vector<ReadAd> ads;
  std::uint64_t wrong_line = 0;  // 0: none
};

std::optional<ReadAd> ReadLine(std::string_view line) {
  const std::optional<std::vector<JsonMember>> members = ReadJsonObject(line);
  if (!members.has_value() || members->size() != 1) return std::nullopt;
  const JsonMember& member = members->front();
  const std::optional<UuidBytes> ad = ReadUuid(member.name);
  const std::optional<UuidBytes> campaign = ReadUuid(member.text);
  if (member.kind != JsonMember::Kind::kString || !ad.has_value() || !campaign.has_value()) return std::nullopt;
  return ReadAd{.ad = *ad, .campaign = *campaign};
}

Reading Read(const std::string& text) {
  Reading reading;
  std::map<std::uint64_t, UuidBytes> ads;
  std::map<std::uint64_t, UuidBytes> campaigns;
  for (const FileLine& line : LinesOf(text)) {
    const std::optional<ReadAd> ad = ReadLine(line.text);
    const auto id_of = [](const UuidBytes& bytes) { return FirstBytesOf(bytes); };
    if (!ad.has_value() || id_of(ad->ad) == 0 || id_of(ad->campaign) == 0 ||
        !ads.emplace(id_of(ad->ad), ad->ad).second ||
        campaigns.emplace(id_of(ad->campaign), ad->campaign).first->second != ad->campaign) {
      reading.wrong_line = line.number;
      return reading;
    }
    reading.ads.push_back(*ad);
  }
  return reading;
}

void Check(const std::string& text, const MemoryFile& file) {
  const absl::StatusOr<std::vector<Ad>> ads = ReadAds(file.path(), GoOn);
  const Reading expected = Read(text);
  if (expected.wrong_line != 0 || expected.ads.empty()) {
    Require(!ads.ok(), "a file with a wrong line, or without ads, is refused");
    const std::string_view message(ads.status().message().data(), ads.status().message().size());
    Require(IsMessage(message), "the message is short and printable");
    const std::string place = file.path() + ":" + std::to_string(expected.wrong_line) + ":1: ";
    Require(message.starts_with(expected.wrong_line == 0 ? file.path() + ": has no ads" : place),
            "the message names the first line that is wrong");
    return;
  }
  Require(ads.ok(), "a file of ads is read");
  Require(ads->size() == expected.ads.size(), "every line is an ad");
  for (std::size_t i = 0; i < ads->size(); ++i) {
    const Ad& ad = (*ads)[i];
    Require(ad.uuid == expected.ads[i].ad && ad.id == FirstBytesOf(expected.ads[i].ad) &&
                ad.campaign == FirstBytesOf(expected.ads[i].campaign),
            "an ad has its UUID, its id and its campaign's, and the file's order");
  }
}

/// A text that begins as gzip does is left out: LinesOf does not unpack it.
void CheckText(const std::string& text) {
  if (!text.starts_with(kGzipMagic)) Check(text, MemoryFile(text));
}

/// One of few, so that some are there twice and some only have the first 8 bytes in common.
UuidBytes DrawUuid(FuzzedDataProvider& input) {
  UuidBytes bytes{};
  bytes[7] = input.ConsumeIntegralInRange<std::uint8_t>(0, 15);
  bytes[15] = input.ConsumeIntegralInRange<std::uint8_t>(0, 9) == 0 ? 1 : 0;
  return bytes;
}

void CheckDrawn(FuzzedDataProvider& input) {
  std::string text = input.ConsumeBool() ? "" : "\xef\xbb\xbf";
  for (int left = input.ConsumeIntegralInRange<int>(0, 12); left > 0; --left) {
    const UuidBytes ad = DrawUuid(input);
    const UuidBytes campaign = DrawUuid(input);
    text += SpellBlanks(input) + "{" + SpellBlanks(input) + SpellString(input, SpellUuid(ad, input.ConsumeBool())) +
            SpellBlanks(input) + ":" + SpellBlanks(input) +
            SpellString(input, SpellUuid(campaign, input.ConsumeBool())) + SpellBlanks(input) + "}" +
            SpellBlanks(input);
    text += left == 1 && input.ConsumeBool() ? "" : input.ConsumeBool() ? "\n" : "\r\n \n";
  }
  Damage(input, text);
  const bool is_gzip = input.ConsumeBool();
  const std::vector<std::uint8_t> lengths = input.ConsumeRemainingBytes<std::uint8_t>();
  Check(text, MemoryFile(is_gzip ? GzipMembers(text, lengths) : text));
}

}  // namespace
}  // namespace glaive::queries::ysb

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  glaive::TestTextOrDrawn(data, size, glaive::queries::ysb::CheckText, glaive::queries::ysb::CheckDrawn);
  return 0;
}
