#include "queries/ysb/generator.h"

#include <cstring>

#include "queries/common/random.h"

namespace glaive::queries::ysb {
namespace {

void SetBytes(std::uint8_t (&bytes)[16], std::uint64_t random) {
  const std::uint64_t halves[2] = {random, random * 0xd1b54a32d192ed03};
  std::memcpy(bytes, halves, sizeof(halves));
}

InputOptions OptionsOf(Profile profile, InputOptions options) {
  if (profile == Profile::kYahoo) {
    options.keys.count = kAds;
  }
  return options;
}

}  // namespace

YsbGenerator::YsbGenerator(Profile profile, const InputOptions& options) : DrawnGenerator(OptionsOf(profile, options)) {
  if (profile == Profile::kYahoo) {
    ads_ = AllAds();
  }
}

YsbEvent YsbGenerator::Make(std::int64_t event_time_ms, const Draws& draw) const {
  const std::uint64_t misc = draw(1);
  YsbEvent event;
  event.record_number = draw.number();
  event.event_time_ms = event_time_ms;
  event.event_type = static_cast<EventType>(Below(kEventTypes, draw(0)));
  event.ad_type = static_cast<AdType>(Below(kAdTypes, misc));
  event.ip = static_cast<std::uint32_t>(misc);
  SetBytes(event.user_id, draw(2));
  SetBytes(event.page_id, draw(3));
  const std::uint64_t key = keys().Draw(draw(4));
  if (ads_.empty()) {
    event.ad_id = key;
    SetBytes(event.ad_uuid, draw(5));
  } else {
    const Ad& ad = ads_[key - 1];
    event.ad_id = ad.id;
    std::memcpy(event.ad_uuid, ad.uuid.data(), sizeof(event.ad_uuid));
  }
  return event;
}

}  // namespace glaive::queries::ysb
