// Csv: a sink that writes window results as comma-separated text, one file a leader (see part_file.h).
//
//   window_start_ms,window_end_ms,key,value
//   1599999600000,1600000200000,17,3
//
// Numbers are written exactly: integers in full, floating-point values with the fewest digits that read back as the
// same value. An aggregate that saw no record leaves its field empty.
//
//   query.To(Csv{"counts.csv"});
#pragma once

#include <array>
#include <charconv>
#include <concepts>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"

#include "engine/sink/part_file.h"
#include "engine/sink/sink.h"

namespace glaive::engine {

/// The first line of every part.
inline constexpr std::string_view kCsvHeader = "window_start_ms,window_end_ms,key,value\n";

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
      if (absl::Status status = file->Append(kCsvHeader); !status.ok()) {
        return status;
      }
      return std::make_unique<CsvSink<Row>>(*std::move(file));
    };
  }
};

}  // namespace glaive::engine
