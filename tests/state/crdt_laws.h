// ExpectCrdtLaws: the laws that every CRDT value must keep (state/crdt/crdt.h), checked on random data.
//
// For any CrdtValue, the project's or a user's own. The caller says what inputs look like; extreme and repeated ones
// should be among them. Everything follows from the seed, which a failure prints.
//
//   TEST(LongestWordValue, KeepsTheLaws) {
//     ExpectCrdtLaws<LongestWordValue>(/*seed=*/1, [](LawRandom& random) { return RandomInteger<int>(random); });
//   }
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "state/crdt/compact_form.h"
#include "state/crdt/crdt.h"

namespace glaive::state {

using LawRandom = std::mt19937_64;

/// An integer of any size, extremes and small ones often.
template <std::integral T>
T RandomInteger(LawRandom& random) {
  constexpr std::array<T, 5> kEdges = {std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), T{0}, T{1},
                                       static_cast<T>(std::numeric_limits<T>::max() - 1)};
  const std::uint64_t bits = random();
  return bits % 4 == 0 ? kEdges[(bits >> 2) % kEdges.size()] : static_cast<T>(bits >> (8 + bits % 56));
}

namespace crdt_laws_internal {

template <typename V>
V Merged(V a, const V& b) {
  a.Merge(b);
  return a;
}

template <typename V>
V Updated(V a, const typename V::Input& input) {
  a.Update(input);
  return a;
}

template <typename Input, typename NextInput>
std::vector<Input> RandomInputs(LawRandom& random, NextInput& next_input) {
  std::vector<Input> inputs;
  for (std::uint64_t left = random() % 8; left > 0; --left) {
    const bool repeat = !inputs.empty() && random() % 4 == 0;
    inputs.push_back(repeat ? inputs[random() % inputs.size()] : next_input(random));
  }
  return inputs;
}

template <typename V>
V FoldOf(const std::vector<typename V::Input>& inputs) {
  V value{};
  for (const auto& input : inputs) {
    value.Update(input);
  }
  return value;
}

/// What a cluster does: inputs go to any of several parts, whose values are then merged in any order.
template <typename V>
V FoldInParts(LawRandom& random, const std::vector<typename V::Input>& inputs) {
  std::vector<V> parts(1 + random() % 5);
  for (const auto& input : inputs) {
    parts[random() % parts.size()].Update(input);
  }
  std::shuffle(parts.begin(), parts.end(), random);
  V value{};
  for (const V& part : parts) {
    value.Merge(part);
  }
  return value;
}

/// The same, but that parts are forms, which are handed on as soon as they do not take something.
template <typename V>
V FoldInForms(LawRandom& random, const std::vector<typename V::Input>& inputs) {
  std::vector<CompactForm<V>> forms(1 + random() % 5);
  CompactForm<V> all;
  V rest{};
  for (const auto& input : inputs) {
    CompactForm<V>& form = forms[random() % forms.size()];
    if (!form.TryUpdate(input)) {
      rest.Merge(std::exchange(form, CompactForm<V>()).Expanded());
      rest.Update(input);
    }
  }
  std::shuffle(forms.begin(), forms.end(), random);
  for (const CompactForm<V>& form : forms) {
    if (!all.TryMerge(form)) {
      rest.Merge(form.Expanded());
    }
  }
  rest.Merge(all.Expanded());
  return rest;
}

}  // namespace crdt_laws_internal

/// Fails the running test unless V keeps the laws for values folded from what `next_input(random)` returns.
template <CrdtValue V, typename NextInput>
void ExpectCrdtLaws(std::uint64_t seed, NextInput next_input, int rounds = 2000) {
  using namespace crdt_laws_internal;  // NOLINT(google-build-using-namespace): this function's own helpers
  using Input = typename V::Input;
  LawRandom random(seed);
  for (int round = 0; round < rounds && !testing::Test::HasFailure(); ++round) {
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", round " << round);
    const auto inputs = RandomInputs<Input>(random, next_input);
    const V a = FoldOf<V>(inputs);
    const V b = FoldOf<V>(RandomInputs<Input>(random, next_input));
    const V c = FoldOf<V>(RandomInputs<Input>(random, next_input));
    const Input input = next_input(random);

    EXPECT_TRUE(Merged(a, b) == Merged(b, a)) << "1: merging is not commutative";
    EXPECT_TRUE(Merged(Merged(a, b), c) == Merged(a, Merged(b, c))) << "2: merging is not associative";
    EXPECT_TRUE(Merged(a, V{}) == a) << "3: a new value is not neutral";
    EXPECT_TRUE(Merged(V{}, a) == a) << "3: a new value is not neutral";
    EXPECT_TRUE(Updated(a, input) == Merged(a, Updated(V{}, input))) << "4: an update is not a merge";
    EXPECT_TRUE(FoldInParts<V>(random, inputs) == a) << "parts do not merge to the sequential value";
    EXPECT_TRUE(FoldInForms<V>(random, inputs) == a) << "compact forms do not merge to the sequential value";
    EXPECT_TRUE(FoldInParts<V>(random, inputs).Result() == a.Result()) << "parts do not have the sequential result";
  }
}

}  // namespace glaive::state
