#include "queries/common/oracle.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/queries/checked_rows.h"
#include "tests/queries/tick.h"

namespace glaive::queries {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

struct PriceSum {
  void Add(const Tick& tick) { sum += tick.price; }
  double value() const { return sum; }

  double sum = 0;
};

struct Shape {
  CheckedWindows windows;
  std::int64_t disorder_ms = 0;
  std::int64_t lateness_ms = 0;  // allowed
  std::uint64_t watermark_every = 1;
};

// The query drops a third of the keys.
std::optional<std::uint64_t> KeyOf(const Tick& tick) {
  return tick.key % 3 == 0 ? std::nullopt : std::optional(tick.key);
}

/// The true rows, and how many records the query takes and loses.
struct Truth {
  std::vector<ResultRow> rows;
  std::uint64_t late = 0;
  std::uint64_t partly_late = 0;
};

// Of all windows that event times of these tests can lie in.
std::vector<std::int64_t> AllStarts(const CheckedWindows& windows) {
  std::vector<std::int64_t> starts;
  for (std::int64_t start_ms = -(4'000 / windows.slide_ms) * windows.slide_ms; start_ms < 12'000;
       start_ms += windows.slide_ms) {
    starts.push_back(start_ms);
  }
  return starts;
}

// By the shortest code there is: one record at a time, all windows, one map.
template <typename Account>
Truth TruthOf(const CheckedInput<Tick>& input, const CheckedWindows& windows) {
  Truth truth;
  std::map<std::pair<std::int64_t, std::uint64_t>, Account> accounts;
  const std::vector<std::int64_t> starts = windows.size_ms == 0 ? std::vector{kMin} : AllStarts(windows);
  const auto end_of = [&](std::int64_t start_ms) { return windows.size_ms == 0 ? kMax : start_ms + windows.size_ms; };
  for (std::uint32_t executor = 0; executor < input.record_counts.size(); ++executor) {
    std::int64_t latest_ms = kMin;
    std::int64_t watermark_ms = kMin;
    for (std::uint64_t n = 0; n < input.record_counts[executor]; ++n) {
      const std::uint64_t block = input.block_records == 0 ? input.record_counts[executor] : input.block_records;
      Tick tick;
      input.generator->Fill(executor, n % block, std::span(&tick, 1));
      const std::int64_t time_ms = tick.time_ms + static_cast<std::int64_t>(n / block) * input.block_span_ms;
      std::uint64_t open = 0;
      std::uint64_t closed = 0;
      for (const std::int64_t start_ms : KeyOf(tick) ? starts : std::vector<std::int64_t>{}) {
        if (start_ms <= time_ms && time_ms < end_of(start_ms)) {
          ++(end_of(start_ms) > watermark_ms ? open : closed);
          if (end_of(start_ms) > watermark_ms) {
            accounts[{start_ms, tick.key}].Add(tick);
          }
        }
      }
      truth.late += open == 0 && closed > 0 ? 1 : 0;
      truth.partly_late += open > 0 && closed > 0 ? 1 : 0;
      latest_ms = std::max(latest_ms, time_ms);
      if ((n + 1) % input.watermark_every == 0) {
        watermark_ms = latest_ms - input.allowed_lateness_ms;
      }
    }
  }
  for (const auto& [window_and_key, account] : accounts) {
    truth.rows.push_back({.window_start_ms = window_and_key.first,
                          .window_end_ms = end_of(window_and_key.first),
                          .key = window_and_key.second,
                          .value = ValueBits(account.value())});
  }
  return truth;
}

// Two executors that have read 5,000 ms and 3,000 ms of event time, and some hundred keys.
class OracleTest : public testing::TestWithParam<Shape> {
 protected:
  OracleTest() {
    input_.generator = &generator_;
    input_.event_time_ms = TickTime;
    input_.record_counts = {2'500, 1'500};
    input_.watermark_every = GetParam().watermark_every;
    input_.allowed_lateness_ms = GetParam().lateness_ms;
  }

  template <typename Account>
  Verdict Check(const std::vector<ResultRow>& rows, const RowCheck::Leads& leads = LeadsAll) const {
    return Oracle<Tick>("q", input_, GetParam().windows).Check<Account>(KeyOf, rows, leads);
  }

  template <typename Account>
  void ExpectTheTruth() const {
    std::vector<ResultRow> rows = TruthOf<Account>(input_, GetParam().windows).rows;
    std::ranges::reverse(rows);
    const Verdict verdict = Check<Account>(rows);
    EXPECT_TRUE(verdict.status.ok()) << verdict.status;
    EXPECT_EQ(verdict.expected, TotalsOf(rows));
    EXPECT_EQ(verdict.emitted, verdict.expected);
  }

  /// Each way to be wrong, at the first row, the last, and one in between.
  template <typename Account>
  void ExpectWrongRowsAreCaught() const {
    const std::vector<ResultRow> truth = TruthOf<Account>(input_, GetParam().windows).rows;
    const auto complaint = [&](const std::vector<ResultRow>& rows) {
      const absl::Status status = Check<Account>(rows).status;
      EXPECT_TRUE(absl::IsDataLoss(status)) << status;
      return std::string(status.message());
    };
    for (const std::size_t i : {std::size_t{0}, truth.size() / 2, truth.size() - 1}) {
      std::vector<ResultRow> rows = truth;
      rows[i].value ^= 1;  // of a real number, its last digit
      EXPECT_THAT(complaint(rows), HasSubstr(": wrong, the value should be "));
      rows = truth;
      rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(i));
      EXPECT_THAT(complaint(rows), HasSubstr(absl::StrCat("in 1 row: window ", truth[i].window_start_ms, " to ",
                                                          truth[i].window_end_ms, " key ", truth[i].key, " ")));
      rows = truth;
      rows[i].key = 9'999;  // no record has it
      EXPECT_THAT(complaint(rows), HasSubstr("in 2 rows"));
      rows = truth;
      rows.push_back(rows[i]);
      EXPECT_THAT(complaint(rows), HasSubstr(": emitted again"));
      rows = truth;
      rows[i].window_end_ms -= 1;
      EXPECT_THAT(complaint(rows), HasSubstr("in 2 rows"));
      rows = truth;
      rows[i].window_start_ms += 1;
      EXPECT_THAT(complaint(rows), HasSubstr("in 2 rows"));
    }
  }

  // Event time starts at 0, so with disorder some of it lies before.
  InputOptions options_{
      .keys = {.count = 200},
      .timeline = {
          .rate = {.records = 1'000, .span_ms = 2'000}, .start_time_ms = 0, .disorder_ms = GetParam().disorder_ms}};
  TickGenerator generator_{options_};
  CheckedInput<Tick> input_;
};

TEST_P(OracleTest, AcceptsTheTruthOfIntegersAndOfRealNumbers) {
  ExpectTheTruth<CountAccount<Tick>>();
  ExpectTheTruth<PriceSum>();
}

TEST_P(OracleTest, CatchesWrongRowsOfIntegersAndOfRealNumbers) {
  ExpectWrongRowsAreCaught<CountAccount<Tick>>();
  ExpectWrongRowsAreCaught<PriceSum>();
}

TEST_P(OracleTest, RecordsAreLateAndPartlyLateWhereTheShapeSaysSo) {
  const Shape& shape = GetParam();
  const Truth truth = TruthOf<CountAccount<Tick>>(input_, shape.windows);
  const bool some = shape.disorder_ms > shape.lateness_ms && shape.windows.size_ms != 0;
  // The last window over a time goes on for at least the size less the slide.
  const std::int64_t spared_ms = shape.lateness_ms + shape.windows.size_ms - shape.windows.slide_ms;
  EXPECT_EQ(truth.late > 0, some && shape.disorder_ms > spared_ms);
  EXPECT_EQ(truth.partly_late > 0, some && shape.windows.size_ms > shape.windows.slide_ms);
}

TEST_P(OracleTest, RepeatedBlocksMoveEventTimeOnAndMayEndInTheirMiddle) {
  input_.block_records = 450;
  input_.block_span_ms = 2'000;  // with a gap: a block spans 900 ms
  for (const std::vector<std::uint64_t>& counts :
       std::vector<std::vector<std::uint64_t>>{{450, 450}, {2'249, 0}, {1, 2'551}, {0, 0}, {}}) {
    input_.record_counts = counts;
    ExpectTheTruth<CountAccount<Tick>>();
  }
}

TEST_P(OracleTest, AnExecutorFarBehindInEventTimeStillCounts) {
  input_.record_counts = {5'000, 1, 0, 777};
  ExpectTheTruth<CountAccount<Tick>>();
}

TEST_P(OracleTest, ALeaderIsAskedForItsKeysOnly) {
  const auto leads = [](std::uint64_t key) { return key % 2 == 0; };
  const std::vector<ResultRow> truth = TruthOf<CountAccount<Tick>>(input_, GetParam().windows).rows;
  std::vector<ResultRow> rows = truth;
  std::erase_if(rows, [&](const ResultRow& row) { return !leads(row.key); });
  const Verdict verdict = Check<CountAccount<Tick>>(rows, leads);
  EXPECT_TRUE(verdict.status.ok()) << verdict.status;
  EXPECT_EQ(verdict.expected, TotalsOf(truth)) << "of all keys, whoever leads them";
  EXPECT_EQ(verdict.emitted, TotalsOf(rows));
  EXPECT_THAT(Check<CountAccount<Tick>>(truth, leads).status.ToString(), HasSubstr("does not lead the key"));
}

INSTANTIATE_TEST_SUITE_P(Shapes, OracleTest,
                         testing::Values(Shape{{1'000, 1'000}}, Shape{{1'000, 250}}, Shape{{1'000, 300}},
                                         Shape{{700, 1'000}}, Shape{}, Shape{{1'000, 1'000}, 2'500, 300, 1},
                                         Shape{{1'000, 1'000}, 2'500, 2'500, 16}, Shape{{1'000, 250}, 2'500, 300, 64},
                                         Shape{{1'000, 300}, 900, 0, 7}, Shape{{300, 70}, 1'500, 10, 3},
                                         Shape{{}, 2'500, 0, 1}),
                         [](const auto& shape) {
                           return absl::StrCat("Size", shape.param.windows.size_ms, "Slide",
                                               shape.param.windows.slide_ms, "Disorder", shape.param.disorder_ms,
                                               "Lateness", shape.param.lateness_ms);
                         });

// How many ticks of a key came, if they are even.
struct EvenCount {
  void Add(const Tick& /*tick*/) { ++count; }
  std::optional<double> value() const { return count % 2 == 0 ? std::optional<double>(count) : std::nullopt; }

  int count = 0;
};

TEST(OracleTest, AnEmptyValueIsNoRow) {
  const ListedTicks ticks({5, 15, 16, 25});
  const CheckedInput<Tick> input{.generator = &ticks, .event_time_ms = TickTime, .record_counts = {4}};
  const auto one_key = [](const Tick& /*tick*/) { return std::optional<std::uint64_t>(7); };
  for (const auto kind : {CheckedWindows::Kind::kRegular, CheckedWindows::Kind::kSession}) {
    const Oracle<Tick> oracle("q", input, {.size_ms = 10, .slide_ms = 10, .kind = kind});
    const Verdict verdict = oracle.Check<EvenCount>(one_key, {});
    EXPECT_TRUE(verdict.status.ok()) << verdict.status;
    const bool sessions = kind == CheckedWindows::Kind::kSession;
    EXPECT_EQ(verdict.expected, sessions ? TotalsOf({}) : TotalsOf({{10, 20, 7, ValueBits(2.0)}}));
  }
  const Oracle<Tick> oracle("q", input, {.size_ms = 10, .slide_ms = 10});
  EXPECT_THAT(oracle.Check<EvenCount>(one_key, std::vector<ResultRow>{{10, 20, 7, ValueBits(4.0)}}).status.ToString(),
              HasSubstr("value 4: wrong, the value should be 2"));
}

TEST(OracleWatchTest, ALongCheckEndsWhenItsWatchSaysSo) {
  const TickGenerator generator({.keys = {.count = 10}});
  const CheckedInput<Tick> input{.generator = &generator,
                                 .event_time_ms = TickTime,
                                 .record_counts = {1'000'000, 1'000'000},
                                 .watermark_every = 1'024};
  int asked = 0;
  const auto watch = [&] { return ++asked < 3 ? absl::OkStatus() : absl::CancelledError("interrupted"); };
  const Oracle<Tick> oracle("q", input, {1'000, 1'000});
  EXPECT_EQ(oracle.Check<CountAccount<Tick>>(KeyOf, {}, nullptr, watch).status, absl::CancelledError("interrupted"));
  EXPECT_EQ(asked, 3);
}

}  // namespace
}  // namespace glaive::queries
