// The state backend, in records a second, beside a hand-written table that takes one record at a time.
//
// All cases count the same 64-byte records with uniform keys:
//   *Update    every key is known: each record finds its key and adds one
//   *Line(s)   what memory alone allows an update: a random line for each record, as in a table of keys and values, or
//              two, as in an index over a log, with nothing hashed, compared or probed
//   *Window    windows of two million records, from the first record to the last result: most keys of a wide key
//              space are new, then all are read and dropped
//   Combiner   an executor of several folds or appends records, and hands them to leaders, which drop what they get
//   Merge      a leader merges the updates, or the forms, of others into a slice that knows every key
// The machine's memory limits most of them, so compare rates of one run only.
//   store --benchmark_repetitions=5 --benchmark_report_aggregates_only=true
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include "bench/common/benchmark_main.h"
#include "bench/common/or_die.h"
#include "queries/loops/key_counts.h"
#include "rdma/base/check.h"
#include "rdma/base/ids.h"
#include "rdma/base/prefetch.h"
#include "rdma/memory/page_region.h"
#include "rdma/mesh/executor_mesh.h"
#include "state/crdt/count.h"
#include "state/epoch/delta_reader.h"
#include "state/epoch/outbox.h"
#include "state/index/bucket.h"
#include "state/index/bucket_table.h"
#include "state/index/key_hash.h"
#include "state/log/state_memory.h"
#include "state/store/delta_entry.h"
#include "state/store/fragment.h"
#include "state/store/fragment_geometry.h"
#include "state/store/partitioned_store.h"
#include "state/store/primary_partition.h"
#include "state/store/slice_table.h"
#include "state/store/window_table.h"

namespace glaive::state {
namespace {

constexpr std::size_t kBlockRecords = std::size_t{1} << 21;
constexpr std::uint64_t kMemoryLimitBytes = std::uint64_t{4} << 30;
constexpr std::uint64_t kSeed = 20220612;

using bench::OrDie;
using Key = std::uint64_t;
using Update = DeltaUpdate<Key, Nothing>;
using Slice = SliceTable<Key, CountValue>;
/// Keys handed out, and so entries applied, at a time.
constexpr std::size_t kStep = 256;
static_assert(kStep <= kMostEntries);

// A block of records with uniform keys 1 .. keys. Each pass over it adds another shift to the keys, so that the passes
// together touch all of them.
class Input {
 public:
  explicit Input(std::uint64_t keys)
      : keys_(keys), region_(OrDie(rdma::PageRegion::Map(kBlockRecords * sizeof(Record)))) {
    std::mt19937_64 random(kSeed);
    std::uniform_int_distribution<Key> uniform(0, keys - 1);
    const std::span records(reinterpret_cast<Record*>(region_.data()), kBlockRecords);
    for (Record& record : records) {
      record.key = uniform(random);
    }
    records_ = records;
  }

  // Hands the keys to `apply` in groups of so many.
  template <std::size_t kGroup = kGroupSize, typename ApplyGroup>
  void Pass(ApplyGroup apply) {
    std::array<Key, kGroup> group;
    for (std::size_t first = 0; first < kBlockRecords; first += kGroup) {
      for (std::size_t i = 0; i < kGroup; ++i) {
        const Key key = records_[first + i].key + shift_;
        group[i] = 1 + (key < keys_ ? key : key - keys_);
      }
      apply(std::span<const Key>(group));
    }
    shift_ = (shift_ + keys_ / 3 + 1) % keys_;
  }

 private:
  struct alignas(64) Record {
    Key key;
  };

