// Joins three streams: a join's results are a stream, which is joined again.
#include <cstdint>
#include <memory>
#include <utility>

#include <absl/time/time.h>

#include <glaive/engine/api/generated.h>
#include <glaive/engine/api/join.h>
#include <glaive/engine/cluster/main.h>

using namespace glaive::engine;

struct Action {
  std::uint64_t user;
  std::int64_t time_ms;
};

/// Every `share`-th of 60 users takes the step, `delay_ms` after the user's minute has begun.
auto Steps(std::uint64_t share, std::int64_t delay_ms) {
  return FromRange(0, 60 / share)
      .Map([=](std::uint64_t n) {
        return Action{.user = n * share, .time_ms = static_cast<std::int64_t>(n * share) * 60'000 + delay_ms};
      })
      .WithEventTime(&Action::time_ms);
}

std::unique_ptr<Query> Purchases(const Results& results) {
  const Tumbling minute{absl::Minutes(1)};
  auto clicked = Join(Steps(1, 0), Steps(2, 10'000)).On(&Action::user, &Action::user).Window(minute);
  auto key = [](const auto& pair) { return pair.key; };
  auto joined =
      Join(std::move(clicked).Map(key), Steps(3, 20'000)).On([](std::uint64_t user) { return user; }, &Action::user);
  return std::move(joined).Window(minute).Map([](const auto& pair) { return pair.key; }).To(results);
}

int main(int argc, char** argv) { return Main(argc, argv, Purchases); }
