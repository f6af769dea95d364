#include "state/store/partitioned_store.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "state/crdt/appended.h"
#include "state/crdt/mean.h"
#include "state/crdt/sum.h"
#include "tests/state/same_values.h"
#include "tests/state/store_cluster.h"
#include "tests/state/update_runs.h"

namespace glaive::state {
namespace {

std::int64_t RandomInputOf(std::mt19937_64& random, const SumValue<std::int64_t>& /*of*/) {
  return static_cast<std::int64_t>(random() % 2000) - 1000;
}
/// Mostly such as a form takes; some that a form does not take beside others, or not at all.
template <typename V>
float RandomInputOf(std::mt19937_64& random, const V& /*of*/) {
  constexpr std::array kOdd = {0x1p60F, -0x1p60F, 0x1p-100F, std::numeric_limits<float>::infinity()};
  const std::uint64_t bits = random();
  return bits % 256 == 0 ? kOdd[(bits >> 8) % kOdd.size()]
                         : static_cast<float>(static_cast<std::int64_t>(bits >> 48)) * 0.25F - 1000.0F;
}

/// Texts cost keys and values without texts nothing: no byte of an entry in a delta or in a table.
using PlainStore = ClusterStore<SumValue<std::int64_t>>;
static_assert(!PlainStore::kHasTexts && PlainStore::kFolds);
static_assert(PlainStore::kEntryBytes.update == 16 && PlainStore::kEntryBytes.form == 24);
static_assert(PlainStore::MostEntryBytes(4096) == PlainStore::kMostEntryBytes);

constexpr std::int64_t kStepsOfSlice = 16;

/// One executor's input: steps of records of one slice, slices that go on, some late ones between them. For some steps
/// keys recur, and then they don't for some.
template <typename V>
class RandomInput {
 public:
  using Update = typename ClusterStore<V>::Update;

  RandomInput(std::mt19937_64& random, std::uint64_t keys, std::int64_t steps) {
    for (std::int64_t i = 0; i < steps; ++i) {
      const bool late = random() % 8 == 0;
      Step step{
          .slice = SliceId{i / kStepsOfSlice - (late ? 1 : 0)}, .enters = !late || random() % 4 == 0, .updates = {}};
      for (std::uint64_t left = 1 + random() % 100; left > 0; --left) {
        const bool hot = i % 8 < 4 || random() % 8 == 0;
        step.updates.push_back({.key = hot ? random() % 3 : random() % keys, .input = RandomInputOf(random, V())});
      }
      steps_.push_back(std::move(step));
    }
  }

  void AddTo(ClusterValues<V>& values) const {
    for (const Step& step : steps_) {
      for (const Update& update : step.updates) {
        values[{Value(step.slice), update.key}].Update(update.input);
      }
    }
  }

  bool empty() const { return next_ == steps_.size(); }
  /// Nothing below it is still to come.
  std::int64_t watermark_ms() const { return static_cast<std::int64_t>(next_) / kStepsOfSlice - 1; }

  void TryTake(StoreNode<V>& node) {
    const Step& step = steps_[next_];
    if (node.TryTake(step.slice, step.enters, step.updates)) {
      ++next_;
    }
  }

 private:
  struct Step {
    SliceId slice;
    bool enters;
    std::vector<Update> updates;
  };
  std::vector<Step> steps_;
  std::size_t next_ = 0;
};

/// Small enough for a test to meet everything.
constexpr FoldOptions kSmallFold{
    .trial_records = 200, .trials_between = 2, .records_per_saved = 4, .combiner_bytes = 16 << 10};

/// Runs a cluster on random input, and compares what it holds with what one sequential run holds.
template <typename V>
ClusterMet RunCluster(std::uint64_t seed, const ClusterOptions& options, std::uint64_t keys, std::int64_t steps = 100) {
  SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << keys << " keys");
  std::mt19937_64 random(seed);
  StoreCluster<V> cluster(options);
  ClusterValues<V> expected;
  std::vector<RandomInput<V>> inputs;
  for (std::uint32_t executor = 0; executor < options.executors; ++executor) {
    inputs.emplace_back(random, keys, steps);
    inputs.back().AddTo(expected);
  }
  std::vector<bool> ended(options.executors);
  for (int step = 0; !cluster.Done() && !testing::Test::HasFailure(); ++step) {
    if (step == 5'000'000) {
      ADD_FAILURE() << "the cluster stands still";
    }
    const std::uint64_t index = random() % options.executors;
    RandomInput<V>& input = inputs[index];
    if (random() % 4 != 0) {
      cluster.Step(random);
    } else if (input.empty()) {
      ended[index] = ended[index] || cluster.node(index).BeginEpochEnd(kEndOfTime);
    } else if (random() % 16 == 0) {
      cluster.node(index).BeginEpochEnd(input.watermark_ms());
    } else {
      input.TryTake(cluster.node(index));
    }
  }
  const ClusterMet met = cluster.met();
  EXPECT_TRUE(SameValues(cluster.TakeValues(), expected));
  return met;
}

using StoreParam = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>;  // executors, slot bytes, keys

class PartitionedStores : public testing::TestWithParam<StoreParam> {};

TEST_P(PartitionedStores, HoldTogetherWhatOneSequentialRunHolds) {
  const auto [executors, slot_bytes, keys] = GetParam();
  ClusterMet met;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    met.Add(RunCluster<Sum>(seed, {.executors = executors, .slot_bytes = slot_bytes, .fold = kSmallFold}, keys));
  }
  EXPECT_EQ(met.takes_that_replaced, 0U) << "integers' forms take everything";
  if (executors == 1) {
    EXPECT_EQ(met.folded + met.appended, 0U) << "there is nobody to hand anything to";
    return;
  }
  EXPECT_GT(met.folded, 0U);
  EXPECT_GT(met.appended, 0U);
  EXPECT_GT(met.taken_by_folder, 0U);
  EXPECT_GT(met.read_outs_for_slice, 0U);
  const bool many_keys = keys >= 500;
  EXPECT_EQ(met.read_outs_to_grow > 0, many_keys);
  EXPECT_EQ(met.switches_off > 0, many_keys);
  EXPECT_EQ(met.switches_on > 0, many_keys);
  EXPECT_EQ(met.read_outs_for_off > 0, many_keys);
}

INSTANTIATE_TEST_SUITE_P(Runs, PartitionedStores,
                         testing::Combine(testing::Values(1U, 2U, 3U, 7U), testing::Values(256U, 1024U),
                                          testing::Values(5UL, 500UL, 1UL << 40)));

template <typename V>
void ExpectFloatsAreRight() {
  ClusterMet met;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    met.Add(RunCluster<V>(seed, {.executors = 3, .fold = kSmallFold}, seed % 2 == 0 ? 500 : 1UL << 40));
  }
  EXPECT_GT(met.takes_that_replaced, 10U);
  EXPECT_GT(met.folded, 0U);
  EXPECT_GT(met.switches_off, 0U);
  EXPECT_GT(met.switches_on, 0U);
}

TEST(PartitionedStores, HoldWhatFormsOfFloatsDoNotTake) {
  ExpectFloatsAreRight<SumValue<float>>();
  ExpectFloatsAreRight<MeanValue<float>>();
}

}  // namespace
}  // namespace glaive::state
