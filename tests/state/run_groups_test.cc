#include "state/store/run_groups.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include <gtest/gtest.h>

#include "tests/state/test_hash.h"
#include "tests/state/update_runs.h"

namespace glaive::state {
namespace {

using Group = std::span<const RunItem<Update>>;

std::vector<Update> UpdatesOf(std::size_t count) {
  std::vector<Update> run;
  for (std::uint64_t key = 0; key < count; ++key) {
    run.push_back(Of(key * 3, static_cast<std::int64_t>(key)));
  }
  return run;
}

TEST(RunGroups, HandOutEveryEntryOnceAndInOrder) {
  for (const std::size_t count : {0U, 1U, 31U, 32U, 33U, 64U, 65U, 1000U}) {
    SCOPED_TRACE(testing::Message() << count << " entries");
    const std::vector<Update> run = UpdatesOf(count);
    std::size_t met = 0;
    const absl::Status status = ForEachGroup(
        kTestHash, std::span<const Update>(run), [](std::uint64_t /*hash*/) {},
        [&](Group group) {
          EXPECT_EQ(group.size(), std::min(kGroupSize, count - met));
          for (const RunItem<Update>& item : group) {
            EXPECT_EQ(item.entry, &run[met]);
            EXPECT_EQ(item.key, run[met].key);
            EXPECT_EQ(item.hash, kTestHash(run[met].key));
            ++met;
          }
          return absl::OkStatus();
        });
    EXPECT_TRUE(status.ok());
    EXPECT_EQ(met, count);
  }
}

TEST(RunGroups, AskForAGroupWhileTheOneBeforeIsStillToBeApplied) {
  const std::vector<Update> run = UpdatesOf(5 * kGroupSize + 3);
  std::vector<std::uint64_t> asked_for;
  std::size_t applied = 0;
  const absl::Status status = ForEachGroup(
      kTestHash, std::span<const Update>(run), [&](std::uint64_t hash) { asked_for.push_back(hash); },
      [&](Group group) {
        applied += group.size();
        EXPECT_EQ(asked_for.size(), std::min(run.size(), applied + kGroupSize)) << applied << " applied";
        return absl::OkStatus();
      });
  EXPECT_TRUE(status.ok());
  ASSERT_EQ(asked_for.size(), run.size()) << "each once";
  for (std::size_t i = 0; i < run.size(); ++i) {
    EXPECT_EQ(asked_for[i], kTestHash(run[i].key));
  }
}

TEST(RunGroups, StopAtAnError) {
  const std::vector<Update> run = UpdatesOf(1000);
  int groups = 0;
  const absl::Status status = ForEachGroup(
      kTestHash, std::span<const Update>(run), [](std::uint64_t /*hash*/) {},
      [&](Group /*group*/) { return ++groups == 3 ? absl::AbortedError("third") : absl::OkStatus(); });
  EXPECT_EQ(status.message(), "third");
  EXPECT_EQ(groups, 3);
}

TEST(ApplyEntry, AppliesEitherKindToValuesAndToForms) {
  const Update update = Of(1, 5);
  const Form form = FormOf(1, 70);
  Sum value;
  ApplyEntry{}(value, update);
  ApplyEntry{}(value, form);
  ApplyRunItem{}(value, RunItem<Update>{.hash = 0, .key = 1, .entry = &update});
  EXPECT_EQ(value.Result(), 80);
  CompactForm<Sum> target;
  EXPECT_TRUE(ApplyEntry{}(target, update));
  EXPECT_TRUE(ApplyEntry{}(target, form));
  EXPECT_TRUE(ApplyRunItem{}(target, RunItem<Form>{.hash = 0, .key = 1, .entry = &form}));
  EXPECT_EQ(target.Result(), 145);
}

TEST(ApplyEntry, SaysWhetherAFormTookTheEntry) {
  using Float = SumValue<float>;
  CompactForm<Float> target;
  EXPECT_TRUE(ApplyEntry{}(target, DeltaUpdate<std::uint64_t, float>{.key = 1, .input = 1.0F}));
  EXPECT_FALSE(ApplyEntry{}(target, DeltaUpdate<std::uint64_t, float>{.key = 1, .input = 0x1p60F}));
  DeltaForm<std::uint64_t, Float> large{.key = 1, .form = {}};
  ASSERT_TRUE(large.form.TryUpdate(0x1p60F));
  EXPECT_FALSE(ApplyEntry{}(target, large));
  EXPECT_EQ(target.Result(), 1.0);
}

// A key beside nothing: what travels is as small as it can be.
static_assert(sizeof(DeltaUpdate<std::uint64_t, Nothing>) == 8 && sizeof(DeltaUpdate<std::uint32_t, float>) == 8);
static_assert(sizeof(DeltaForm<std::uint64_t, SumValue<float>>) == 16);

}  // namespace
}  // namespace glaive::state
