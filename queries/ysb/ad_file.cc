#include "queries/ysb/ad_file.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"

#include "engine/format/line_parser.h"
#include "engine/source/line_reader.h"
#include "queries/ysb/uuid.h"

namespace glaive::queries::ysb {
namespace {

using Uuid = std::array<std::uint8_t, 16>;

/// The ads read so far.
class AdReader {
 public:
  /// What is wrong with a line, if anything is.
  std::optional<std::string> Take(std::string_view line) {
    int keys = 0;  // an object keeps the last of several with one name
    const auto count = [&keys](int /*depth*/, nlohmann::json::parse_event_t event, const nlohmann::json& /*parsed*/) {
      keys += event == nlohmann::json::parse_event_t::key ? 1 : 0;
      return true;
    };
    const auto object = nlohmann::json::parse(line.begin(), line.end(), count, /*allow_exceptions=*/false);
    // The lexer takes a NUL byte for the end of the line.
    if (line.find('\0') != std::string_view::npos || !object.is_object() || keys != 1 || !object.begin()->is_string()) {
      return absl::StrCat(engine::Quoted(line), " is no ad with its campaign, {\"<UUID>\": \"<UUID>\"}");
    }
    const std::string& campaign_text = object.begin()->get_ref<const std::string&>();
    Uuid campaign;
    Ad ad;
    if (!ParseUuid(object.begin().key(), ad.uuid) || !ParseUuid(campaign_text, campaign)) {
      return absl::StrCat(engine::Quoted(line), " has something other than UUIDs in it");
    }
    ad.id = IdOf(ad.uuid);
    ad.campaign = IdOf(campaign);
    if (ad.id == 0 || ad.campaign == 0) {
      return absl::StrCat(engine::Quoted(ad.id == 0 ? object.begin().key() : campaign_text),
                          " begins with 8 zero bytes: these are its id, and 0 is none");
    }
    if (const auto [known, is_new] = ads_by_id_.emplace(ad.id, ad.uuid); !is_new) {
      return known->second == ad.uuid ? absl::StrCat("the ad ", object.begin().key(), " is there twice")
                                      : absl::StrCat("another ad has the first 8 bytes of ", object.begin().key());
    }
    if (campaigns_by_id_.emplace(ad.campaign, campaign).first->second != campaign) {
      return absl::StrCat("another campaign has the first 8 bytes of ", campaign_text);
    }
    ads_.push_back(ad);
    return std::nullopt;
  }

  std::vector<Ad>& ads() { return ads_; }

 private:
  std::vector<Ad> ads_;
  std::unordered_map<std::uint64_t, Uuid> ads_by_id_;
  std::unordered_map<std::uint64_t, Uuid> campaigns_by_id_;
};

}  // namespace

absl::StatusOr<std::vector<Ad>> ReadAds(const std::string& path, const Watch& watch) {
  absl::StatusOr<engine::ListedFile> file = engine::ListFile(path);
  if (!file.ok()) {
    return file.status();
  }
  engine::LineReader lines(engine::WholeFiles({*std::move(file)}));
  AdReader reader;
  while (true) {
    switch (lines.Next()) {
      case engine::LineEvent::kHeader:  // by other rules
      case engine::LineEvent::kLine:
        if (const std::optional<std::string> fault = reader.Take(lines.line())) {
          return absl::FailedPreconditionError(absl::StrCat(path, ":", lines.line_number(), ":1: ", *fault));
        }
        break;
      case engine::LineEvent::kFault:
        return absl::FailedPreconditionError(lines.fault());
      case engine::LineEvent::kWait:
        if (absl::Status status = watch(); !status.ok()) {
          return status;
        }
        if (absl::Status status = lines.Read(); !status.ok()) {
          return status;
        }
        break;
      case engine::LineEvent::kEnd:
        if (reader.ads().empty()) {
          return absl::FailedPreconditionError(absl::StrCat(path, ": has no ads"));
        }
        return std::move(reader.ads());
    }
  }
}

}  // namespace glaive::queries::ysb
