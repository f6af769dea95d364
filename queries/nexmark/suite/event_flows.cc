#include "queries/nexmark/suite/event_flows.h"

#include <algorithm>
#include <limits>
#include <span>

#include "queries/nexmark/events/event_texts.h"

namespace glaive::queries::nexmark::suite {

EventFlows EventFlows::Of(std::uint32_t executor) const {
  EventFlows one = *this;
  std::ranges::fill(one.records_read, 0);
  one.records_read[executor] = records_read[executor];
  return one;
}

absl::Status EventFlows::ForEach(
    const std::function<void(const events::Event& event, std::int64_t watermark_ms)>& use) const {
  constexpr std::uint64_t kAtOnce = 1024;
  events::EventTexts texts(generator->options().texts);
  std::vector<events::Event> made(kAtOnce);
  for (std::uint32_t executor = 0; executor < records_read.size(); ++executor) {
    std::int64_t latest_ms = std::numeric_limits<std::int64_t>::min();
    std::int64_t watermark_ms = latest_ms;
    for (std::uint64_t first = 0; first < records_read[executor]; first += kAtOnce) {
      if (absl::Status status = watch(); !status.ok()) {
        return status;
      }
      texts.Clear();
      const auto part = std::span(made).first(std::min(kAtOnce, records_read[executor] - first));
      generator->Fill(executor, first, part, texts);
      for (std::uint64_t i = 0; i < part.size(); ++i) {
        use(part[i], watermark_ms);
        latest_ms = std::max(latest_ms, part[i].date_time);
        watermark_ms = (first + i + 1) % watermark_every == 0 ? latest_ms - allowed_lateness_ms : watermark_ms;
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace glaive::queries::nexmark::suite
