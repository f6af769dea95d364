// How often each page is clicked in each minute. A project to begin with: README.md of Glaive, docs/using-glaive.md.
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <absl/strings/str_cat.h>
#include <absl/time/time.h>

#include <glaive/engine/api/generated.h>
#include <glaive/engine/cluster/main.h>

namespace {

using namespace glaive::engine;

constexpr std::uint64_t kClicks = 1'000'000;

struct Click {
  std::int64_t time_ms;
  std::uint64_t page;
};

Click MakeClick(std::uint64_t number) {
  return {.time_ms = static_cast<std::int64_t>(number), .page = number * number % 10};
}

std::unique_ptr<Query> CountClicks(const Results& results) {
  return FromRange(0, kClicks)
      .Map(&MakeClick)
      .WithEventTime(&Click::time_ms)
      .KeyBy(&Click::page)
      .Window(Tumbling{absl::Minutes(1)})
      .Aggregate(Count{})
      .To(results);
}

/// For --verify: the same rows, made without the engine.
std::vector<std::string> ExpectedCounts(std::uint32_t /*reader_count*/) {
  std::map<std::pair<std::int64_t, std::uint64_t>, std::uint64_t> counts;
  for (std::uint64_t number = 0; number < kClicks; ++number) {
    const Click click = MakeClick(number);
    ++counts[{click.time_ms / 60'000, click.page}];
  }
  std::vector<std::string> lines;
  for (const auto& [window, count] : counts) {
    const auto& [minute, page] = window;
    lines.push_back(absl::StrCat(minute * 60'000, ",", (minute + 1) * 60'000, ",", page, ",", count));
  }
  return lines;
}

}  // namespace

int main(int argc, char** argv) { return Main(argc, argv, CountClicks, ExpectedCounts); }
