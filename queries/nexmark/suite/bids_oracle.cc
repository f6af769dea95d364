// What a sequential program emits for the queries that turn each bid into a row or none: strings in standard
// containers, texts taken apart by code of its own.
#include <cstdint>
#include <ctime>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "queries/nexmark/suite/plain_events.h"
#include "queries/nexmark/suite/queries.h"

namespace glaive::queries::nexmark::suite {
namespace {

using events::Event;
using events::Kind;

/// Calls `use` with each bid.
template <typename Use>
absl::Status ForEachBid(const EventFlows& flows, const Use& use) {
  return flows.ForEach([&](const Event& event, std::int64_t /*watermark_ms*/) {
    if (event.kind == Kind::kBid) {
      use(PlainBid(event));
    }
  });
}

/// 0.908 times whole cents, by hand: three digits behind the point.
std::string Euros(std::uint64_t price) {
  const std::string digits = std::to_string(price * 908);
  const std::string padded = std::string(digits.size() < 4 ? 4 - digits.size() : 0, '0') + digits;
  return padded.substr(0, padded.size() - 3) + "." + padded.substr(padded.size() - 3);
}

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char character : text) {
    if (character == separator) {
      parts.emplace_back();
    } else {
      parts.back() += character;
    }
  }
  return parts;
}

/// The value of channel_id among the parts of a URL between ampersands, if there is one.
const std::string* FindChannelId(const std::vector<std::string>& parts, std::string& id) {
  constexpr std::string_view kName = "channel_id=";
  for (const std::string& part : parts) {
    if (part.starts_with(kName)) {
      id = part.substr(kName.size());
      return &id;
    }
  }
  return nullptr;
}

/// A text as a field of CSV.
std::string Field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) {
    return text;
  }
  std::string field = "\"";
  for (const char character : text) {
    field += character == '"' ? std::string(2, character) : std::string(1, character);
  }
  return field + "\"";
}

}  // namespace

absl::Status RecomputeQ0(const EventFlows& flows, const SuiteOptions& /*options*/, const EmitLine& emit) {
  return ForEachBid(
      flows, [&](const PlainBid& bid) { emit(LineOf({bid.auction, bid.bidder, bid.price, bid.time, bid.extra})); });
}

absl::Status RecomputeQ1(const EventFlows& flows, const SuiteOptions& /*options*/, const EmitLine& emit) {
  return ForEachBid(flows, [&](const PlainBid& bid) {
    emit(LineOf({bid.auction, bid.bidder, Euros(bid.price), bid.time, bid.extra}));
  });
}

absl::Status RecomputeQ2(const EventFlows& flows, const SuiteOptions& /*options*/, const EmitLine& emit) {
  return ForEachBid(flows, [&](const PlainBid& bid) {
    if (bid.auction / 123 * 123 == bid.auction) {
      emit(LineOf({bid.auction, bid.price}));
    }
  });
}

absl::Status RecomputeQ10(const EventFlows& flows, const SuiteOptions& /*options*/, const EmitLine& emit) {
  return ForEachBid(flows, [&](const PlainBid& bid) {
    const std::time_t seconds = bid.time / 1'000;
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    std::string names(17, ' ');
    std::strftime(names.data(), names.size(), "%Y-%m-%d,%H:%M", &parts);
    names.resize(16);
    emit(LineOf({bid.auction, bid.bidder, bid.price, bid.time, bid.extra, names}));
  });
}

absl::Status RecomputeQ13(const EventFlows& flows, const SuiteOptions& options, const EmitLine& emit) {
  SideInput table;
  for (std::uint64_t key = 0; key < 10'000; ++key) {
    table[key] = std::to_string(key);
  }
  if (options.side_input != nullptr) {
    table = *options.side_input;
  }
  return ForEachBid(flows, [&](const PlainBid& bid) {
    if (const auto row = table.find(bid.auction - bid.auction / 10'000 * 10'000); row != table.end()) {
      emit(LineOf({bid.auction, bid.bidder, bid.price, bid.time, Field(row->second)}));
    }
  });
}

absl::Status RecomputeQ14(const EventFlows& flows, const SuiteOptions& /*options*/, const EmitLine& emit) {
  // By the hour: n for the night, d for the day, o for what is neither.
  static constexpr std::string_view kHours = "nnnnnnnodddddddddddonnnn";
  const std::map<char, std::string> names = {{'n', "nightTime"}, {'d', "dayTime"}, {'o', "otherTime"}};
  return ForEachBid(flows, [&](const PlainBid& bid) {
    // More than 1,000,000 and less than 50,000,000, in thousandths.
    if (bid.price * 908 <= 1'000'000'000 || bid.price * 908 >= 50'000'000'000) {
      return;
    }
    const auto hour = static_cast<std::size_t>(bid.time % 86'400'000 / 3'600'000);
    const std::size_t letters = Split(bid.extra, 'c').size() - 1;
    emit(LineOf({bid.auction, bid.bidder, Euros(bid.price), names.at(kHours[hour]), bid.time, bid.extra, letters}));
  });
}

absl::Status RecomputeQ21(const EventFlows& flows, const SuiteOptions& /*options*/, const EmitLine& emit) {
  const std::map<std::string, std::string> known = {{"Apple", "0"}, {"Google", "1"}, {"Facebook", "2"}, {"Baidu", "3"}};
  return ForEachBid(flows, [&](const PlainBid& bid) {
    const auto of_name = known.find(bid.channel);
    std::string in_url;
    const std::string* const id =
        of_name != known.end() ? &of_name->second : FindChannelId(Split(bid.url, '&'), in_url);
    if (id != nullptr) {
      emit(LineOf({bid.auction, bid.bidder, bid.price, bid.channel, *id}));
    }
  });
}

absl::Status RecomputeQ22(const EventFlows& flows, const SuiteOptions& /*options*/, const EmitLine& emit) {
  return ForEachBid(flows, [&](const PlainBid& bid) {
    std::vector<std::string> parts = Split(bid.url, '/');
    parts.resize(6);
    emit(LineOf({bid.auction, bid.bidder, bid.price, bid.channel, parts[3], parts[4], parts[5]}));
  });
}

}  // namespace glaive::queries::nexmark::suite