  std::uint64_t keys_;
  std::uint64_t shift_ = 0;
  rdma::PageRegion region_;
  std::span<const Record> records_;
};

// Makes updates of keys, as a pipeline's end does, and gives them to `apply`.
template <typename ApplyUpdates>
void MakeUpdates(std::span<const Key> keys, ApplyUpdates apply) {
  std::array<Update, kStep> pending;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    pending[i] = Update{.key = keys[i], .input = {}};
  }
  apply(std::span(pending).first(keys.size()));
}

template <typename Table>
void AddTo(Table& table, StateMemory& memory, std::span<const Key> keys) {
  MakeUpdates(keys, [&](std::span<const Update> updates) { OrDie(table.ApplyRun(memory, updates)); });
}

// All keys in random order, so that the log's order tells nothing about them.
std::vector<Key> ShuffledKeys(std::uint64_t keys) {
  std::vector<Key> shuffled(keys);
  std::iota(shuffled.begin(), shuffled.end(), Key{1});
  std::shuffle(shuffled.begin(), shuffled.end(), std::mt19937_64(kSeed));
  return shuffled;
}

template <typename Add>
void AddAll(const std::vector<Key>& keys, Add add) {
  for (std::size_t first = 0; first < keys.size(); first += kStep) {
    add(std::span(keys).subspan(first, std::min(kStep, keys.size() - first)));
  }
}

void Report(benchmark::State& state, std::uint64_t records) {
  state.counters["records"] = benchmark::Counter(static_cast<double>(records), benchmark::Counter::kIsRate);
}

void ReportPasses(benchmark::State& state) {
  Report(state, static_cast<std::uint64_t>(state.iterations()) * kBlockRecords);
}

void KeyCounts(benchmark::internal::Benchmark* benchmark) {
  benchmark->Arg(10'000)->Arg(1'000'000)->Arg(10'000'000)->Unit(benchmark::kMillisecond);
}

using CountTable = queries::AccountTable<queries::CountOf>;

void BM_HandWrittenUpdate(benchmark::State& state) {
  const auto keys = static_cast<std::uint64_t>(state.range(0));
  Input input(keys);
  CountTable table = OrDie(CountTable::Create(keys));
  AddAll(ShuffledKeys(keys), [&](std::span<const Key> group) { queries::CountKeys(group, table); });
  for (auto _ : state) {
    input.Pass([&](std::span<const Key> group) { queries::CountKeys(group, table); });
  }
  ReportPasses(state);
}
BENCHMARK(BM_HandWrittenUpdate)->Apply(KeyCounts);

void BM_SliceUpdate(benchmark::State& state) {
  const auto keys = static_cast<std::uint64_t>(state.range(0));
  Input input(keys);
  StateMemory memory(kMemoryLimitBytes);
  Slice slice = OrDie(Slice::Create(memory, keys));
  AddAll(ShuffledKeys(keys), [&](std::span<const Key> group) { AddTo(slice, memory, group); });
  for (auto _ : state) {
    input.Pass<kStep>([&](std::span<const Key> group) { AddTo(slice, memory, group); });
  }
  ReportPasses(state);
}
BENCHMARK(BM_SliceUpdate)->Apply(KeyCounts);

// Memory for `count` values of T, touched.
template <typename T>
class Values {
 public:
  explicit Values(std::uint64_t count) : region_(OrDie(rdma::PageRegion::Map(count * sizeof(T)))) {
    std::fill(region_.bytes().begin(), region_.bytes().end(), std::byte{0});
  }
  T& operator[](std::uint64_t i) { return reinterpret_cast<T*>(region_.data())[i]; }

 private:
  rdma::PageRegion region_;
};

struct KeyAndCount {
  Key key;
  std::uint64_t count;
};

void BM_OneLine(benchmark::State& state) {
  const auto keys = static_cast<std::uint64_t>(state.range(0));
  Input input(keys);
  Values<KeyAndCount> table(2 * keys);
  for (auto _ : state) {
    input.Pass([&](std::span<const Key> group) {
      for (const Key key : group) {
        ++table[2 * key - 1].count;
      }
    });
  }
  ReportPasses(state);
}
BENCHMARK(BM_OneLine)->Apply(KeyCounts);

void BM_TwoLines(benchmark::State& state) {
  const auto keys = static_cast<std::uint64_t>(state.range(0));
  Input input(keys);
  Values<Bucket> index(keys / BucketTable::kPlannedLoad + 1);
  Values<KeyAndCount> log(keys + 1);
  for (auto _ : state) {
    input.Pass([&](std::span<const Key> group) {
      std::array<KeyAndCount*, kGroupSize> entries;
      for (const Key key : group) {
        Prefetch(&index[key / BucketTable::kPlannedLoad]);
      }
      for (std::size_t i = 0; i < group.size(); ++i) {
        entries[i] = &log[group[i] + index[group[i] / BucketTable::kPlannedLoad].overflow];  // which is 0
        Prefetch(entries[i]);
      }
      for (std::size_t i = 0; i < group.size(); ++i) {
        ++entries[i]->count;
      }
    });
  }
  ReportPasses(state);
}
BENCHMARK(BM_TwoLines)->Apply(KeyCounts);

void BM_HandWrittenWindow(benchmark::State& state) {
  const auto keys = static_cast<std::uint64_t>(state.range(0));
  Input input(keys);
  CountTable table = OrDie(CountTable::Create(keys));
  std::uint64_t results = 0;
  const auto run_window = [&] {
    input.Pass([&](std::span<const Key> group) { queries::CountKeys(group, table); });
    table.Drain([&](Key key, const queries::CountOf& account) { results += key ^ account.count; });
  };
  run_window();  // the table finds its size
  for (auto _ : state) {
    run_window();
  }
  benchmark::DoNotOptimize(results);
  ReportPasses(state);
}
BENCHMARK(BM_HandWrittenWindow)->Apply(KeyCounts);

// Of a WindowTable, windows after the first have cells where keys recur.
template <typename Table>
void BM_Window(benchmark::State& state) {
  Input input(static_cast<std::uint64_t>(state.range(0)));
  StateMemory memory(kMemoryLimitBytes);
  PrimaryPartition<Key, CountValue, Table> partition(memory);
  std::uint64_t results = 0;
  std::int64_t window = 0;
  const auto run_window = [&] {
    Table& table = *OrDie(partition.Open(SliceId{window++}));
    input.Pass<kStep>([&](std::span<const Key> group) { AddTo(table, memory, group); });
    OrDie(table.ForEach([&](const auto& entry) {
      results += entry.key ^ entry.value.Result();
      return absl::OkStatus();
    }));
    partition.DropBefore(SliceId{window});
    while (memory.CleanSome(std::size_t{256} << 10)) {
    }
  };
  run_window();  // the table finds its size
  for (auto _ : state) {
    run_window();
  }
  benchmark::DoNotOptimize(results);
  ReportPasses(state);
}
BENCHMARK(BM_Window<Slice>)->Name("BM_SliceWindow")->Apply(KeyCounts);
BENCHMARK(BM_Window<WindowTable<Key, CountValue>>)->Name("BM_CellWindow")->Apply(KeyCounts);

constexpr std::uint32_t kSlotBytes = 64 << 10;

using Store = PartitionedStore<Key, CountValue>;
constexpr SliceId kSlice{1};

// Executor 0's side of a run over `local` in this process: its store, and a peer that takes all its segments.
class Helper {
 public:
  Helper(std::uint32_t executors, const FoldOptions& fold)
      : executors_(executors),
        geometry_(OrDie(FragmentGeometry::Plan(executors, kSlotBytes, Store::kMostEntryBytes, 1 << 20))) {
    for (std::uint32_t self = 0; self < 2; ++self) {
      meshes_.push_back(OrDie(rdma::ExecutorMesh::Prepare(
          {.self = ExecutorId{self}, .executors_per_node = 2, .executor_count = 2, .channel = {}, .run_token = kSeed},
          geometry_.pool_segments)));
      descriptors_.push_back(meshes_.back()->descriptor());
    }
    for (const auto& mesh : meshes_) {
      OrDie(mesh->Connect(descriptors_));
    }
    outbox_.emplace(executors, meshes_[0]->segments());
    store_.emplace(OrDie(Store::Create({.memory = &memory_,
                                        .pool = &meshes_[0]->segments(),
                                        .outbox = &*outbox_,
                                        .self = ExecutorId{0},
                                        .leaders = Leaders(executors),
                                        .input = 0,
                                        .geometry = geometry_,
                                        .fold = fold})));
    store_->Enter(kSlice);
  }

  // What a pipeline does with records: folds those that the folder takes, and brings the rest.
  void Add(std::span<const Key> keys) {
    std::array<Update, kStep> rest;
    std::size_t count = 0;
    store_->UseFolder(kSlice, [&](auto folder) {
      for (const Key key : keys) {
        if (!folder.TryFold(key, {})) {
          rest[count++] = {.key = key, .input = {}};
        }
      }
      return folder;
    });
    WaitForRoom(count);
    OrDie(store_->Take(kSlice, std::span(rest).first(count)));
    if (store_->wants_read_out()) {
      ReadOut();
    }
  }

  void EndEpoch() {
    ReadOut();
    const EpochMarker marker{.epoch = ++epoch_, .watermark_ms = 0, .executor = 0};
    for (std::uint32_t leader = 1; leader < executors_; ++leader) {
      while (!store_->fragment()->TrySeal(ExecutorId{leader}, marker)) {
        Drain();
      }
    }
    store_->fragment()->AllSealed();
    Drain();
  }

  const Store& store() const { return *store_; }

 private:
  void ReadOut() {
    while (store_->holds_back()) {
      WaitForRoom(kMostEntries);
      OrDie(store_->ReadOutSome());
    }
  }

  void WaitForRoom(std::size_t items) {
    while (!store_->HasRoom(items)) {
      Drain();
    }
  }

  void Drain() {
    rdma::ChannelReceiver& receiver = meshes_[1]->receiver(ExecutorId{0});
    for (std::uint32_t leader = 1; leader < executors_; ++leader) {
      while (outbox_->HasPending(ExecutorId{leader})) {
        outbox_->TrySend(ExecutorId{leader}, meshes_[0]->sender(ExecutorId{1}));
        OrDie(meshes_[1]->Poll());
        if (OrDie(receiver.TryReceive())) {
          receiver.Release();
        }
        OrDie(meshes_[0]->Poll());
      }
    }
    OrDie(meshes_[0]->Poll());
  }

  std::uint32_t executors_;
  FragmentGeometry geometry_;
  StateMemory memory_{kMemoryLimitBytes};
  std::vector<std::unique_ptr<rdma::ExecutorMesh>> meshes_;
  std::vector<rdma::MeshDescriptor> descriptors_;
  std::optional<Outbox> outbox_;
  std::optional<Store> store_;
  std::uint64_t epoch_ = 0;
};

// Arguments: executors, keys, KiB of the combiner. An epoch is a pass.
void BM_Combiner(benchmark::State& state) {
  Input input(static_cast<std::uint64_t>(state.range(1)));
  FoldOptions fold;
  fold.combiner_bytes = static_cast<std::uint64_t>(state.range(2)) << 10;
  Helper helper(static_cast<std::uint32_t>(state.range(0)), fold);
  for (auto _ : state) {
    input.Pass<kStep>([&](std::span<const Key> keys) { helper.Add(keys); });
    helper.EndEpoch();
  }
  ReportPasses(state);
  const Store& store = helper.store();
  state.counters["fold"] = static_cast<double>(state.iterations()) * kBlockRecords /
                           static_cast<double>(store.fragment()->entries() + store.own_entries());
}
BENCHMARK(BM_Combiner)
    ->ArgNames({"executors", "keys", "KiB"})
    ->ArgsProduct({{4, 160}, {1'000, 10'000, 10'000'000}, {512}})
    ->ArgsProduct({{4}, {100'000}, {128, 512, 4096}})
    ->Unit(benchmark::kMillisecond);

// What executor 1 sends of a key.
Update EntryOf(Key key, const Update& /*of*/) { return {.key = key, .input = {}}; }
Store::Form EntryOf(Key key, const Store::Form& /*of*/) {
  Store::Form entry{.key = key, .form = {}};
  GLAIVE_CHECK(entry.form.TryUpdate({}), "a count refuses a record");
  return entry;
}

template <typename Entry>
void BM_Merge(benchmark::State& state) {
  const auto keys = static_cast<std::uint64_t>(state.range(0));
  StateMemory memory(kMemoryLimitBytes);
  Store::Context context;
  context.memory = &memory;
  Store store = OrDie(Store::Create(context));
  DeltaReader reader(ExecutorId{1}, ExecutorId{0}, Store::kEntryBytes);
  AddAll(ShuffledKeys(keys), [&](std::span<const Key> group) {
    MakeUpdates(group, [&](std::span<Update> updates) { OrDie(store.Take(kSlice, updates)); });
  });
  const std::vector<Key> shuffled = ShuffledKeys(std::max<std::uint64_t>(keys, kBlockRecords));
  std::vector<Entry> entries(2048);
  const DeltaRun run{.slice = kSlice,
                     .kind = Entry::kKind,
                     .entry_count = static_cast<std::uint32_t>(entries.size()),
                     .entries = std::as_bytes(std::span(entries))};
  std::size_t next = 0;
  for (auto _ : state) {
    for (Entry& entry : entries) {
      entry = EntryOf(1 + shuffled[next] % keys, entry);
      next = (next + 1) % shuffled.size();
    }
    OrDie(store.CheckRun(reader, run, {.first = SliceId{0}}));
    for (std::size_t merged = 0; merged < entries.size();) {
      merged += OrDie(store.MergeSome(reader, run, merged));
    }
  }
  Report(state, static_cast<std::uint64_t>(state.iterations()) * entries.size());
}
BENCHMARK(BM_Merge<Update>)->Name("BM_MergeUpdates")->Apply(KeyCounts)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_Merge<Store::Form>)->Name("BM_MergeForms")->Apply(KeyCounts)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace glaive::state

int main(int argc, char** argv) { return glaive::bench::BenchmarkMain(argc, argv); }
