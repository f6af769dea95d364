#include "queries/ysb/generator.h"

#include <cstring>

#include "queries/common/random.h"

namespace glaive::queries::ysb {
namespace {

void SetBytes(std::uint8_t (&bytes)[16], std::uint64_t random) {
  const std::uint64_t halves[2] = {random, random * 0xd1b54a32d192ed03};
  std::memcpy(bytes, halves, sizeof(halves));
}

KeyOptions KeysOf(Profile profile, KeyOptions keys) {
  if (profile == Profile::kYahoo) {
    keys.count = kAds;
  }
  return keys;
}

}  // namespace

YsbGenerator::YsbGenerator(Profile profile, const InputOptions& options)
    : seed_(options.seed), timeline_(options.timeline), keys_(KeysOf(profile, options.keys)) {
  if (profile == Profile::kYahoo) {
    ads_ = AllAds();
  }
}

void YsbGenerator::Fill(std::uint32_t executor, std::uint64_t first, std::span<YsbEvent> events) const {
  const std::uint64_t stream = StreamOf(seed_, executor);
  Timeline::Cursor time = timeline_.From(stream, first);
  for (std::size_t i = 0; i < events.size(); ++i) {
    events[i] = Draw(stream, first + i);
    events[i].event_time_ms = time.Next();
  }
}

inline YsbEvent YsbGenerator::Draw(std::uint64_t stream, std::uint64_t number) const {
  const RecordDraws<6> draw(stream, number);
  const std::uint64_t misc = draw(1);
  YsbEvent event;
  event.record_number = number;
  event.event_type = static_cast<EventType>(Below(kEventTypes, draw(0)));
  event.ad_type = static_cast<AdType>(Below(kAdTypes, misc));
  event.ip = static_cast<std::uint32_t>(misc);
  SetBytes(event.user_id, draw(2));
  SetBytes(event.page_id, draw(3));
  const std::uint64_t key = keys_.Draw(draw(4));
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
