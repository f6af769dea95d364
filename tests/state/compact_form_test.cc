// CompactForm: a form and the value that takes what the form does not, together, are the value of all.

#include "state/crdt/compact_form.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include <gtest/gtest.h>

#include "state/crdt/mean.h"
#include "state/crdt/session_part.h"
#include "state/crdt/sum.h"
#include "tests/state/crdt_laws.h"

namespace glaive::state {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Mostly small; often such as no double holds beside them.
float RandomFloat(LawRandom& random) {
  constexpr std::array kEdges = {0.0F,      -0.0F,      0x1p-149F,
                                 0x1p60F,   -0x1p60F,   0x1.fffffep127F,
                                 kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN()};
  const std::uint64_t bits = random();
  if (bits % 64 == 0) {
    return kEdges[(bits >> 8) % kEdges.size()];
  }
  return bits % 16 == 0 ? std::bit_cast<float>(static_cast<std::uint32_t>(bits >> 32))
                        : static_cast<float>(static_cast<std::int64_t>(bits >> 40)) * 0x1p-20F - 8.0F;
}

template <typename V>
V RandomDelta(LawRandom& random) {
  V delta;
  for (std::uint64_t left = random() % 4; left > 0; --left) {
    delta.Update(RandomFloat(random));
  }
  return delta;
}

template <typename V>
void ExpectFormAndRestAreTheValue(std::uint64_t seed) {
  LawRandom random(seed);
  int not_taken = 0;
  int updates_taken = 0;
  int deltas_taken = 0;
  for (int round = 0; round < 20'000; ++round) {
    V all;
    V rest;
    CompactForm<V> form;
    for (std::uint64_t left = random() % (round % 64 == 0 ? 1000 : 24); left > 0; --left) {
      const V before = form.Expanded();
      bool taken = false;
      if (random() % 4 == 0) {
        const V delta = RandomDelta<V>(random);
        all.Merge(delta);
        taken = form.TryMerge(delta);
        deltas_taken += taken ? 1 : 0;
        if (!taken) rest.Merge(delta);
      } else {
        const float input = RandomFloat(random);
        all.Update(input);
        taken = form.TryUpdate(input);
        updates_taken += taken ? 1 : 0;
        if (!taken) rest.Update(input);
      }
      ASSERT_TRUE(taken || form.Expanded() == before) << "round " << round;
      not_taken += taken ? 0 : 1;
      if (!taken && random() % 2 == 0) {  // what it has goes elsewhere, and it begins anew
        rest.Merge(form.Expanded());
        form = {};
      }
    }
    const auto result = form.Result();
    ASSERT_EQ(result, form.Expanded().Result()) << "round " << round;
    V both = form.Expanded();
    both.Merge(rest);
    ASSERT_EQ(both, all) << "round " << round;
  }
  EXPECT_GT(not_taken, 1000);
  EXPECT_GT(updates_taken, 10'000);
  EXPECT_GT(deltas_taken, 10'000);
}

TEST(CompactForm, AndTheRestAreTheValue) {
  ExpectFormAndRestAreTheValue<SumValue<float>>(1);
  ExpectFormAndRestAreTheValue<MeanValue<float>>(2);
}

/// A form of up to so many records, as another executor would have it.
template <typename V>
CompactForm<V> RandomForm(LawRandom& random, std::uint64_t most_records) {
  CompactForm<V> form;
  for (std::uint64_t left = random() % (most_records + 1); left > 0; --left) {
    const float input = RandomFloat(random);
    if (!form.TryUpdate(input) && random() % 4 == 0) {
      CompactForm<V> anew;
      form = anew.TryUpdate(input) ? anew : form;
    }
  }
  return form;
}

/// TryMerge of a form takes just what TryMerge of the value that it stands for takes, and makes the same of it.
template <typename V>
void ExpectFormsMergeLikeTheirValues(std::uint64_t seed) {
  LawRandom random(seed);
  int taken = 0;
  int refused = 0;
  for (int round = 0; round < 50'000; ++round) {
    const std::uint64_t most_records = round % 16 == 0 ? 300 : 12;
    CompactForm<V> form = RandomForm<V>(random, most_records);
    const CompactForm<V> delta = RandomForm<V>(random, most_records);
    const V before = form.Expanded();
    CompactForm<V> by_value = form;
    const bool takes_value = by_value.TryMerge(delta.Expanded());
    const bool takes_form = form.TryMerge(delta);
    ASSERT_EQ(takes_form, takes_value) << "round " << round;
    ASSERT_EQ(form.Expanded(), by_value.Expanded()) << "round " << round;
    V merged = before;
    merged.Merge(delta.Expanded());
    ASSERT_EQ(form.Expanded(), takes_form ? merged : before) << "round " << round;
    (takes_form ? taken : refused) += 1;
  }
  EXPECT_GT(taken, 10'000);
  EXPECT_GT(refused, 1000);
}

TEST(CompactForm, MergesAFormLikeTheValueThatItStandsFor) {
  ExpectFormsMergeLikeTheirValues<SumValue<float>>(3);
  ExpectFormsMergeLikeTheirValues<MeanValue<float>>(4);
}

TEST(CompactForm, OfAMeanMergesFormsUpTo255) {
  using Form = CompactForm<MeanValue<float>>;
  for (const int first : {1, 100, 127, 128, 200, 254, 255}) {
    for (const int second : {1, 54, 55, 56, 127, 128, 155, 156, 255}) {
      Form form;
      Form delta;
      for (int i = 0; i < first; ++i) ASSERT_TRUE(form.TryUpdate(0.5F));
      for (int i = 0; i < second; ++i) ASSERT_TRUE(delta.TryUpdate(0.5F));
      const bool fits = first + second <= 255;
      EXPECT_EQ(form.TryMerge(delta), fits) << first << " and " << second;
      EXPECT_EQ(form.Expanded().count, static_cast<std::uint64_t>(fits ? first + second : first));
      EXPECT_EQ(form.Result(), 0.5);
    }
  }
}

static_assert(sizeof(CompactForm<SumValue<float>>) == 8 && sizeof(CompactForm<MeanValue<float>>) == 8);

TEST(CompactForm, OfAMeanCountsTo255) {
  CompactForm<MeanValue<float>> form;
  for (int i = 0; i < 255; ++i) {
    ASSERT_TRUE(form.TryUpdate(0.5F)) << i;
  }
  EXPECT_FALSE(form.TryUpdate(0.5F));
  MeanValue<float> delta;
  delta.Update(0.5F);
  EXPECT_FALSE(form.TryMerge(delta));
  EXPECT_EQ(form.Expanded().count, 255U);
  EXPECT_EQ(form.Result(), 0.5);
  form = {};
  delta.count = std::numeric_limits<std::uint64_t>::max();  // as a peer could say
  EXPECT_FALSE(form.TryMerge(delta));
  ASSERT_TRUE(form.TryUpdate(1.0F));
  EXPECT_FALSE(form.TryMerge(delta)) << "nor is the sum of both a small one";
  EXPECT_EQ(form.Expanded().count, 1U);
}

TEST(CompactForm, OfAMeanTakesNoSumThatNeedsItsLowestBits) {
  CompactForm<MeanValue<float>> form;
  ASSERT_TRUE(form.TryUpdate(1.0F));
  EXPECT_TRUE(form.TryUpdate(0x1p-44F)) << "the lowest that is left";
  EXPECT_FALSE(form.TryUpdate(0x1p-45F)) << "a double would hold it";
  EXPECT_EQ(form.Result(), (1.0 + 0x1p-44) / 2);
}

TEST(CompactForm, OfFloatsTakesZerosOfEitherSignAndNothingThatIsNotFinite) {
  CompactForm<SumValue<float>> sum;
  CompactForm<MeanValue<float>> mean;
  for (const float number : {-0.0F, 0.0F, 1.5F, -0.0F, -1.5F, 0.0F, -0.0F, 2.5F}) {
    EXPECT_TRUE(sum.TryUpdate(number)) << number;
    EXPECT_TRUE(mean.TryUpdate(number)) << number;
  }
  for (const float number : {kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN(),
                             std::numeric_limits<float>::signaling_NaN(), -std::numeric_limits<float>::quiet_NaN()}) {
    EXPECT_FALSE(sum.TryUpdate(number)) << number;
    EXPECT_FALSE(mean.TryUpdate(number)) << number;
  }
  EXPECT_EQ(sum.Result(), 2.5);
  EXPECT_EQ(mean.Result(), 2.5 / 8);
}

TEST(CompactForm, OfOtherValuesIsTheValue) {
  using Value = MeanValue<std::int64_t>;
  static_assert(sizeof(CompactForm<Value>) == sizeof(Value));
  CompactForm<Value> form;
  Value delta;
  delta.Update(10);
  EXPECT_TRUE(form.TryUpdate(4));
  EXPECT_TRUE(form.TryMerge(delta));
  EXPECT_EQ(form.Result(), 7.0);
  EXPECT_EQ(form.Expanded().count, 2U);
  CompactForm<Value> other;
  EXPECT_TRUE(other.TryUpdate(1));
  EXPECT_TRUE(form.TryMerge(other));
  EXPECT_EQ(form.Result(), 5.0);
  EXPECT_EQ(form.Expanded().count, 3U);
}

TEST(CompactForm, OfASessionTakesWhatItsAggregatesDoes) {
  using Part = SessionPart<SumValue<float>>;
  static_assert(sizeof(CompactForm<Part>) < sizeof(Part));
  CompactForm<Part> form;
  EXPECT_TRUE(form.Expanded().empty());
  Part all;
  Part rest;
  for (const auto& [time_ms, number] : {std::pair(20, 1.0F), std::pair(30, 2.5F), std::pair(10, 0x1p-149F)}) {
    all.Update({.time_ms = time_ms, .input = number});
    if (!form.TryUpdate({.time_ms = time_ms, .input = number})) {
      EXPECT_EQ(form.Expanded().first_ms, 20) << "what is not taken changes nothing";
      rest.Update({.time_ms = time_ms, .input = number});
    }
  }
  EXPECT_FALSE(rest.empty());
  Part delta;
  delta.Update({.time_ms = 40, .input = 0x1p100F});
  all.Merge(delta);
  if (!form.TryMerge(delta)) {
    EXPECT_EQ(form.Expanded().last_ms, 30);
    rest.Merge(delta);
  }
  EXPECT_EQ(form.Result(), 3.5F);
  Part both = form.Expanded();
  both.Merge(rest);
  EXPECT_EQ(both, all);
}

}  // namespace
}  // namespace glaive::state
