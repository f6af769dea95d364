#include "queries/ysb/generator.h"

#include <cstring>

#include "absl/strings/str_cat.h"

#include "queries/ysb/hash.h"
#include "rdma/base/check.h"

namespace glaive::queries::ysb {
namespace {

__extension__ using Uint128 = unsigned __int128;

constexpr std::uint64_t kMaxKeys = std::uint64_t{1} << 48;
constexpr std::int64_t kMaxMs = std::int64_t{1} << 52;  // 142,000 years

// A number below `bound` from 64 random bits; the bias is below bound / 2^64.
std::uint64_t Below(std::uint64_t bound, std::uint64_t random) {
  return static_cast<std::uint64_t>((Uint128{random} * bound) >> 64);
}

void SetBytes(std::uint8_t (&bytes)[16], std::uint64_t random) {
  const std::uint64_t halves[2] = {random, random * 0xd1b54a32d192ed03};
  std::memcpy(bytes, halves, sizeof(halves));
}

}  // namespace

absl::Status Validate(const GeneratorOptions& options) {
  const auto check = [](const char* option, auto value, auto least, auto most) {
    return value >= least && value <= most
               ? absl::OkStatus()
               : absl::InvalidArgumentError(
                     absl::StrCat("ysb input: ", option, " is ", value, "; it must be from ", least, " to ", most));
  };
  absl::Status status = check("the number of keys", options.keys, std::uint64_t{1}, kMaxKeys);
  status.Update(check("the window in ms", options.window_ms, std::int64_t{1}, kMaxMs));
  status.Update(check("the start time in ms", options.start_time_ms, std::int64_t{0}, kMaxMs));
  status.Update(check("the event rate's number of records", options.rate.records, std::uint64_t{1}, UINT64_MAX));
  status.Update(check("the event rate's span in ms", options.rate.span_ms, std::int64_t{1}, kMaxMs));
  status.Update(check("the hot key's share", options.hot_key_share, 0.0, 1.0));
  return status;
}

Generator::Generator(const GeneratorOptions& options) : options_(options) {
  const absl::Status valid = Validate(options);
  GLAIVE_CHECK(valid.ok(), valid.ToString());
  start_time_ms_ = options.start_time_ms / options.window_ms * options.window_ms;
  hot_threshold_ = static_cast<std::uint64_t>(options.hot_key_share * 4'294'967'296.0);
  if (options.profile == Profile::kYahoo) {
    ads_ = AllAds();
  }
}

YsbEvent Generator::At(std::uint32_t executor, std::uint64_t number) const {
  return Draw(StreamOf(executor), number, EventTimeMs(number));
}

void Generator::Fill(std::uint32_t executor, std::uint64_t first, std::span<YsbEvent> events) const {
  const std::uint64_t stream = StreamOf(executor);
  const auto span_ms = static_cast<std::uint64_t>(options_.rate.span_ms);
  // Event time moves on by a whole and a fractional part: no division in the loop.
  const std::int64_t step_ms = static_cast<std::int64_t>(span_ms / options_.rate.records);
  const Uint128 step_fraction = span_ms % options_.rate.records;
  std::int64_t event_time_ms = EventTimeMs(first);
  Uint128 fraction = Uint128{first} * span_ms % options_.rate.records;
  for (std::size_t i = 0; i < events.size(); ++i) {
    events[i] = Draw(stream, first + i, event_time_ms);
    event_time_ms += step_ms;
    fraction += step_fraction;
    if (fraction >= options_.rate.records) {
      fraction -= options_.rate.records;
      ++event_time_ms;
    }
  }
}

std::int64_t Generator::EventTimeMs(std::uint64_t number) const {
  const Uint128 elapsed_ms =
      Uint128{number} * static_cast<std::uint64_t>(options_.rate.span_ms) / options_.rate.records;
  return start_time_ms_ + static_cast<std::int64_t>(elapsed_ms);
}

std::uint64_t Generator::StreamOf(std::uint32_t executor) const {
  return Mix(Mix(options_.seed) + (executor + std::uint64_t{1}) * kCounterStep);
}

// Each draw hashes its own counter, kDraws of them a record.
inline YsbEvent Generator::Draw(std::uint64_t stream, std::uint64_t number, std::int64_t event_time_ms) const {
  constexpr std::uint64_t kDraws = 6;
  const auto draw = [counter = stream + number * (kDraws * kCounterStep)](std::uint64_t which) {
    return Mix(counter + which * kCounterStep);
  };
  const std::uint64_t kinds = draw(0);
  const std::uint64_t misc = draw(1);
  const bool hot = (kinds & 0xffff'ffff) < hot_threshold_;
  YsbEvent event;
  event.event_time_ms = event_time_ms;
  event.record_number = number;
  event.event_type = static_cast<EventType>(Below(kEventTypes, kinds));
  event.ad_type = static_cast<AdType>(Below(kAdTypes, misc));
  event.ip = static_cast<std::uint32_t>(misc);
  SetBytes(event.user_id, draw(2));
  SetBytes(event.page_id, draw(3));
  if (ads_.empty()) {
    event.ad_id = hot ? 1 : 1 + Below(options_.keys, draw(4));
    SetBytes(event.ad_uuid, draw(5));
  } else {
    const Ad& ad = ads_[hot ? 0 : Below(ads_.size(), draw(4))];
    event.ad_id = ad.id;
    std::memcpy(event.ad_uuid, ad.uuid.data(), sizeof(event.ad_uuid));
  }
  return event;
}

}  // namespace glaive::queries::ysb
