// Thousandths: an exact decimal number with three digits behind the point, such as a price of whole cents times 0.908.
//
//   Thousandths euros = InEuros(bid.price);     // 12345 cents: 11209.260
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/str_format.h"

#include "state/record/record.h"

namespace glaive::queries::nexmark::suite {

struct Thousandths {
  std::uint64_t count;

  friend auto operator<=>(const Thousandths&, const Thousandths&) = default;
  friend void AppendCsv(std::string& line, Thousandths value) {
    absl::StrAppendFormat(&line, "%d.%03d", value.count / 1000, value.count % 1000);
  }
};
GLAIVE_RECORD(Thousandths, count)

/// Prices times 0.908, as NEXMark converts dollars to euros. Prices are below 2^53.
constexpr Thousandths InEuros(std::uint64_t price) { return {price * 908}; }

}  // namespace glaive::queries::nexmark::suite
