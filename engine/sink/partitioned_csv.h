// PartitionedCsv: a sink that writes rows as CSV into a folder, a file for each partition and executor, as Hive and
// others lay out such folders:
//
//   bids/dt=2015-07-15/hm=00%3A01/rows.csv.part-000-of-002      auction,bidder,price
//   bids/partitions.csv.part-000-of-002                         partition,rows,bytes: the executor's files
//
// No row moves: each executor writes its own. The files are the parts of a result (engine/files/partition_folder.h):
// they grow while the run goes on, or appear at its end; a folder with the list partitions.csv is complete. The folder
// is made, or is empty before the run.
//
// `values_of` says to which partition a row belongs: a std::array with a Text for each of the columns. These are in the
// names of folders, and in no file. How rows are written is told in csv.h.
//
//   query.To(PartitionedCsv{"bids", std::array<std::string, 2>{"dt", "hm"},
//                           [](const Bid& bid) { return std::array{DayOf(bid.time_ms), MinuteOf(bid.time_ms)}; }});
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/files/partition_folder.h"
#include "engine/sink/csv.h"
#include "engine/sink/sink.h"
#include "state/record/text.h"

namespace glaive::engine {

template <typename Row, std::size_t kColumns, typename ValuesOf>
class PartitionedCsvSink final : public Sink<Row> {
 public:
  PartitionedCsvSink(std::unique_ptr<PartitionFolder> folder, std::array<std::string, kColumns> columns,
                     ValuesOf values_of)
      : folder_(std::move(folder)), columns_(std::move(columns)), values_of_(std::move(values_of)) {}

  bool Ready() override { return folder_->Ready(); }
  absl::Status Write(std::span<const Row> rows) override {
    for (const Row& row : rows) {
      if (absl::Status status = FindPartition(values_of_(row)); !status.ok()) {
        return status;
      }
      line_.clear();
      CsvRow<Row>::Append(line_, row);
      line_ += '\n';
      if (absl::Status status = folder_->Append(*partition_, line_); !status.ok()) {
        return status;
      }
    }
    return absl::OkStatus();
  }
  void Complete(std::optional<std::int64_t> until_ms) override { folder_->Complete(until_ms); }
  bool WantsToPublish(std::int64_t now_ns) const override { return folder_->WantsToPublish(now_ns); }
  absl::Status Publish(std::int64_t now_ns) override { return folder_->Publish(now_ns); }
  absl::StatusOr<bool> TryFinish() override { return folder_->TryFinish(); }
  void AddParts(std::vector<ResultPart>& parts) const override { folder_->AddParts(parts); }
  absl::Status Commit() override { return folder_->Commit(); }

 private:
  /// Makes `partition_` that of these values: mostly it is so already.
  absl::Status FindPartition(const std::array<Text, kColumns>& values) {
    bool is_same = partition_ != nullptr;
    for (std::size_t i = 0; i < kColumns && is_same; ++i) {
      is_same = values[i].view() == values_[i];
    }
    if (is_same) {
      return absl::OkStatus();
    }
    std::string path;
    for (std::size_t i = 0; i < kColumns; ++i) {
      values_[i] = values[i].view();
      path += (i == 0 ? "" : "/") + PartitionName(columns_[i], values_[i]);
    }
    const absl::StatusOr<PartitionFolder::Partition*> partition = folder_->Find(path);
    partition_ = partition.ok() ? *partition : nullptr;
    return partition.status();
  }

  std::unique_ptr<PartitionFolder> folder_;
  std::array<std::string, kColumns> columns_;
  ValuesOf values_of_;
  std::array<std::string, kColumns> values_;  // of partition_
  PartitionFolder::Partition* partition_ = nullptr;
  std::string line_;
};

template <std::size_t kColumns, typename ValuesOf>
struct PartitionedCsv {
  std::string folder;
  std::array<std::string, kColumns> columns;
  ValuesOf values_of;
  std::size_t most_partitions = PartitionFolder::Options().most_partitions;  // of an executor: each is an open file

  template <typename Row>
  SinkFactory<Row> Factory() const {
    static_assert(std::is_same_v<std::invoke_result_t<const ValuesOf&, const Row&>, std::array<Text, kColumns>>,
                  "glaive: PartitionedCsv needs a function that makes a std::array of a Text for each column of a row");
    constexpr bool kHasFields = requires { CsvRow<Row>::Header(); };
    static_assert(kHasFields,
                  "glaive: PartitionedCsv needs GLAIVE_RECORD of each type T it writes, or an AppendCsv(std::string&, "
                  "const T&) beside it");
    if constexpr (kHasFields) {
      return [spec = *this](const SinkContext& context) -> absl::StatusOr<std::unique_ptr<Sink<Row>>> {
        absl::StatusOr<std::unique_ptr<PartitionFolder>> opened = PartitionFolder::Open(
            spec.folder, {.header = CsvRow<Row>::Header(), .most_partitions = spec.most_partitions}, context.executor,
            context.executor_count, context.claims);
        if (!opened.ok()) {
          return opened.status();
        }
        return std::make_unique<PartitionedCsvSink<Row, kColumns, ValuesOf>>(*std::move(opened), spec.columns,
                                                                             spec.values_of);
      };
    } else {
      return nullptr;
    }
  }
};

template <std::size_t kColumns, typename ValuesOf>
PartitionedCsv(std::string, std::array<std::string, kColumns>, ValuesOf) -> PartitionedCsv<kColumns, ValuesOf>;
template <std::size_t kColumns, typename ValuesOf>
PartitionedCsv(std::string, std::array<std::string, kColumns>, ValuesOf, std::size_t)
    -> PartitionedCsv<kColumns, ValuesOf>;

}  // namespace glaive::engine
