#include "queries/nexmark/suite/event_input.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"

#include "engine/format/csv_text.h"
#include "engine/source/block_source.h"
#include "queries/common/input_flags.h"
#include "queries/nexmark/events/event_texts.h"
#include "queries/nexmark/events/live_source.h"
#include "queries/nexmark/events/numbering.h"

namespace glaive::queries::nexmark::suite {
namespace {

using events::Event;
using events::EventGenerator;
using events::EventTexts;
using events::EventTime;
using events::Kind;

constexpr std::uint64_t kLiveBytes = std::uint64_t{1} << 20;

/// As the sources have it: 0 where events are in order.
std::uint64_t WatermarkEvery(const EventInput& input) {
  return input.events.disorder_group == 1 ? 0 : input.watermark_every;
}

engine::SourceFactory<Event> OpenInMemory(const EventInput& input, std::shared_ptr<const EventGenerator> generator) {
  const engine::BlockSourceOptions block{.block_records = input.records,
                                         .total_records = input.records,
                                         .records_per_second = input.rate,
                                         .watermark_every = WatermarkEvery(input)};
  return [block, generator = std::move(generator)](const engine::SourceContext& context) {
    EventTexts texts(generator->options().texts);
    const auto generate = [&](std::uint64_t first, std::span<Event> records) {
      texts.Clear();
      generator->Fill(Value(context.executor), first, records, texts);
    };
    return engine::BlockSource<Event, EventTime>::Create(block, *context.clock, generate, EventTime{}, context.watch);
  };
}

engine::SourceFactory<Event> OpenLive(const EventInput& input, std::shared_ptr<const EventGenerator> generator) {
  events::LiveSourceOptions options{.records_per_second = input.rate, .watermark_every = WatermarkEvery(input)};
  if (input.seconds == absl::ZeroDuration()) {
    options.total_records = input.records;
  } else {
    options.duration_ns = absl::ToInt64Nanoseconds(input.seconds);
  }
  return [options, generator = std::move(generator)](
             const engine::SourceContext& context) -> absl::StatusOr<std::unique_ptr<engine::Source<Event>>> {
    return std::make_unique<events::LiveSource>(generator, Value(context.executor), options, *context.clock);
  };
}

// Columns of --export-input behind executor, number, event_time_ms and kind. Those of numbers are in the order of
// Event's for each kind, those of texts as well.
constexpr std::string_view kColumns =
    "person,name,email,credit_card,city,state,"
    "id,initial_bid,reserve,expires,seller,category,item_name,description,"
    "auction,bidder,price,channel,url,extra";

/// Appends a kind's numbers and texts, or empty fields for an event of another kind.
void AppendFields(std::string& line, const Event& event, Kind kind, std::size_t numbers, std::size_t texts) {
  const bool has = event.kind == kind;
  for (std::size_t i = 0; i < numbers; ++i) {
    line += ',';
    if (has) {
      absl::StrAppend(&line, event.numbers[i]);
    }
  }
  for (std::size_t i = 0; i < texts; ++i) {
    line += ',';
    if (has) {
      engine::AppendQuotedCsv(line, event.texts[i].view());
    }
  }
}

void AppendEvent(std::string& line, const Event& event) {
  constexpr std::array<std::string_view, 3> kKinds = {"person", "auction", "bid"};
  constexpr std::array<std::size_t, 3> kPlaceOfExtra = {5, 2, 2};
  const auto kind = static_cast<std::size_t>(event.kind);
  line += kKinds[kind];
  AppendFields(line, event, Kind::kPerson, 1, 5);
  AppendFields(line, event, Kind::kAuction, 6, 2);
  AppendFields(line, event, Kind::kBid, 3, 2);
  line += ',';
  engine::AppendQuotedCsv(line, event.texts[kPlaceOfExtra[kind]].view());
}

}  // namespace

absl::Duration EventInput::lateness() const {
  // An event comes before others of its group, whose times differ from its own by less than this, rounded up.
  const std::uint64_t group_ms =
      events.disorder_group == 1 ? 0 : (events.disorder_group * 1000 + events.event_rate - 1) / events.event_rate;
  return allowed_lateness.value_or(absl::Milliseconds(group_ms));
}

void RegisterEventInput(engine::FlagSet& flags, EventInput& input) {
  const std::string group = "Input";
  const auto add = [&](const char* name, auto& value, const char* help, engine::IntegerRange range) {
    flags.AddInteger({.name = name, .group = group, .help = help}, value, range);
  };
  events::EventOptions& events = input.events;
  flags.AddChoice({.name = "generate",
                   .group = group,
                   .help = "when events are made: before the run, into memory, or while it reads them"},
                  input.generate, {{"memory", Generate::kMemory}, {"live", Generate::kLive}});
  add("records", input.records, "events of each executor that reads", {.min = 1, .max = 1'000'000'000'000});
  flags.AddDuration({.name = "seconds",
                     .group = group,
                     .help = "how long to read, with --generate=live; 0: until --records are read"},
                    input.seconds);
  flags.AddDouble({.name = "rate", .group = group, .help = std::string(kRateHelp)}, input.rate,
                  {.min = 0, .max = 1e12});
  add("seed", events.seed, "events are a function of it and their numbers; 0: those of the profile's own program", {});
  add("event-rate", events.event_rate, "events of all executors together in a second of event time",
      {.min = 1, .max = events::kMostEventRate});
  add("disorder-group", events.disorder_group, "so many events come in a scattered order; 1: all in order",
      {.min = 1, .max = events::kMostDisorderGroup});
  flags.AddDuration({.name = "allowed-lateness",
                     .group = group,
                     .help = "how far watermarks stay behind the latest event time; by default the event time of a "
                             "--disorder-group, so that no event is late"},
                    input.allowed_lateness);
  add("watermark-every", input.watermark_every, "events of an executor between two watermarks, with --disorder-group",
      {.min = 1, .max = 1ULL << 40});
  const engine::IntegerRange bytes{.min = 0, .max = events::kMostEventBytes};
  add("person-bytes", events.person_bytes, "average bytes of a person, filled up by its extra text", bytes);
  add("auction-bytes", events.auction_bytes, "average bytes of an auction, likewise", bytes);
  add("bid-bytes", events.bid_bytes, "average bytes of a bid without channel and URL, likewise", bytes);
  const engine::IntegerRange ratio{.min = 1, .max = events::kMostRatio};
  add("hot-auction-ratio", events.hot_auction_ratio, "one in so many bids is not for the hot auction", ratio);
  add("hot-seller-ratio", events.hot_seller_ratio, "one in so many auctions is not the hot seller's", ratio);
  add("hot-bidder-ratio", events.hot_bidder_ratio, "one in so many bids is not the hot bidder's", ratio);
  const engine::IntegerRange count{.min = 1, .max = events::kMostCount};
  add("active-people", events.active_people, "how many of the last persons sell and bid", count);
  add("in-flight-auctions", events.in_flight_auctions, "how many of the last auctions get bids", count);
  flags.AddString({.name = "export-input",
                   .group = group,
                   .help = "writes the events of all executors to a CSV file before the run",
                   .file = engine::FileUse::kWrite},
                  input.export_input, "FILE");
  flags.AddCheck([&input]() -> absl::Status {
    if (input.seconds != absl::ZeroDuration() && input.generate != Generate::kLive) {
      return absl::InvalidArgumentError(
          "--seconds goes with --generate=live: events in memory are read once, since each has a number of its own");
    }
    if (input.lateness() != absl::Trunc(input.lateness(), absl::Milliseconds(1))) {
      return absl::InvalidArgumentError("--allowed-lateness must be whole milliseconds, e.g. 250ms");
    }
    if (input.seconds != absl::ZeroDuration() && !input.export_input.empty()) {
      return absl::InvalidArgumentError("--export-input does not go with --seconds: the input has no end beforehand");
    }
    absl::Status status = CheckRate(input.rate);
    status.Update(Validate(input.events));
    return status;
  });
}

Events SourceOf(const EventInput& input, const std::shared_ptr<const EventGenerator>& generator) {
  if (input.generate == Generate::kLive) {
    return {.open = OpenLive(input, generator), .event_time_ms = {}, .memory_bytes = kLiveBytes};
  }
  return {.open = OpenInMemory(input, generator),
          .event_time_ms = {},
          .memory_bytes = input.records * (sizeof(Event) + AverageTextBytes(input.events))};
}

MostIds MostIdsOf(const EventInput& input) {
  // Events name the auctions and persons before them, and the next ones.
  return {.auctions = events::LastAuction(input.records) + 1 + events::kLead,
          .persons = events::LastPerson(input.records) + 1 + events::kLead};
}

absl::Status ExportEvents(engine::WholeFile& file, const EventGenerator& generator, std::uint64_t records,
                          std::uint32_t executor_count, const Watch& watch) {
  constexpr std::uint64_t kAtOnce = 1024;
  absl::Status status = file.Write(absl::StrCat("executor,number,event_time_ms,kind,", std::string(kColumns), "\n"));
  EventTexts texts(generator.options().texts);
  std::vector<Event> made(kAtOnce);
  std::string lines;
  for (std::uint32_t executor = 0; executor < executor_count; ++executor) {
    for (std::uint64_t first = 0; first < records && status.ok(); first += kAtOnce) {
      const std::span<Event> part = std::span(made).first(std::min(kAtOnce, records - first));
      texts.Clear();
      generator.Fill(executor, first, part, texts);
      lines.clear();
      for (std::size_t i = 0; i < part.size(); ++i) {
        absl::StrAppend(&lines, executor, ",", first + i, ",", part[i].date_time, ",");
        AppendEvent(lines, part[i]);
        lines += '\n';
      }
      status = file.Write(lines);
      status.Update(watch());
    }
  }
  return status.ok() ? file.Commit() : status;
}

}  // namespace glaive::queries::nexmark::suite
