// NEXMark's events are those of Apache Beam's program and of the Rust crate nexmark 0.2, bit for bit, whichever
// executor makes them.
//
// The hashes of many events were computed by java.util.Random of OpenJDK 17 and by the crate itself.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "queries/nexmark/events/channels.h"
#include "queries/nexmark/events/event_generator.h"
#include "queries/nexmark/events/live_source.h"
#include "tests/queries/statistics.h"
#include "tests/rdma/hand_clock.h"

namespace glaive::queries::nexmark::events {
namespace {

/// Events of an executor, with the memory of their texts.
struct MadeEvents {
  MadeEvents(const EventOptions& options, std::uint64_t count, std::uint32_t executor = 0, std::uint32_t executors = 1,
             std::uint64_t first = 0)
      : texts(options.texts), events(count) {
    EventGenerator(options, executors).Fill(executor, first, events, texts);
  }

  EventTexts texts;
  std::vector<Event> events;
};

/// All fields that an event's kind has, and the texts as they are.
std::string LineOfEvent(const Event& event) {
  constexpr std::array<std::size_t, 3> kNumbers = {1, 6, 3};
  constexpr std::array<std::size_t, 3> kTexts = {6, 3, 3};
  const auto kind = static_cast<std::size_t>(event.kind);
  std::string line = absl::StrCat(kind, "|", event.date_time);
  for (std::size_t i = 0; i < kNumbers[kind]; ++i) {
    absl::StrAppend(&line, "|", event.numbers[i]);
  }
  for (std::size_t i = 0; i < kTexts[kind]; ++i) {
    absl::StrAppend(&line, "|", std::string(event.texts[i].view()));
  }
  return line;
}

/// FNV-1a of the lines of the first 20,000 events.
std::uint64_t HashOfEvents(const EventOptions& options) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const Event& event : MadeEvents(options, 20'000).events) {
    for (const char byte : LineOfEvent(event) + "\n") {
      hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
    }
  }
  return hash;
}

TEST(NexmarkEventsTest, TheFirstPersonOfBeamIsPeterJones) {
  const MadeEvents made({.rules = Rules::kBeam}, 1);
  const std::optional<Person> person = PersonOf{}(made.events[0]);
  ASSERT_TRUE(person);
  EXPECT_EQ(person->id, 1'000U);
  EXPECT_EQ(person->name, "Peter Jones");
  EXPECT_EQ(person->email, "nhd@xcat.com");
  EXPECT_EQ(person->credit_card, "7241 7320 9143 4888");
  EXPECT_EQ(person->city, "Portland");
  EXPECT_EQ(person->state, "WY");
  EXPECT_EQ(person->date_time, 1'436'918'400'000);
  EXPECT_TRUE(person->extra.view().starts_with("WN_HS_bnpkkiwhwana_L^`KZjdgsid`K]MLU[aaOH`ztxbulvlxtkn_ZZ^T"));
}

TEST(NexmarkEventsTest, TheFirstPersonOfTheCrateIsVickyNoris) {
  const MadeEvents made({.rules = Rules::kRenoir}, 1);
  const std::optional<Person> person = PersonOf{}(made.events[0]);
  ASSERT_TRUE(person);
  EXPECT_EQ(person->name, "vicky noris");
  EXPECT_EQ(person->email, "yplkvgz@qbxfg.com");
  EXPECT_EQ(person->credit_card, "7878 5821 1864 2539");
  EXPECT_EQ(person->city, "cheyenne");
  EXPECT_EQ(person->state, "az");
  EXPECT_EQ(person->extra,
            "lwaiyhjhrkaruidlsjilvqccyedttedeynpqmackqbwvklwuyypztnkengzgtwtjivjgrxurskpcldfohdzuwnefqymyncrksxyfaecwsb"
            "swjumzxudgoznyhakxrudomnxtmqtgshecfjgspxzpludz");
}

TEST(NexmarkEventsTest, AuctionsAndBidsHaveTheFieldsOfBeams) {
  const MadeEvents made({.rules = Rules::kBeam}, 5);
  const std::optional<Auction> auction = AuctionOf{}(made.events[1]);
  ASSERT_TRUE(auction);
  EXPECT_EQ(auction->id, 1'000U);
  EXPECT_EQ(auction->initial_bid, 28'873U);
  EXPECT_EQ(auction->reserve, 29'448U);
  EXPECT_EQ(auction->expires, 1'436'918'400'011);
  EXPECT_EQ(auction->seller, 1'000U);
  EXPECT_EQ(auction->category, 13U);
  EXPECT_EQ(auction->item_name, "wkx mgee");
  EXPECT_EQ(auction->description, "eszpqxtdxrvwmmywkmogoahf");
  const std::optional<Bid> bid = BidOf{}(made.events[4]);
  ASSERT_TRUE(bid);
  EXPECT_EQ(bid->auction, 1'000U);
  EXPECT_EQ(bid->bidder, 1'001U);
  EXPECT_EQ(bid->price, 32'530'001U);
  EXPECT_EQ(bid->channel, "");
  EXPECT_EQ(bid->extra, "fdiysaV^]NLVsbolvyqwgticfdrwdyiyofziYMU\\Z`UaTQO][NX\\RM]WPYTOuwogvszlxjrcNOORM");
  EXPECT_FALSE(AuctionOf{}(made.events[4]));
  EXPECT_FALSE(BidOf{}(made.events[0]));
  EXPECT_FALSE(PersonOf{}(made.events[1]));
}

TEST(NexmarkEventsTest, ManyEventsAreThoseOfBeam) {
  EXPECT_EQ(HashOfEvents({.rules = Rules::kBeam}), 0xfe7eb99100168942);
  EXPECT_EQ(HashOfEvents({.rules = Rules::kBeam, .disorder_group = 1'000}), 0x6a672bfea93cb094);
  EXPECT_EQ(HashOfEvents({.rules = Rules::kBeam, .event_rate = 200'000}), 0x9b8bf3c49d9eb576);
}

TEST(NexmarkEventsTest, ManyEventsAreThoseOfTheCrate) {
  EXPECT_EQ(HashOfEvents({.rules = Rules::kRenoir}), 0x6d42d7bb8dcffd95);
  EXPECT_EQ(HashOfEvents({.rules = Rules::kRenoir, .disorder_group = 1'000}), 0xd51e874b15851eaf);
  EXPECT_EQ(HashOfEvents({.rules = Rules::kRenoir, .event_rate = 10'000'000}), 0xe7c7e5b0809afaf1);
}

TEST(NexmarkEventsTest, FlinksPersonsAndAuctionsAreBeams) {
  const MadeEvents flink({.rules = Rules::kFlink}, 200);
  const MadeEvents beam({.rules = Rules::kBeam}, 200);
  for (std::size_t i = 0; i < 200; ++i) {
    if (flink.events[i].kind != Kind::kBid) {
      EXPECT_EQ(LineOfEvent(flink.events[i]), LineOfEvent(beam.events[i]));
    } else {
      EXPECT_EQ(BidOf{}(flink.events[i])->price, BidOf{}(beam.events[i])->price);
      EXPECT_TRUE(BidOf{}(flink.events[i])->url.view().starts_with("https://www.nexmark.com/"));
    }
  }
}

TEST(NexmarkEventsTest, AnotherSeedMakesOtherEvents) {
  EXPECT_NE(HashOfEvents({.seed = 1}), HashOfEvents({.seed = 0}));
  EXPECT_NE(HashOfEvents({.rules = Rules::kRenoir, .seed = 1}), HashOfEvents({.rules = Rules::kRenoir}));
}

TEST(NexmarkEventsTest, AnyExecutorMakesAnyPartOfTheStream) {
  constexpr std::uint32_t kExecutors = 3;
  constexpr std::uint64_t kPart = 70;
  for (const std::uint64_t group : {1, 70}) {
    const EventOptions options{.disorder_group = group};
    const MadeEvents whole(options, 4'500);
    for (std::uint32_t executor = 0; executor < kExecutors; ++executor) {
      for (const std::uint64_t first : {1'330, 0, 71, 700}) {
        const MadeEvents part(options, kPart, executor, kExecutors, first);
        for (std::uint64_t place = first; place < first + kPart; ++place) {
          const std::uint64_t in_stream = (place / 50 * kExecutors + executor) * 50 + place % 50;
          EXPECT_EQ(LineOfEvent(part.events[place - first]), LineOfEvent(whole.events[in_stream]));
        }
      }
    }
  }
}

TEST(NexmarkEventsTest, ExecutorsDivideTheStreamAmongThem) {
  const EventOptions options{.disorder_group = 10};
  std::set<std::uint64_t> numbers;
  for (std::uint32_t executor = 0; executor < 3; ++executor) {
    const EventGenerator generator(options, 3);
    std::map<Kind, std::uint64_t> kinds;
    for (std::uint64_t position = 0; position < 1'000; ++position) {
      const std::uint64_t number = generator.NumberOf(executor, position);
      EXPECT_TRUE(numbers.insert(number).second) << number;
      ++kinds[KindOf(number)];
    }
    EXPECT_EQ(kinds[Kind::kPerson], 20U);
    EXPECT_EQ(kinds[Kind::kAuction], 60U);
  }
  EXPECT_EQ(*numbers.rbegin(), 2'999U);
}

TEST(NexmarkEventsTest, DisorderScattersEventsWithinTheirGroups) {
  const EventGenerator generator({.disorder_group = 1'000}, 1);
  std::set<std::uint64_t> numbers;
  for (std::uint64_t position = 0; position < 3'000; ++position) {
    const std::uint64_t number = generator.NumberOf(0, position);
    EXPECT_EQ(number / 1'000, position / 1'000);
    numbers.insert(number);
  }
  EXPECT_EQ(numbers.size(), 3'000U);
  EXPECT_EQ(generator.NumberOf(0, 1'001), 1'953U);
}

TEST(NexmarkEventsTest, EventTimesAreExactAtHighRates) {
  for (const Rules rules : {Rules::kBeam, Rules::kFlink}) {
    const EventOptions options{.rules = rules, .event_rate = 10'000'000};
    EXPECT_EQ(TimeMs(options, 9'999) - options.start_time_ms, 0);
    EXPECT_EQ(TimeMs(options, 10'000) - options.start_time_ms, 1);
    EXPECT_EQ(TimeMs(options, 1'000'000'000) - options.start_time_ms, 100'000);
    EXPECT_EQ(HorizonMs(options, 3), 0U);
  }
  const EventOptions uneven{.event_rate = 3'000'000};
  EXPECT_EQ(TimeMs(uneven, 3'000'000'000) - uneven.start_time_ms, 1'000'000);
}

TEST(NexmarkEventsTest, LeanEventsAreTheSameWithoutTheOtherTexts) {
  for (const Rules rules : {Rules::kFlink, Rules::kRenoir}) {
    const MadeEvents full({.rules = rules}, 2'000);
    const MadeEvents lean({.rules = rules, .texts = kUrl | kBidExtra}, 2'000);
    for (std::size_t i = 0; i < 2'000; ++i) {
      EXPECT_EQ(lean.events[i].numbers, full.events[i].numbers);
      EXPECT_EQ(lean.events[i].date_time, full.events[i].date_time);
      const bool is_bid = full.events[i].kind == Kind::kBid;
      EXPECT_EQ(lean.events[i].texts[0], "");
      EXPECT_EQ(lean.events[i].texts[1], is_bid ? full.events[i].texts[1] : "");
      EXPECT_EQ(lean.events[i].texts[2], is_bid ? full.events[i].texts[2] : "");
    }
  }
}

TEST(NexmarkEventsTest, SizesAndRatiosAreThoseAskedFor) {
  const EventOptions options{.auction_bytes = 900, .bid_bytes = 40, .hot_auction_ratio = 10, .hot_bidder_ratio = 3};
  std::uint64_t bids = 0;
  std::uint64_t hot_auctions = 0;
  std::uint64_t hot_bidders = 0;
  std::uint64_t auctions = 0;
  std::uint64_t auction_bytes = 0;
  const MadeEvents made(options, 50'000);
  for (std::size_t i = 40'000; i < 50'000; ++i) {  // persons and auctions before are many enough
    if (const std::optional<Bid> bid = BidOf{}(made.events[i])) {
      ++bids;
      EXPECT_LE(bid->extra.size(), 10U);
      hot_auctions += bid->auction % 100 == 0 && bid->auction - kFirstId == LastAuction(i) / 100 * 100 ? 1 : 0;
      hot_bidders += bid->bidder % 100 == 1 && bid->bidder - kFirstId == LastPerson(i) / 100 * 100 + 1 ? 1 : 0;
    } else if (const std::optional<Auction> auction = AuctionOf{}(made.events[i])) {
      ++auctions;
      auction_bytes += 48 + auction->item_name.size() + auction->description.size() + auction->extra.size();
      EXPECT_GE(auction->reserve, auction->initial_bid);
      EXPECT_GT(auction->expires, auction->date_time);
      EXPECT_LE(auction->seller - kFirstId, LastPerson(i) + kLead);
    }
  }
  ExpectShare(hot_auctions, bids, 0.9 + 0.1 / 111, "hot auctions");
  ExpectShare(hot_bidders, bids, 2.0 / 3 + 1.0 / 3 / 850, "hot bidders");
  EXPECT_NEAR(static_cast<double>(auction_bytes) / static_cast<double>(auctions), 900, 15);
}

TEST(NexmarkEventsTest, ChannelsAreThoseOfTheirRules) {
  const Channels flink(Rules::kFlink, 0);
  const Channels crate(Rules::kRenoir, 0);
  EXPECT_EQ(crate.hot(2).url, crate.other(2).url.substr(0, crate.hot(2).url.size()));
  EXPECT_EQ(crate.other(7'568).url, "https://www.nexmark.com/rswp/bsu/_gzj/item.htm?query=1&channel_id=163053568");
  for (const Channels* const channels : {&flink, &crate}) {
    EXPECT_EQ(channels->hot(0).name, "Google");
    EXPECT_EQ(channels->hot(3).name, "Apple");
    EXPECT_EQ(channels->other(9'999).name, "channel-9999");
    std::uint64_t with_id = 0;
    std::set<std::string> urls;
    for (std::size_t i = 0; i < Channels::kOthers; ++i) {
      with_id += channels->other(i).url.find("&channel_id=") != std::string::npos ? 1 : 0;
      urls.insert(channels->other(i).url);
    }
    ExpectShare(with_id, Channels::kOthers, 0.9, "URLs with an id");
    EXPECT_GT(urls.size(), 9'900U);
  }
}

TEST(NexmarkEventsTest, OptionsOutOfTheirBoundsAreRefused) {
  EXPECT_EQ(Validate(EventOptions{}), absl::OkStatus());
  for (const EventOptions& wrong :
       {EventOptions{.event_rate = 0}, EventOptions{.disorder_group = 0}, EventOptions{.bid_bytes = (1 << 20) + 1},
        EventOptions{.hot_seller_ratio = 0}, EventOptions{.active_people = 0}, EventOptions{.in_flight_auctions = 0}}) {
    EXPECT_TRUE(absl::IsInvalidArgument(Validate(wrong)));
  }
}

TEST(NexmarkEventsTest, TheBytesOfTextsAreAboutThoseThatAreExpected) {
  for (const std::uint32_t texts : {std::uint32_t{kAllTexts}, std::uint32_t{kUrl | kChannel}, std::uint32_t{kNoText}}) {
    const EventOptions options{.texts = texts};
    std::uint64_t bytes = 0;
    for (const Event& event : MadeEvents(options, 10'000).events) {
      bytes += TextBytes(event);
    }
    EXPECT_LE(bytes / 10'000, AverageTextBytes(options));
    EXPECT_GE(bytes / 10'000 + 20, AverageTextBytes(options));
  }
}

TEST(NexmarkLiveSourceTest, GivesTheEventsOfTheGeneratorUntilItsEnd) {
  const EventOptions options{.disorder_group = 100};
  const auto generator = std::make_shared<const EventGenerator>(options, 2);
  const MadeEvents made(options, 5'000, 1, 2);
  const rdma::HandClock clock;
  LiveSource source(generator, 1, {.total_records = 5'000, .watermark_every = 64}, clock);
  std::size_t read = 0;
  std::int64_t latest_ms = 0;
  for (bool ended = false; !ended;) {
    ASSERT_TRUE(source.Ready());
    const engine::SourceBatch<Event> batch = source.Poll();
    ASSERT_FALSE(batch.records.empty());
    EXPECT_FALSE(batch.in_order);
    for (const Event& event : batch.records) {
      ASSERT_EQ(LineOfEvent(event), LineOfEvent(made.events[read++]));
      latest_ms = std::max(latest_ms, event.date_time);
    }
    if (read % 64 == 0) {
      EXPECT_EQ(batch.watermark_ms, latest_ms);
    }
    ended = batch.ended;
  }
  EXPECT_EQ(read, 5'000U);
}

TEST(NexmarkLiveSourceTest, ReadsNoFasterThanItsRateAndNoLongerThanItsTime) {
  rdma::HandClock clock;
  LiveSource source(std::make_shared<const EventGenerator>(EventOptions{}, 1), 0,
                    {.duration_ns = 1'000'000'000, .records_per_second = 100}, clock);
  EXPECT_TRUE(source.Poll().records.empty());
  EXPECT_FALSE(source.Ready());
  clock.Advance(absl::Milliseconds(500));
  EXPECT_TRUE(source.Ready());
  const engine::SourceBatch<Event> batch = source.Poll();
  EXPECT_EQ(batch.records.size(), 50U);
  EXPECT_TRUE(batch.in_order);
  EXPECT_EQ(batch.watermark_ms, batch.records.back().date_time);
  EXPECT_FALSE(batch.ended);
  EXPECT_FALSE(source.Ready());
  clock.Advance(absl::Milliseconds(500));
  EXPECT_TRUE(source.Poll().ended);
}

}  // namespace
}  // namespace glaive::queries::nexmark::events
