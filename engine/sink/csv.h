// Csv: a sink that writes rows as comma-separated text, one file an executor (see part_file.h).
//
//   window_start_ms,window_end_ms,key,value      event_time_ms,watermark_ms,auction,price
//   1599999600000,1600000200000,17,3             1599999599999,1599999660000,17,250
//
// Without KeyBy there is no key column; a window without a beginning or an end (Unbounded) leaves that field empty.
// Rows of Scan by a key have columns "key" and "value".
//
// Numbers are written exactly: integers in full, floating-point values with the fewest digits that read back as the
// same value. An aggregate that saw no record leaves its field empty; a list is one field, its elements separated by
// spaces; several aggregates are several fields.
//
// Rows of a stream without a window are written as they are: a number in a column "record", or a record of your own.
//
// Keys, values and records of a type of your own are written by a function beside it, and the fields of a record are
// named by a member:
//
//   struct Bid {
//     static constexpr std::string_view kCsvHeader = "auction,price";
//     friend void AppendCsv(std::string& line, const Bid& bid) { absl::StrAppend(&line, bid.auction, ",", bid.price); }
//   };
//
//   query.LateTo(Csv{"late.csv"}).Aggregate(Count{}).To(Csv{"counts.csv"});
#pragma once

#include <array>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"

#include "engine/base/event_time.h"
#include "engine/files/part_file.h"
#include "engine/sink/late_record.h"
#include "engine/sink/sink.h"
#include "engine/steps/stateful.h"

namespace glaive::engine {

/// Appends ",name", or for several fields ",name_1,name_2" and so on.
inline void AppendCsvNames(std::string& header, std::string_view name, std::size_t fields) {
  for (std::size_t i = 1; i <= fields; ++i) {
    header += ',';
    header += name;
    header += fields == 1 ? "" : absl::StrCat("_", i);
  }
}

template <std::integral T>
void AppendCsv(std::string& line, T value) {
  absl::StrAppend(&line, value);
}
template <std::floating_point T>
void AppendCsv(std::string& line, T value) {
  std::array<char, 64> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  line.append(digits.data(), end);
}
inline void AppendCsv(std::string& line, absl::int128 value) { line += (std::ostringstream() << value).str(); }
template <typename T>
void AppendCsv(std::string& line, const std::optional<T>& value) {
  if (value) {
    AppendCsv(line, *value);
  }
}

/// As one field, its elements separated by spaces.
template <typename T>
void AppendCsv(std::string& line, const std::vector<T>& values) {
  std::string_view separator;
  for (const T& value : values) {
    line += separator;
    AppendCsv(line, value);
    separator = " ";
  }
}
/// As several fields.
template <typename... Ts>
void AppendCsv(std::string& line, const std::tuple<Ts...>& fields) {
  std::size_t index = 0;
  std::apply([&](const Ts&... field) { ((line += index++ == 0 ? "" : ",", AppendCsv(line, field)), ...); }, fields);
}

/// How many fields a result takes.
template <typename T>
inline constexpr std::size_t kCsvFields = 1;
template <typename... Ts>
inline constexpr std::size_t kCsvFields<std::tuple<Ts...>> = (kCsvFields<Ts> + ...);

/// A window's start and end, and a comma behind each.
inline void AppendCsvWindow(std::string& line, std::int64_t start_ms, std::int64_t end_ms) {
  if (start_ms != kMinEventTimeMs) {
    AppendCsv(line, start_ms);
  }
  line += ',';
  if (end_ms != kMaxEventTimeMs) {
    AppendCsv(line, end_ms);
  }
  line += ',';
}

/// What has an AppendCsv, above or beside its type.
template <typename T>
concept CsvWritable = requires(std::string& line, const T& value) { AppendCsv(line, value); };

/// How rows of a type are written: the names of their fields, and the fields.
template <typename Row>
struct CsvRow;

/// The names of a record's fields.
template <CsvWritable R>
std::string CsvRecordHeader() {
  if constexpr (requires { R::kCsvHeader; }) {
    return std::string(R::kCsvHeader);
  } else {
    std::string names;
    AppendCsvNames(names, "record", kCsvFields<R>);
    return names.substr(1);
  }
}

template <CsvWritable R>
struct CsvRow<R> {
  static std::string Header() { return CsvRecordHeader<R>(); }
  static void Append(std::string& line, const R& row) { AppendCsv(line, row); }
};

template <CsvWritable K, CsvWritable T>
struct CsvRow<WindowResult<K, T>> {
  static std::string Header() {
    std::string header = "window_start_ms,window_end_ms";
    AppendCsvNames(header, "key", kCsvFields<K>);
    AppendCsvNames(header, "value", kCsvFields<T>);
    return header;
  }
  static void Append(std::string& line, const WindowResult<K, T>& row) {
    AppendCsvWindow(line, row.window_start_ms, row.window_end_ms);
    AppendCsv(line, row.key);
    line += ',';
    AppendCsv(line, row.value);
  }
};

template <CsvWritable T>
struct CsvRow<WindowResult<AllRecords, T>> {
  static std::string Header() {
    std::string header = "window_start_ms,window_end_ms";
    AppendCsvNames(header, "value", kCsvFields<T>);
    return header;
  }
  static void Append(std::string& line, const WindowResult<AllRecords, T>& row) {
    AppendCsvWindow(line, row.window_start_ms, row.window_end_ms);
    AppendCsv(line, row.value);
  }
};

template <CsvWritable K, CsvWritable S>
struct CsvRow<KeyedState<K, S>> {
  static std::string Header() {
    std::string header;
    AppendCsvNames(header, "key", kCsvFields<K>);
    AppendCsvNames(header, "value", kCsvFields<S>);
    return header.substr(1);
  }
  static void Append(std::string& line, const KeyedState<K, S>& row) {
    AppendCsv(line, row.key);
    line += ',';
    AppendCsv(line, row.value);
  }
};

template <CsvWritable R>
struct CsvRow<LateRecord<R>> {
  static std::string Header() { return absl::StrCat("event_time_ms,watermark_ms,", CsvRecordHeader<R>()); }
  static void Append(std::string& line, const LateRecord<R>& row) {
    absl::StrAppend(&line, row.event_time_ms, ",", row.watermark_ms, ",");
    AppendCsv(line, row.record);
  }
};

template <typename Row>
class CsvSink final : public Sink<Row> {
 public:
  explicit CsvSink(PartFile file) : file_(std::move(file)) {}

