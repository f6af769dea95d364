#include "queries/nexmark/seller_generator.h"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "tests/queries/generator_checks.h"
#include "tests/queries/statistics.h"

namespace glaive::queries::nexmark {
namespace {

constexpr std::uint64_t kSellers = 50'000;

std::unique_ptr<Generator<Seller>> MakeSellers(const InputOptions& input) {
  return std::make_unique<SellerGenerator>(input);
}

TEST(SellerGeneratorTest, AnyPartCanBeGeneratedInAnyOrderAndIsAlwaysTheSame) {
  InputOptions input{.seed = 7, .keys = {.count = 1'000}};
  input.timeline = {.rate = {.records = 7'919, .span_ms = 104'729}, .disorder_ms = 50};
  ExpectAnyPartInAnyOrderIsTheSame<Seller>(SellerGenerator(input));
}

TEST(SellerGeneratorTest, SeedsAndExecutorsDrawDifferentSellers) {
  ExpectSeedsAndExecutorsDrawDifferentRecords<Seller>(MakeSellers);
}

TEST(SellerGeneratorTest, EventTimesAreTheTimelines) {
  ExpectEventTimesOfTheTimeline<Seller>(MakeSellers, SellerTime{});
}

TEST(SellerGeneratorTest, IdsAreUniformWhateverTheOptionsDistributionIs) {
  const KeyOptions keys{.count = 50, .law = {.kind = KeyLaw::Kind::kZipf, .parameter = 2}, .hot_share = 0.5};
  std::array<std::uint64_t, 51> sellers{};
  for (const Seller& seller : FirstRecords<Seller>(SellerGenerator({.keys = keys}), kSellers)) {
    ++sellers.at(std::uint64_t{seller.id});
  }
  EXPECT_EQ(sellers[0], 0U);
  for (std::size_t id = 1; id <= 50; ++id) {
    ExpectShare(sellers.at(id), kSellers, 1.0 / 50, "seller " + std::to_string(id));
  }
}

TEST(SellerGeneratorTest, StatesAreTwoLettersAndEven) {
  std::map<std::string, std::uint64_t> states;
  for (const Seller& seller : FirstRecords<Seller>(SellerGenerator({}), kSellers)) {
    ++states[std::string(seller.state, sizeof(seller.state))];
  }
  ASSERT_EQ(states.size(), 6U);
  for (const auto& [state, sellers] : states) {
    ExpectShare(sellers, kSellers, 1.0 / 6, state);
  }
}

}  // namespace
}  // namespace glaive::queries::nexmark
