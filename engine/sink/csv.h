// Csv: a sink that writes window results as comma-separated text, one file a leader (see part_file.h).
//
//   window_start_ms,window_end_ms,key,value
//   1599999600000,1600000200000,17,3
//
// Numbers are written exactly: integers in full, floating-point values with the fewest digits that read back as the
// same value. An aggregate that saw no record leaves its field empty; a list is one field, its elements separated by
// spaces; several aggregates are several fields.
//
//   query.To(Csv{"counts.csv"});
#pragma once

#include <array>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"

#include "engine/sink/part_file.h"
#include "engine/sink/sink.h"

namespace glaive::engine {

/// The first line of every part: results of several fields are value_1, value_2, and so on.
inline std::string CsvHeader(std::size_t fields) {
  std::string header = "window_start_ms,window_end_ms,key";
  for (std::size_t i = 1; i <= fields; ++i) {
    absl::StrAppend(&header, ",value", fields == 1 ? "" : absl::StrCat("_", i));
  }
  return header + "\n";
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

template <typename Row>
class CsvSink final : public Sink<Row> {
 public:
  explicit CsvSink(PartFile file) : file_(std::move(file)) {}

  bool Ready() override { return file_.Ready(); }
  absl::Status Write(std::span<const Row> rows) override {
    for (const Row& row : rows) {
      line_.clear();
      absl::StrAppend(&line_, row.window_start_ms, ",", row.window_end_ms, ",");
      AppendCsv(line_, row.key);
      line_ += ',';
      AppendCsv(line_, row.value);
      line_ += '\n';
      if (absl::Status status = file_.Append(line_); !status.ok()) {
        return status;
      }
    }
    return absl::OkStatus();
  }
  absl::StatusOr<bool> TryFinish() override { return file_.TryFinish(); }
  absl::Status Commit() override { return file_.Commit(); }

 private:
  PartFile file_;
  std::string line_;
};

struct Csv {
  std::string path;

  template <typename Row>
  SinkFactory<Row> Factory() const {
    return [path = path](const SinkContext& context) -> absl::StatusOr<std::unique_ptr<Sink<Row>>> {
      absl::StatusOr<PartFile> file = PartFile::Create(path, context.executor, context.executor_count);
      if (!file.ok()) {
        return file.status();
      }
      if (absl::Status status = file->Append(CsvHeader(kCsvFields<decltype(Row::value)>)); !status.ok()) {
        return status;
      }
      return std::make_unique<CsvSink<Row>>(*std::move(file));
    };
  }
};

}  // namespace glaive::engine
