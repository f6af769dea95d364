#include "queries/common/timeline.h"

#include "absl/strings/str_cat.h"

#include "rdma/base/check.h"

namespace glaive::queries {
namespace {

__extension__ using Uint128 = unsigned __int128;

constexpr std::int64_t kMaxMs = std::int64_t{1} << 52;  // 142,000 years

}  // namespace

absl::Status Validate(const TimelineOptions& options) {
  const auto check = [](const char* option, auto value, auto least, auto most) {
    return value >= least && value <= most ? absl::OkStatus()
                                           : absl::InvalidArgumentError(absl::StrCat(
                                                 option, " is ", value, "; it must be from ", least, " to ", most));
  };
  absl::Status status = check("what the start is a multiple of, in ms,", options.align_ms, std::int64_t{1}, kMaxMs);
  status.Update(check("the start time in ms", options.start_time_ms, std::int64_t{0}, kMaxMs));
  status.Update(check("the event rate's number of records", options.rate.records, std::uint64_t{1}, UINT64_MAX));
  status.Update(check("the event rate's span in ms", options.rate.span_ms, std::int64_t{1}, kMaxMs));
  status.Update(check("the disorder in ms", options.disorder_ms, std::int64_t{0}, kMaxMs));
  return status;
}

Timeline::Timeline(const TimelineOptions& options) : options_(options) {
  const absl::Status valid = Validate(options);
  GLAIVE_CHECK(valid.ok(), valid.ToString());
  start_time_ms_ = options.start_time_ms / options.align_ms * options.align_ms;
}

std::int64_t Timeline::InOrderMs(std::uint64_t number) const {
  const Uint128 elapsed_ms =
      Uint128{number} * static_cast<std::uint64_t>(options_.rate.span_ms) / options_.rate.records;
  return start_time_ms_ + static_cast<std::int64_t>(elapsed_ms);
}

Timeline::Cursor::Cursor(const Timeline& timeline, std::uint64_t stream, std::uint64_t first)
    : options_(&timeline.options_),
      counter_(Mix(stream) + first * kCounterStep),
      time_ms_(timeline.InOrderMs(first)),
      step_ms_(static_cast<std::int64_t>(static_cast<std::uint64_t>(options_->rate.span_ms) / options_->rate.records)),
      fraction_(Uint128{first} * static_cast<std::uint64_t>(options_->rate.span_ms) % options_->rate.records),
      step_fraction_(static_cast<std::uint64_t>(options_->rate.span_ms) % options_->rate.records) {}

}  // namespace glaive::queries
