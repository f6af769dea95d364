#include "state/store/window_table.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include <gtest/gtest.h>

#include "state/crdt/mean.h"
#include "tests/state/update_runs.h"
#include "tests/state/window_tables.h"

namespace glaive::state {
namespace {

TEST(WindowTable, ForetellsCellsWhereKeysRecur) {
  StateMemory memory(kLimitBytes);
  Table table = Table::Create(memory, {}).value();
  EXPECT_TRUE(table.cells().empty());
  EXPECT_FALSE(table.forecast().recurring) << "without keys";
  Repeat(table, memory, 1, 1, 1);
  EXPECT_FALSE(table.forecast().recurring) << "one key that came once";
  Repeat(table, memory, 2, 999, 1);
  Repeat(table, memory, 1, 499, 1);
  EXPECT_EQ(table.forecast(), (Table::Forecast{.keys = 1000, .recurring = false}));
  Repeat(table, memory, 500, 1, 1);
  EXPECT_EQ(table.forecast(), (Table::Forecast{.keys = 1000, .recurring = true}));

  EXPECT_EQ(table.counts().cell_slices, 0U);
  Table next = Table::Create(memory, table.forecast()).value();
  EXPECT_FALSE(next.cells().empty());
  EXPECT_EQ(next.counts().cell_slices, 1U);
  Repeat(next, memory, 1, 2000, 1);
  EXPECT_EQ(next.forecast(), (Table::Forecast{.keys = 2000, .recurring = false}));
  next.UseFolder([](auto folder) {
    for (std::uint64_t key = 1; key <= 1000; ++key) {
      EXPECT_TRUE(folder.TryFold(key, 1)) << "key " << key;
    }
    return folder;
  });
  EXPECT_EQ(next.forecast(), (Table::Forecast{.keys = 2000, .recurring = true})) << "those folded and those applied";
}

TEST(WindowTable, HasNoKeyTwiceWhenTheKeyOfZerosComesToFullCells) {
  StateMemory memory(kLimitBytes);
  Table table = Table::Create(memory, {.keys = 1000, .recurring = true}).value();
  Repeat(table, memory, 1, 3000, 1);
  Repeat(table, memory, 0, 3001, 1);
  Expected expected;
  for (std::uint64_t key = 0; key <= 3000; ++key) {
    expected[key] = key == 0 ? 1 : 2;
  }
  ExpectHolds(table, expected);
}

TEST(WindowTable, GivesUpCellsThatItsKeysFallTogetherIn) {
  StateMemory memory(kLimitBytes);
  std::vector<std::uint64_t> keys;
  for (std::uint64_t key = 1; keys.size() < 4000; ++key) {
    if (memory.key_hash().Spread(key) < std::uint32_t{1} << 25) {  // in a hundredth of the cells
      keys.push_back(key);
    }
  }
  Table table = Table::Create(memory, {.keys = keys.size(), .recurring = true}).value();
  ASSERT_FALSE(table.cells().empty());
  Expected expected;
  for (int round = 1; round <= 2; ++round) {
    for (const std::uint64_t key : keys) {
      const Update update = Of(key, 3);
      ASSERT_EQ(table.ApplyRun(memory, std::span(&update, 1)), absl::OkStatus());
      expected[key] += 3;
    }
  }
  ExpectHolds(table, expected);
  EXPECT_TRUE(table.forecast().unfit);
  EXPECT_EQ(table.counts().unfit_cells, 1U);
  EXPECT_GT(table.counts().cell_overflows, keys.size());
  EXPECT_TRUE(Table::Create(memory, table.forecast()).value().cells().empty());
}

TEST(WindowTable, HoldsWhatAnUnorderedMapHolds) {
  // In the log; in cells; in cells that are too few. With the key of zeros.
  for (const Table::Forecast& forecast : {Table::Forecast{}, Table::Forecast{.keys = 50'000, .recurring = true},
                                          Table::Forecast{.keys = 1000, .recurring = true}}) {
    SCOPED_TRACE(testing::Message() << forecast.keys << " keys foretold");
    std::mt19937_64 random(17);
    StateMemory memory(kLimitBytes);
    Table table = Table::Create(memory, forecast).value();
    ASSERT_EQ(table.cells().empty(), !forecast.recurring);
    Expected expected;
    for (int i = 0; i < 2000; ++i) {
      ApplyRandomRun(table, memory, random, 50'000, expected);
    }
    ASSERT_TRUE(expected.contains(0));
    ExpectHolds(table, expected);
    EXPECT_EQ(table.counts().cell_slices, forecast.recurring ? 1 : 0);
    EXPECT_EQ(table.counts().cell_overflows > 0, forecast.keys == 1000);
    table.Release(memory);
    EXPECT_EQ(table.size(), 0U);
  }
}

using MeanTable = WindowTable<std::uint64_t, MeanValue<float>>;
using MeanUpdate = DeltaUpdate<std::uint64_t, float>;
using MeanForm = DeltaForm<std::uint64_t, MeanValue<float>>;

/// Updates keys 1 to `keys` with what a double cannot add without rounding, every `every`th of them, or else with what
/// it can. Key k has a sum of 4 k and four updates.
MeanTable::Forecast MeanOfSums(StateMemory& memory, const MeanTable::Forecast& expected, std::uint64_t keys,
                               std::uint64_t every) {
  MeanTable table = MeanTable::Create(memory, expected).value();
  for (const bool odd : {false, true}) {
    for (std::uint64_t key = 1; key <= keys; ++key) {
      const float large = key % every == 0 ? 0x1p80F : 1.0F;
      const auto small = static_cast<float>(2 * key);
      for (const float input : {small, odd ? -large : large}) {
        Apply(table, memory, std::vector<MeanUpdate>{{.key = key, .input = input}});
      }
    }
  }
  std::vector<bool> met(keys + 1);
  EXPECT_TRUE(table
                  .ForEach([&](const auto& entry) {
                    EXPECT_FALSE(met[entry.key]) << "key " << entry.key << " twice";
                    met[entry.key] = true;
                    EXPECT_EQ(entry.value.Result(), static_cast<double>(entry.key)) << "key " << entry.key;
                    return absl::OkStatus();
                  })
                  .ok());
  EXPECT_EQ(std::count(met.begin(), met.end(), true), keys);
  const MeanTable::Forecast forecast = table.forecast();
  table.Release(memory);
  return forecast;
}

TEST(WindowTable, BringsTogetherWhatCellsTookAndWhatTheyDidNot) {
  StateMemory memory(kLimitBytes);
  // All keys have cells; and half of them have none.
  for (const std::uint64_t keys : {6000U, 2000U}) {
    const MeanTable::Forecast forecast{.keys = keys, .recurring = true};
    EXPECT_FALSE(MeanOfSums(memory, forecast, 6000, 200).unfit);
    EXPECT_TRUE(MeanOfSums(memory, forecast, 6000, 3).unfit);
  }
}

TEST(WindowTable, HoldsWhatAnUnorderedMapHoldsWhateverCellsRefuseOfARun) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr std::array kInputs = {0x1p60F, -0x1p60F, kInfinity, 0x1p-60F, 1.0F, 2.0F, 3.0F, 0.5F};
  // Of mostly what cells take, and of nothing else than what they don't; in cells within the cache and outside; in
  // cells that are too few.
  for (const std::uint64_t odd : {1U, 50U}) {
    for (const std::uint64_t keys : {10U, 1000U, 10'000U}) {
      SCOPED_TRACE(testing::Message() << keys << " keys foretold, one odd record in " << odd);
      std::mt19937_64 random(odd + keys);
      StateMemory memory(kLimitBytes, 0, {.first_level_cells_bytes = 64 << 10});
      MeanTable table = MeanTable::Create(memory, {.keys = keys, .recurring = true}).value();
      ASSERT_EQ(table.cells().exceeds_first_level_cache(), keys > 1000);
      std::unordered_map<std::uint64_t, MeanValue<float>> expected;
      for (int i = 0; i < 500; ++i) {
        std::vector<MeanUpdate> updates;
        for (std::uint64_t left = random() % 200; left > 0; --left) {
          const std::uint64_t bits = random();
          const std::size_t input = bits % odd == 0 ? (bits >> 8) % 4 : 4 + (bits >> 8) % 4;
          updates.push_back({.key = (bits >> 16) % 2000, .input = kInputs[input]});
          expected[updates.back().key].Update(updates.back().input);
        }
        if (i % 2 == 0) {
          Apply(table, memory, updates);
          continue;
        }
        std::vector<MeanForm> forms;
        for (const MeanUpdate& update : updates) {
          MeanForm form{.key = update.key, .form = {}};
          if (form.form.TryUpdate(update.input)) {
            forms.push_back(form);
          } else {
            Apply(table, memory, std::vector<MeanUpdate>{update});
          }
        }
        Apply(table, memory, forms);
      }
      std::size_t met = 0;
      EXPECT_TRUE(table
                      .ForEach([&](const auto& entry) {
                        EXPECT_EQ(entry.value.Result(), expected.at(entry.key).Result()) << "key " << entry.key;
                        ++met;
                        return absl::OkStatus();
                      })
                      .ok());
      EXPECT_EQ(met, expected.size());
      EXPECT_EQ(table.size(), expected.size());
      EXPECT_GT(table.counts().cell_overflows, 0U);
      EXPECT_GT(table.counts().replaced_forms, 0U);
      EXPECT_EQ(table.counts().prefetched_entries > 0, keys > 1000);
    }
  }
}

TEST(WindowTable, StaysInTheLogOnceCellsHaveTakenTooLittle) {
  StateMemory memory(kLimitBytes);
  const MeanTable::Forecast first = MeanOfSums(memory, {}, 2000, 2);
  EXPECT_EQ(first, (MeanTable::Forecast{.keys = 2000, .recurring = true})) << "the log takes all";
  const MeanTable::Forecast second = MeanOfSums(memory, first, 2000, 2);
  EXPECT_TRUE(second.unfit);
  EXPECT_TRUE(MeanTable::Create(memory, second).value().cells().empty());
  EXPECT_TRUE(MeanOfSums(memory, second, 2000, 2).unfit) << "remembered";
  EXPECT_TRUE(MeanTable::Both(first, second).unfit);
}

/// Each of keys 0 to `keys` - 1 once, with a mean that is the key.
void ExpectMeansAreKeys(const MeanTable& table, std::uint64_t keys) {
  std::vector<bool> met(keys);
  const absl::Status status = table.ForEach([&](const auto& entry) {
    EXPECT_FALSE(met.at(entry.key)) << "key " << entry.key << " twice";
    met[entry.key] = true;
    EXPECT_EQ(entry.value.Result(), static_cast<double>(entry.key));
    return absl::OkStatus();
  });
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(std::count(met.begin(), met.end(), true), keys);
  EXPECT_EQ(table.size(), keys) << "each once, with a cell and an entry of the log or not";
}

/// A record of `key`, whose value is the key.
MeanUpdate KeyOf(std::uint64_t key) { return {.key = key, .input = static_cast<float>(key)}; }

/// What other executors found out of a key: `records` records, whose values are the key.
MeanForm DeltaOf(std::uint64_t key, int records) {
  MeanForm delta{.key = key, .form = {}};
  for (; records > 0; --records) {
    EXPECT_TRUE(delta.form.TryUpdate(static_cast<float>(key)));
  }
  return delta;
}

TEST(WindowTable, MovesUnlessNoCellTakesMuchOfIt) {
  constexpr std::uint64_t kKeys = 1500;
  for (const std::uint64_t every : {2U, 60U, 70U}) {
    SCOPED_TRACE(testing::Message() << "of every key " << every << ", more records than a cell counts");
    StateMemory memory(kLimitBytes);
    MeanTable table = MeanTable::Create(memory, {}).value();
    for (std::uint64_t key = 0; key < kKeys; ++key) {
      const MeanForm delta = DeltaOf(key, key % every == 0 ? 150 : 1);
      Apply(table, memory, std::vector<MeanForm>{delta, delta});
    }
    ASSERT_TRUE(table.cells().empty());
    for (std::uint64_t i = 0; i < 20 * kKeys; ++i) {
      Apply(table, memory, std::vector<MeanUpdate>{KeyOf(i % kKeys)});
    }
    MoveAll(table, memory);
    EXPECT_EQ(table.cells().size(), every < 64 ? 0 : kKeys);
    ExpectMeansAreKeys(table, kKeys);
    EXPECT_FALSE(table.forecast().unfit) << "what was moved is no record";
  }
}

TEST(WindowTable, StaysInTheLogWithoutMemoryForCells) {
  StateMemory memory(std::uint64_t{8} << 20);
  Table table = Table::Create(memory, {}).value();
  Repeat(table, memory, 1, 15'000, 6);  // 720 KiB of cells, of 8 MiB that are partly used
  EXPECT_TRUE(table.cells().empty());
  EXPECT_EQ(table.size(), 15'000U);
}

TEST(WindowTable, DeltasOfManyRecordsDoNotMakeCellsUnfit) {
  constexpr std::uint64_t kKeys = 100;
  for (const int records_of_delta : {1, 100, 128, 254, 255}) {
    SCOPED_TRACE(testing::Message() << "deltas of " << records_of_delta << " records");
    StateMemory memory(kLimitBytes);
    MeanTable table = MeanTable::Create(memory, {.keys = kKeys, .recurring = true}).value();
    for (int epoch = 0; epoch < 50; ++epoch) {
      for (std::uint64_t key = 0; key < kKeys; ++key) {
        Apply(table, memory, std::vector<MeanUpdate>(static_cast<std::size_t>(records_of_delta), KeyOf(key)));
        Apply(table, memory, std::vector<MeanForm>(10, DeltaOf(key, records_of_delta)));
      }
    }
    ASSERT_EQ(table.cells().size(), kKeys);
    ExpectMeansAreKeys(table, kKeys);
    EXPECT_FALSE(table.forecast().unfit);
  }
}

TEST(WindowTable, CellsAreUnfitForRecordsHoweverManyDeltasComeBeside) {
  constexpr std::uint64_t kKeys = 2000;
  for (const float input : {1.0F, std::numeric_limits<float>::infinity()}) {
    StateMemory memory(kLimitBytes);
    MeanTable table = MeanTable::Create(memory, {.keys = kKeys, .recurring = true}).value();
    for (std::uint64_t key = 0; key < kKeys; ++key) {
      Apply(table, memory, std::vector<MeanUpdate>{{.key = key, .input = input}});
      Apply(table, memory, std::vector<MeanForm>(100, DeltaOf(key, 1)));
    }
    EXPECT_EQ(table.forecast().unfit, input != 1.0F);
  }
}

TEST(WindowTable, StopsVisitingTheLogAtAnErrorInTheCells) {
  StateMemory memory(kLimitBytes);
  Table table = Table::Create(memory, {.keys = 10, .recurring = true}).value();
  Repeat(table, memory, 1, 100, 1);
  ASSERT_LT(table.cells().size(), table.size()) << "some are in the log";
  std::vector<std::uint64_t> visited;
  const absl::Status status = table.ForEach([&](const auto& entry) {
    visited.push_back(entry.key);
    return absl::AbortedError("enough");
  });
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
  EXPECT_EQ(visited.size(), 1U);
}

TEST(WindowTable, LeavesMemoryToTheLog) {
  StateMemory memory(std::uint64_t{32} << 20);
  constexpr Table::Forecast kForecast{.keys = 10'000, .recurring = true};  // 513 KiB of cells
  const Table first = Table::Create(memory, kForecast).value();
  EXPECT_FALSE(first.cells().empty());
  const Block other = memory.Acquire(std::size_t{28} << 20, Contents::kAny).value();
  const Table second = Table::Create(memory, kForecast).value();
  EXPECT_TRUE(second.cells().empty()) << "more than a sixteenth of what is left";
  memory.Release(other, Contents::kAny);
}

TEST(WindowTable, LivesOnWhatWasGivenBackWhereCellsFindNoMemory) {
  StateMemory memory(std::uint64_t{3584} << 10);  // one region of 2 MiB, and room for no other
  std::vector<Block> blocks;
  for (auto block = memory.Acquire(std::size_t{40} << 10, Contents::kAny); block.ok();
       block = memory.Acquire(std::size_t{40} << 10, Contents::kAny)) {
    blocks.push_back(*block);
  }
  for (std::size_t i = 0; i < blocks.size(); i += 2) {  // no two of them neighbours
    memory.Release(blocks[i], Contents::kAny);
  }
  Table table = Table::Create(memory, {.keys = 1000, .recurring = true}).value();  // 50 KiB of cells
  EXPECT_TRUE(table.cells().empty());
  Repeat(table, memory, 1, 1000, 1);
  EXPECT_EQ(table.size(), 1000U);
}

TEST(WindowTable, AForecastOfSlicesIsOfTheMostKeysAndOfAnyThatRecur) {
  EXPECT_EQ(Table::Both({.keys = 5, .recurring = true}, {.keys = 7, .recurring = false}),
            (Table::Forecast{.keys = 7, .recurring = true}));
  EXPECT_EQ(Table::Both({.keys = 5, .recurring = false}, {.keys = 3, .recurring = false}),
            (Table::Forecast{.keys = 5, .recurring = false}));
}

TEST(WindowTable, AStreamOfWindowsLivesOnEachOthersMemory) {
  StateMemory memory(kLimitBytes);
  Table::Forecast forecast;
  std::uint64_t used_bytes = 0;
  for (int window = 0; window < 20; ++window) {
    Table table = Table::Create(memory, forecast).value();
    // The number of keys varies, as that of a window's does.
    Repeat(table, memory, 1, 9000 + static_cast<std::uint64_t>(window) * 20, 4);
    forecast = table.forecast();
    table.Release(memory);
    used_bytes = window < 2 ? memory.used_bytes() : used_bytes;
    EXPECT_EQ(memory.used_bytes(), used_bytes) << "window " << window;
  }
}

}  // namespace
}  // namespace glaive::state
