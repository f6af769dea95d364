#include "queries/nexmark/seller_generator.h"

#include <array>
#include <cstring>
#include <string_view>

#include "queries/common/random.h"
#include "queries/nexmark/draws.h"

namespace glaive::queries::nexmark {
namespace {

constexpr std::array<std::string_view, 6> kStates = {"AZ", "CA", "ID", "OR", "WA", "WY"};

InputOptions WithUniformKeys(InputOptions options) {
  options.keys = {.count = options.keys.count};
  return options;
}

}  // namespace

SellerGenerator::SellerGenerator(const InputOptions& options) : DrawnGenerator(WithUniformKeys(options)) {}

Seller SellerGenerator::Make(std::int64_t event_time_ms, const Draws& draw) const {
  const std::uint64_t text = draw(1);
  Seller seller;
  seller.id = keys().Draw(draw(0));
  seller.event_time_ms = event_time_ms;
  FillText(seller.name, text);
  FillText(seller.email, text + 1);
  FillText(seller.credit_card, text + 2);
  FillText(seller.street, text + 3);
  FillText(seller.city, text + 4);
  std::memcpy(seller.state, kStates[Below(kStates.size(), draw(2))].data(), sizeof(seller.state));
  return seller;
}

}  // namespace glaive::queries::nexmark
