// LineSource: records from the lines of text files, plain or gzip, each line parsed into one.
//
// An executor's source reads its files one after the other in its own thread, a piece of at most 64 KiB a Poll (see
// input_file.h), and ends behind the last. Errors of a file always end the run; a bad line and a line that is too long
// do, or are skipped and counted, as the options say. Messages begin with "FILE:LINE:COLUMN: ".
//
// The watermark is the greatest event time read so far. It moves on at every `watermark_every`-th record of the flow
// and at the end, nowhere else, and no batch straddles such a record: so which records are late depends on the files
// and the options, not on how reading was cut into pieces. Skipped lines are no records and do not count.
//
// Files should follow each other in time. Where one goes back, its records are late if their windows have closed; allow
// for it with the query's lateness.
//
//   const auto files = FindInputFiles("trace/part-*.csv.gz");
//   From(Lines<TaskEvent>(*files, ParseTaskEvent{}, TaskEventTime{}, {.on_bad_record = OnBadRecord::kSkip}))...
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/source/input_files.h"
#include "engine/source/line_parser.h"
#include "engine/source/line_reader.h"
#include "engine/source/source.h"
#include "rdma/base/check.h"

namespace glaive::engine {

enum class OnBadRecord : std::uint8_t {
  kFail,  // the first one ends the run
  kSkip,  // they are counted, and the first is in the report
};

struct LineSourceOptions {
  OnBadRecord on_bad_record = OnBadRecord::kFail;
  std::uint64_t watermark_every = 1024;  // records of a flow, at least 1
};

/// The most records of a batch.
inline constexpr std::uint64_t kMaxLineBatch = 4096;

/// What became of input that is no record.
class BadRecords {
 public:
  explicit BadRecords(OnBadRecord policy) : policy_(policy) {}

  /// FailedPrecondition with the message if that ends the run.
  absl::Status Add(const std::string& message);
  /// The same for a line that a parser refused.
  absl::Status Add(const LineReader& reader, const ParseError& error);

  std::uint64_t count() const { return count_; }
  const std::string& first() const { return first_; }

 private:
  OnBadRecord policy_;
  std::uint64_t count_ = 0;
  std::string first_;
};

template <typename R, LineParser<R> Parser, typename EventTime>
class LineSource final : public Source<R> {
 public:
  LineSource(std::vector<ListedFile> files, const Parser& parser, EventTime event_time_ms,
             const LineSourceOptions& options)
      : options_(options),
        parser_(parser),
        event_time_ms_(event_time_ms),
        reader_(std::move(files)),
        bad_(options.on_bad_record) {
    GLAIVE_CHECK(options.watermark_every > 0, "a watermark every 0 records");
  }

  SourceBatch<R> Poll() override {
    records_.clear();
    const std::uint64_t limit = std::min(kMaxLineBatch, options_.watermark_every - read_ % options_.watermark_every);
    bool has_read = false;
    bool has_more = true;
    while (has_more && !ended_ && records_.size() < limit) {
      const LineEvent event = reader_.Next();
      has_more = event != LineEvent::kWait || (records_.empty() && !std::exchange(has_read, true));
      if (has_more) {
        status_ = Handle(event);
        ended_ = event == LineEvent::kEnd || !status_.ok();
      }
    }
    read_ += records_.size();
    if (ended_ || read_ % options_.watermark_every == 0) {
      watermark_ms_ = greatest_ms_;
    }
    return {.records = records_, .event_time_shift_ms = 0, .watermark_ms = watermark_ms_, .ended = ended_};
  }

  absl::Status status() const override { return status_; }

  SourceFindings findings() const override {
    return {.bad_records = bad_.count(), .first_bad_record = bad_.first(), .outside_records = outside_};
  }

 private:
  absl::Status Handle(LineEvent event) {
    switch (event) {
      case LineEvent::kLine:
        return Parse();
      case LineEvent::kFault:
        return bad_.Add(reader_.fault());
      case LineEvent::kWait:
        return reader_.Read();
      case LineEvent::kEnd:
        break;
    }
    return absl::OkStatus();
  }

  absl::Status Parse() {
    R record{};
    switch (parser_(reader_.line(), record, error_)) {
      case Parsed::kRecord:
        greatest_ms_ = std::max(greatest_ms_, event_time_ms_(record));
        records_.push_back(record);
        break;
      case Parsed::kOutside:
        ++outside_;
        break;
      case Parsed::kBad:
        return bad_.Add(reader_, error_);
    }
    return absl::OkStatus();
  }

  LineSourceOptions options_;
  Parser parser_;
  EventTime event_time_ms_;
  LineReader reader_;
  BadRecords bad_;
  ParseError error_;
  std::vector<R> records_;
  std::uint64_t read_ = 0;  // records of this flow
  std::uint64_t outside_ = 0;
  std::int64_t greatest_ms_ = kMinEventTimeMs;
  std::int64_t watermark_ms_ = kMinEventTimeMs;
  bool ended_ = false;
  absl::Status status_;
};

/// The records of `files` for From(): each executor reads its part of them (input_files.h). `parser` and
/// `event_time_ms` are copied into every source.
template <typename R, LineParser<R> Parser, typename EventTime>
SourceSpec<R, EventTime> Lines(std::vector<ListedFile> files, Parser parser, EventTime event_time_ms,
                               LineSourceOptions options = {}) {
  const auto open = [files = std::move(files), parser = std::move(parser), event_time_ms,
                     options](const SourceContext& context) -> absl::StatusOr<std::unique_ptr<Source<R>>> {
    return std::make_unique<LineSource<R, Parser, EventTime>>(FilesOf(files, context.executor, context.executor_count),
                                                              parser, event_time_ms, options);
  };
  return {.open = open,
          .event_time_ms = event_time_ms,
          .memory_bytes = LineReader::kMemoryBytes + std::min(kMaxLineBatch, options.watermark_every) * sizeof(R)};
}

}  // namespace glaive::engine
