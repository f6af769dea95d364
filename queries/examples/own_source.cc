// A source of one's own: it says how far event time has come, so windows fire while it goes on.
#include <array>
#include <cstdint>
#include <memory>

#include <absl/status/statusor.h>
#include <absl/time/time.h>

#include <glaive/engine/api/stream.h>
#include <glaive/engine/cluster/main.h>

using namespace glaive::engine;

/// A tick each second for two minutes, ten at a time. Each executor has one. A tick is its event time.
class Clockwork final : public Source<std::int64_t> {
 public:
  SourceBatch<std::int64_t> Poll() override {
    for (std::int64_t& tick_ms : ticks_ms_) {
      tick_ms = next_ms_;
      next_ms_ += 1000;
    }
    return {.records = ticks_ms_, .watermark_ms = next_ms_ - 1, .ended = next_ms_ == 120'000};
  }

 private:
  std::array<std::int64_t, 10> ticks_ms_{};
  std::int64_t next_ms_ = 0;
};

absl::StatusOr<std::unique_ptr<Source<std::int64_t>>> OpenClockwork(const SourceContext&) {
  return std::make_unique<Clockwork>();
}

std::unique_ptr<Query> CountTicks(const Results& results) {
  const auto time = [](std::int64_t tick_ms) { return tick_ms; };
  const SourceSpec<std::int64_t, decltype(time)> ticks{.open = &OpenClockwork, .event_time_ms = time};
  return From(ticks).Window(Tumbling{absl::Minutes(1)}).Aggregate(Count{}).To(results);
}

int main(int argc, char** argv) { return Main(argc, argv, CountTicks); }
