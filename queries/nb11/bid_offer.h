// BidOffer: what is left of a bid in a row of nb11. Plain data, 16 bytes, two fields of a CSV file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>

#include "absl/strings/str_cat.h"

#include "engine/sink/csv.h"
#include "queries/common/result_row.h"

namespace glaive::queries::nb11 {

struct BidOffer {
  std::uint64_t auction;
  std::uint64_t price;  // cents

  friend bool operator==(const BidOffer&, const BidOffer&) = default;
  friend void AppendCsv(std::string& line, const BidOffer& bid) { absl::StrAppend(&line, bid.auction, ",", bid.price); }
  friend std::uint64_t ValueBits(const BidOffer& bid) { return queries::ValueBits(std::tuple(bid.auction, bid.price)); }
};

static_assert(sizeof(BidOffer) == 16 && std::is_trivially_copyable_v<BidOffer>);

}  // namespace glaive::queries::nb11

template <>
inline constexpr std::size_t glaive::engine::kCsvFields<glaive::queries::nb11::BidOffer> = 2;
