// Streams of records that the program makes itself. They do not depend on the flows of the input, only on how many
// executors, and nodes, there are.

#include "engine/api/generated.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/sim/queries/query_parts.h"

namespace glaive::sim {
namespace {

using namespace engine;  // NOLINT(google-build-using-namespace): these queries read as a user's do

constexpr std::uint64_t kFirstOfRange = 1'000;
constexpr std::uint64_t kRange = 700;
constexpr std::uint64_t kOfEachExecutor = 60;  // and as many more as its number times that
constexpr std::uint64_t kOfEachQueue = 300;

/// Rows of numbers.
template <typename S>
std::unique_ptr<Query> NumberRows(S numbers, const QueryParts& parts) {
  return std::move(numbers).Map(&NumberRowOf).To(StoreRows{parts.rows});
}

/// The rows of the numbers from `first` on, `times` each.
std::vector<std::string> RowsOfNumbers(std::uint64_t first, std::uint64_t count, std::int64_t times) {
  std::vector<std::string> rows;
  for (std::uint64_t number = first; number < first + count; ++number) {
    rows.insert(rows.end(), static_cast<std::size_t>(times), NumberRowText(number));
  }
  return rows;
}

/// A query that reads nothing.
CatalogueEntry Generated(std::string_view operator_name, CatalogueEntry entry) {
  entry.reads_flows = false;
  return Having({operator_name}, std::move(entry));
}

CatalogueEntry RangeShared() {
  return WithoutStage(
      "a range of numbers",
      [](const QueryParts& parts) { return NumberRows(FromRange(kFirstOfRange, kFirstOfRange + kRange), parts); },
      [](const Input& /*input*/) { return RowsOfNumbers(kFirstOfRange, kRange, 1); });
}

/// Each executor makes numbers of its own, which then move to the executors of their keys.
CatalogueEntry MadeInParallel() {
  return WithoutStage(
      "numbers that each executor makes, by key",
      [](const QueryParts& parts) {
        auto numbers = FromParallel([](const SourceContext& context) {
          const std::uint64_t executor = Value(context.executor);
          return [first = 1'000 * executor, made = std::uint64_t{0},
                  end = (executor + 1) * kOfEachExecutor]() mutable -> std::optional<std::uint64_t> {
            return made < end ? std::optional(first + made++) : std::nullopt;
          };
        });
        return NumberRows(
            std::move(numbers).KeyBy([](std::uint64_t number) { return number % 5; }).Partition().DropKey(), parts);
      },
      [](const Input& input) {
        std::vector<std::string> rows;
        for (std::uint64_t executor = 0; executor < input.sources[0].size(); ++executor) {
          const auto its = RowsOfNumbers(1'000 * executor, (executor + 1) * kOfEachExecutor, 1);
          rows.insert(rows.end(), its.begin(), its.end());
        }
        return rows;
      });
}

/// Each node has a queue, whose records any of its executors reads.
CatalogueEntry ReadFromQueues() {
  return WithoutStage(
      "numbers from a queue of each node",
      [](const QueryParts& parts) {
        const auto queue = std::make_shared<RecordQueue<std::uint64_t>>(kOfEachQueue);
        for (std::uint64_t number = 0; number < kOfEachQueue; ++number) queue->Push(number);
        queue->Close();
        // The query owns the queue.
        return NumberRows(FromQueue(*queue).Filter([queue](std::uint64_t) { return queue != nullptr; }), parts);
      },
      [](const Input& input) { return RowsOfNumbers(0, kOfEachQueue, input.nodes); });
}

}  // namespace

std::vector<CatalogueEntry> GeneratedQueries() {
  return {Generated("FromRange", RangeShared()), Generated("FromParallel", MadeInParallel()), [] {
            CatalogueEntry entry = Generated("FromQueue", ReadFromQueues());
            entry.each_process_reads = true;
            return entry;
          }()};
}

}  // namespace glaive::sim
