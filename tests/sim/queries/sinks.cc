// Streams that reach a sink without a window, and streams with two sinks.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/api/together.h"
#include "engine/sink/for_each.h"
#include "tests/sim/queries/query_parts.h"

namespace glaive::sim {
namespace {

/// As CollectAll, but rows are stored as those of all queries.
struct StoreAtAll {
  StoreRows each;
};

}  // namespace
}  // namespace glaive::sim

template <>
inline constexpr bool glaive::engine::kIsCollectAll<glaive::sim::StoreAtAll> = true;

namespace glaive::sim {
namespace {

using namespace engine;  // NOLINT(google-build-using-namespace): these queries read as a user's do

constexpr std::int64_t kSinksWindowMs = 400;

/// The rows of the records for which `selects` holds.
std::vector<std::string> RecordRows(const Input& input, const std::function<bool(const Event&)>& selects) {
  std::vector<std::string> rows;
  for (const Seen& seen : Only(Read(input, 0), selects)) {
    rows.push_back(RecordRowText(seen.event));
  }
  return rows;
}

CatalogueEntry Unwindowed(std::string_view name, std::function<std::unique_ptr<Query>(const QueryParts&)> build,
                          const std::function<bool(const Event&)>& selects) {
  return WithoutStage(name, std::move(build), [selects](const Input& input) { return RecordRows(input, selects); });
}

/// A stage whose results go to one sink as they are, and to another one in part.
CatalogueEntry CountsInTwoSinks() {
  return {
      .name = "counts, and the odd ones among them",
      .window = "tumbling",
      .aggregates = {"count"},
      .join = "",
      .build =
          [](const QueryParts& parts) {
            const auto counts =
                Judged(FirstOfAll(parts).KeyBy(&Event::key).Window(Tumbling{Millis(kSinksWindowMs)}), parts)
                    .Aggregate(Count{});
            return Together(
                Stream(counts).To(StoreRows{parts.rows}),
                Stream(counts).Filter([](const auto& row) { return row.value % 2 == 1; }).To(StoreRows{parts.rows}));
          },
      .expect =
          [](const Input& input) {
            std::vector<Event> late;
            const Groups groups = GroupByWindows(Read(input, 0), kSinksWindowMs, kSinksWindowMs, KeyOf, late);
            std::vector<std::string> rows = RowsOf(groups, CountOf);
            for (const auto& [window, events] : groups) {
              if (events.size() % 2 == 1) {
                rows.push_back(RowText(window, PlainText(window.key), CountOf(events)));
              }
            }
            return Expected{.rows = std::move(rows), .late = LateRowsOf(late)};
          }};
}

/// ForEach calls a function that writes each row to a RowSink. All else is the RowSink's.
template <typename Row>
class EachRowSink final : public Sink<Row> {
 public:
  explicit EachRowSink(std::unique_ptr<Sink<Row>> rows)
      : rows_(std::move(rows)),
        each_(ForEach([this](const Row& row) { status_.Update(rows_->Write(std::span(&row, 1))); })
                  .template Factory<Row>()(SinkContext{})
                  .value()) {}

  bool Ready() override { return rows_->Ready(); }
  absl::Status Write(std::span<const Row> rows) override {
    absl::Status status = each_->Write(rows);
    status.Update(status_);
    return status;
  }
  void Complete(std::optional<std::int64_t> until_ms) override { rows_->Complete(until_ms); }
  bool WantsToPublish(std::int64_t now_ns) const override { return rows_->WantsToPublish(now_ns); }
  absl::Status Publish(std::int64_t now_ns) override { return rows_->Publish(now_ns); }
  absl::StatusOr<bool> TryFinish() override { return rows_->TryFinish(); }
  void AddParts(std::vector<ResultPart>& parts) const override { rows_->AddParts(parts); }
  absl::Status Commit() override { return rows_->Commit(); }

 private:
  std::unique_ptr<Sink<Row>> rows_;
  absl::Status status_;  // of writing rows
  std::unique_ptr<Sink<Row>> each_;
};
struct StoreEach {
  RowStore* store;

  template <typename Row>
  SinkFactory<Row> Factory() const {
    return [store = store](const SinkContext& context) -> absl::StatusOr<std::unique_ptr<Sink<Row>>> {
      auto rows = StoreRows{store}.Factory<Row>()(context);
      if (!rows.ok()) return rows.status();
      return std::make_unique<EachRowSink<Row>>(*std::move(rows));
    };
  }
};

/// Each executor has the rows of all.
CatalogueEntry RowsAtAllExecutors() {
  return WithoutStage(
      "rows at all executors",
      [](const QueryParts& parts) { return FirstOfAll(parts).Map(&RecordRowOf).To(StoreAtAll{StoreRows{parts.rows}}); },
      [](const Input& input) {
        std::vector<std::string> rows;
        for (const Seen& seen : Read(input, 0)) {
          rows.insert(rows.end(), input.executors, RecordRowText(seen.event));
        }
        return rows;
      });
}

}  // namespace

std::vector<CatalogueEntry> SinkQueries() {
  return {
      Unwindowed(
          "even records without a window",
          [](const QueryParts& parts) {
            return FirstOfAll(parts).Filter(&IsEven).Map(&RecordRowOf).To(StoreRows{parts.rows});
          },
          IsEven),
      Having({"Split"}, Unwindowed(
                            "even and odd records in two sinks",
                            [](const QueryParts& parts) {
                              auto [even, odd] =
                                  FirstOfAll(parts).Split(&IsEven, [](const Event& event) { return !IsEven(event); });
                              return Together(std::move(even).Map(&RecordRowOf).To(StoreRows{parts.rows}),
                                              std::move(odd).Map(&RecordRowOf).To(StoreRows{parts.rows}));
                            },
                            [](const Event&) { return true; })),
      CountsInTwoSinks(),
      Having({"ForEach"},
             Unwindowed(
                 "rows for a function",
                 [](const QueryParts& parts) { return FirstOfAll(parts).Map(&RecordRowOf).To(StoreEach{parts.rows}); },
                 [](const Event&) { return true; })),
      Having({"CollectAll"}, RowsAtAllExecutors())};
}

}  // namespace glaive::sim
