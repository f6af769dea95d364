// ClickRatioFold: how the hand-written loop of `ysb_star` takes some hundred events into its table
// (queries/loops/window_loop.h): clicks for a view of each campaign that has both.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "queries/loops/account_table.h"
#include "queries/ysb/campaigns.h"
#include "queries/ysb/ysb_event.h"

namespace glaive::queries::ysb_star {

struct ClickRatioFold {
  struct Account {
    std::optional<double> value() const {
      return clicks > 0 && views > 0 ? std::optional(static_cast<double>(clicks) / static_cast<double>(views))
                                     : std::nullopt;
    }

    std::uint64_t clicks;
    std::uint64_t views;
  };
  using Record = ysb::YsbEvent;
  using Table = AccountTable<Account>;

  static std::int64_t TimeMs(const Record& event) { return event.event_time_ms; }

  void FoldChunk(std::span<const Record> events, Table& table) const {
    struct Picked {
      std::uint64_t id;  // of the ad, then of its campaign
      bool is_click;
    };
    std::array<Picked, Table::kRecordsAtOnce> picked;
    std::size_t picked_count = 0;
    for (const Record& event : events) {
      picked[picked_count] = {.id = event.ad_id, .is_click = event.event_type == ysb::EventType::kClick};
      picked_count += event.event_type != ysb::EventType::kPurchase ? 1 : 0;
    }
    std::size_t joined_count = 0;
    for (std::size_t i = 0; i < picked_count; ++i) {
      const std::uint64_t campaign = campaigns->Find(picked[i].id);
      picked[joined_count] = {.id = campaign, .is_click = picked[i].is_click};
      joined_count += campaign != 0 ? 1 : 0;
    }
    table.Fold(
        std::span<const Picked>(picked).first(joined_count), [](const Picked& event) { return event.id; },
        [](Account& account, const Picked& event) {
          account.clicks += event.is_click ? 1 : 0;
          account.views += event.is_click ? 0 : 1;
        });
  }

  std::shared_ptr<const ysb::CampaignTable> campaigns;
};

}  // namespace glaive::queries::ysb_star
