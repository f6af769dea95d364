// FileSink: a sink that writes rows as lines of text, one file an executor (see part_file.h). A format says how a row
// is written, and with which line the file begins, if any:
//
//   template <typename Row>
//   struct NumberFormat {
//     static std::string Header() { return "number"; }   // "": none
//     static void Append(std::string& line, const Row& row) { absl::StrAppend(&line, row); }
//   };
//
//   return FileSinkFactory<Row, NumberFormat<Row>>(path);
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/files/part_file.h"
#include "engine/sink/sink.h"

namespace glaive::engine {

template <typename Row, typename Format>
class FileSink final : public Sink<Row> {
 public:
  explicit FileSink(PartFile file) : file_(std::move(file)) {}

  /// Whether its file's thread has nothing to do. A simulation waits for that, to be the same each time.
  bool Idle() const { return file_.Idle(); }

  bool Ready() override { return file_.Ready(); }
  absl::Status Write(std::span<const Row> rows) override {
    rows_ += rows.size();
    for (const Row& row : rows) {
      line_.clear();
      Format::Append(line_, row);
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

template <typename Row, typename Format>
SinkFactory<Row> FileSinkFactory(std::string path) {
  return [path = std::move(path)](const SinkContext& context) -> absl::StatusOr<std::unique_ptr<Sink<Row>>> {
    absl::StatusOr<PartFile> file = PartFile::Create(path, context.executor, context.executor_count, context.claims);
    if (!file.ok()) {
      return file.status();
    }
    if (const std::string header = Format::Header(); !header.empty()) {
      if (absl::Status status = file->AppendHeader(header + "\n"); !status.ok()) {
        return status;
      }
    }
    return std::make_unique<FileSink<Row, Format>>(*std::move(file));
  };
}

}  // namespace glaive::engine