  /// Whether its file's thread has nothing to do.
  bool Idle() const { return file_.Idle(); }

  bool Ready() override { return file_.Ready(); }
  absl::Status Write(std::span<const Row> rows) override {
    rows_ += rows.size();
    for (const Row& row : rows) {
      line_.clear();
      CsvRow<Row>::Append(line_, row);
      line_ += '\n';
      if (absl::Status status = file_.Append(line_); !status.ok()) {
        return status;
      }
    }
    return absl::OkStatus();
  }
  void Complete(std::optional<std::int64_t> until_ms) override { file_.Complete(rows_, until_ms); }
  bool WantsToPublish(std::int64_t now_ns) const override { return file_.WantsToPublish(now_ns); }
  absl::Status Publish(std::int64_t now_ns) override { return file_.Publish(now_ns); }
  absl::StatusOr<bool> TryFinish() override { return file_.TryFinish(); }
  void AddParts(std::vector<ResultPart>& parts) const override { parts.push_back(file_.Describe(rows_)); }
  absl::Status Commit() override { return file_.Commit(); }

 private:
  PartFile file_;
  std::uint64_t rows_ = 0;
  std::string line_;
};

struct Csv {
  std::string path;

  template <typename Row>
  SinkFactory<Row> Factory() const {
    constexpr bool kHasFields = requires { CsvRow<Row>::Header(); };
    static_assert(kHasFields, "glaive: Csv needs an AppendCsv(std::string&, const T&) beside each type T it writes");
    if constexpr (kHasFields) {
      return [path = path](const SinkContext& context) -> absl::StatusOr<std::unique_ptr<Sink<Row>>> {
        absl::StatusOr<PartFile> file =
            PartFile::Create(path, context.executor, context.executor_count, context.claims);
        if (!file.ok()) {
          return file.status();
        }
        if (absl::Status status = file->Append(CsvRow<Row>::Header() + "\n"); !status.ok()) {
          return status;
        }
        return std::make_unique<CsvSink<Row>>(*std::move(file));
      };
    } else {
      return nullptr;
    }
  }
};

}  // namespace glaive::engine
