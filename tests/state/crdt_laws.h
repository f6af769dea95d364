// ExpectCrdtLaws: the laws that every CRDT value must keep (state/crdt/crdt.h), checked on random data.
//
// For any CrdtValue, the project's or a user's own. The caller says what inputs look like; extreme and repeated ones
// should be among them. Everything follows from the seed, which a failure prints.
//
// tests/state/broken_laws_test.cc has for each check a value that no other check refuses. For this, only the check of
// law 3 merges with a new value.
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
#include <optional>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "state/crdt/compact_form.h"
#include "state/crdt/crdt.h"
#include "state/record/text.h"

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

/// One of some dozen texts, short and long ones, of which many begin alike.
inline Text RandomLawText(LawRandom& random) {
  static constexpr std::string_view kLetters = "a long text of which each part is a text, too";
  return Text(kLetters.substr(0, random() % kLetters.size()));
}

/// Inputs that a value is folded from, at most.
inline constexpr std::uint64_t kMostInputs = 7;

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

/// 1 to kMostInputs.
template <typename Input, typename NextInput>
std::vector<Input> RandomInputs(LawRandom& random, NextInput& next_input) {
  std::vector<Input> inputs;
  for (std::uint64_t left = 1 + random() % kMostInputs; left > 0; --left) {
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

/// Merges a value into a total, or begins the total with it.
template <typename V>
void AddTo(std::optional<V>& total, const V& value) {
  if (total) {
    total->Merge(value);
  } else {
    total = value;
  }
}

/// What a cluster does: inputs go to any of several parts, whose values are then merged in any order.
template <typename V>
V FoldInParts(LawRandom& random, const std::vector<typename V::Input>& inputs) {
  std::vector<std::optional<V>> parts(1 + random() % 5);
  for (const auto& input : inputs) {
    std::optional<V>& part = parts[random() % parts.size()];
    if (!part) {
      part.emplace();
    }
    part->Update(input);
  }
  std::shuffle(parts.begin(), parts.end(), random);
  std::optional<V> total;
  for (const std::optional<V>& part : parts) {
    if (part) {
      AddTo(total, *part);
    }
  }
  return total.value();
}

/// The same, but that parts are forms, which begin anew once they do not take something (compact_form.h).
template <typename V>
V FoldInForms(LawRandom& random, const std::vector<typename V::Input>& inputs) {
  std::vector<std::optional<CompactForm<V>>> forms(1 + random() % 5);
  std::optional<V> rest;
  for (const auto& input : inputs) {
    std::optional<CompactForm<V>>& form = forms[random() % forms.size()];
    if (form && form->TryUpdate(input)) {
      continue;
    }
    if (form) {
      AddTo(rest, V(form->Expanded()));
    }
    form.emplace();
    if (!form->TryUpdate(input)) {
      form.reset();
      AddTo(rest, Updated(V{}, input));
    }
  }
  std::shuffle(forms.begin(), forms.end(), random);
  std::optional<CompactForm<V>> all;
  for (const std::optional<CompactForm<V>>& form : forms) {
    if (form && !all) {
      all = form;
    } else if (form && !all->TryMerge(*form)) {
      AddTo(rest, V(form->Expanded()));
    }
  }
  if (all) {
    AddTo(rest, V(all->Expanded()));
  }
  return rest.value();
}

/// The value as a new form has it, to which it moves with its cell; the value itself if no form takes it.
template <typename V>
V InNewForm(const V& value) {
  CompactForm<V> form;
  return form.TryMerge(value) ? V(form.Expanded()) : value;
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
    EXPECT_TRUE(Merged(V{}, V{}) == V{}) << "3: a new value is not neutral";
    EXPECT_TRUE(InNewForm(a) == a) << "3: a new value is not neutral in a compact form";
    EXPECT_TRUE(Updated(a, input) == Merged(a, Updated(V{}, input))) << "4: an update is not a merge";
    EXPECT_TRUE(FoldInParts<V>(random, inputs) == a) << "parts do not merge to the sequential value";
    EXPECT_TRUE(FoldInForms<V>(random, inputs) == a) << "compact forms do not merge to the sequential value";
    EXPECT_TRUE(FoldInParts<V>(random, inputs).Result() == a.Result()) << "parts do not have the sequential result";
  }
}

}  // namespace glaive::state
