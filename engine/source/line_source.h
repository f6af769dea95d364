// LineSource: records from the lines of text files, plain or gzip, each line parsed into one.
//
//   const auto files = FindInputFiles("trace/part-*.csv.gz");
//   From(Lines(*files))...                                       // TextLine{Text text}, without event times
//   From(Lines<TaskEvent>(*files, ParseTaskEvent{}, TaskEventTime{}, {.on_bad_record = OnBadRecord::kSkip}))...
//
// CsvFile (csv_file.h) and JsonLinesFile (json_lines_file.h) read described structs.
//
// What moves: nothing. An executor's source reads its share of the files (input_files.h) in its own thread, one file
// after the other, at most 64 KiB a Poll, and ends behind the last. Errors of a file and of a header always end the
// run; a bad line and a line that is too long do, or are skipped and counted, as the options say. Messages begin with
// "FILE:LINE:COLUMN: ", or with "FILE:byte BYTE:COLUMN: " where executors share a file of JSON or text
// (LineReader::Place).
//
// The watermark is the greatest event time read so far. It moves on at every `watermark_every`-th record of the flow
// and at the end, nowhere else, and no batch straddles such a record: so which records are late depends on the files,
// the number of executors and the options, not on how reading was cut into pieces. Skipped lines are no records and do
// not count.
//
// Files should follow each other in time. Where one goes back, its records are late if their windows have closed; allow
// for it with the query's lateness.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include "engine/format/line_parser.h"
#include "engine/source/input_files.h"
#include "engine/source/line_reader.h"
#include "engine/source/source.h"
#include "rdma/base/check.h"
#include "state/record/record.h"
#include "state/record/text.h"
#include "state/record/text_arena.h"

namespace glaive::engine {

enum class OnBadRecord : std::uint8_t {
  kFail,  // the first one ends the run
  kSkip,  // they are counted, and the first is in the report
};

struct LineSourceOptions {
  OnBadRecord on_bad_record = OnBadRecord::kFail;
  std::uint64_t watermark_every = 1024;  // records of a flow, at least 1
  /// Whether executors share a file where there are fewer files than executors. Records of a shared file reach a state
  /// of their key in any order. Else each file is read by one executor, in its order.
  bool share_files = true;
};

/// The most records of a batch.
inline constexpr std::uint64_t kMaxLineBatch = 4096;

/// The count of bad records, the first of them, and the policy for them.
class BadRecords {
 public:
  explicit BadRecords(OnBadRecord policy) : policy_(policy) {}

  /// FailedPrecondition with the message if that ends the run.
  absl::Status Add(const std::string& message);
  /// The same for the reader's line, which a parser refused.
  absl::Status Add(const LineReader& reader, const ParseError& error);

  std::uint64_t count() const { return count_; }
  const std::string& first() const { return first_; }

 private:
  OnBadRecord policy_;
  std::uint64_t count_ = 0;
  std::string first_;
};

/// A parser of files that begin with a header.
template <typename P>
concept HeaderParser = requires(P& parse, std::string_view line, ParseError& error) {
  { parse.ReadHeader(line, error) } -> std::same_as<Parsed>;
};

template <typename R, LineParser<R> Parser, typename EventTime>
class LineSource final : public Source<R> {
 public:
  LineSource(std::vector<FileShare> files, Parser parser, EventTime event_time_ms, const LineSourceOptions& options,
             LineRules rules = {})
      : options_(options),
        parser_(std::move(parser)),
        event_time_ms_(event_time_ms),
        reader_(std::move(files), rules),
        bad_(options.on_bad_record) {
    GLAIVE_CHECK(options.watermark_every > 0, "a watermark every 0 records");
  }

  SourceBatch<R> Poll() override {
    records_.clear();
    texts_.Clear();
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
      case LineEvent::kHeader:
        return ParseHeader();
      case LineEvent::kFault:
        return reader_.fault_is_of_header() ? absl::FailedPreconditionError(reader_.fault())
                                            : bad_.Add(reader_.fault());
      case LineEvent::kWait:
        return reader_.Read();
      case LineEvent::kEnd:
        break;
    }
    return absl::OkStatus();
  }

  absl::Status ParseHeader() {
    if constexpr (HeaderParser<Parser>) {
      if (parser_.ReadHeader(reader_.line(), error_) == Parsed::kBad) {
        return absl::FailedPreconditionError(absl::StrCat(reader_.Place(error_.column), ": ", error_.reason));
      }
    }
    return absl::OkStatus();
  }

  Parsed ParseInto(R& record) {
    if constexpr (TextParser<Parser, R>) {
      return parser_(reader_.line(), record, texts_, error_);
    } else {
      return parser_(reader_.line(), record, error_);
    }
  }

  absl::Status Parse() {
    R record{};
    switch (ParseInto(record)) {
      case Parsed::kRecord:
        if constexpr (!std::is_same_v<EventTime, NoEventTime>) {
          const std::int64_t event_time_ms = event_time_ms_(record);
          if (event_time_ms == kMinEventTimeMs || event_time_ms == kMaxEventTimeMs) {
            error_.At(1, absl::StrCat("its event time, ", event_time_ms, " ms, is an end of the scale and no time"));
            return bad_.Add(reader_, error_);
          }
          greatest_ms_ = std::max(greatest_ms_, event_time_ms);
        }
        records_.push_back(record);
        break;
      case Parsed::kBlank:
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
  state::TextArena texts_;  // of records_, as far as they do not refer to the reader's lines
  std::uint64_t read_ = 0;  // records of this flow
  std::uint64_t outside_ = 0;
  std::int64_t greatest_ms_ = kMinEventTimeMs;
  std::int64_t watermark_ms_ = kMinEventTimeMs;
  bool ended_ = false;
  absl::Status status_;
};

/// The event time of a member, for callers that take a pointer to one; anything else is as it is.
template <typename R, typename EventTime>
auto EventTimeOf(EventTime event_time_ms) {
  if constexpr (std::is_member_pointer_v<EventTime>) {
    return [event_time_ms](const R& record) -> std::int64_t { return std::invoke(event_time_ms, record); };
  } else {
    return event_time_ms;
  }
}

/// Records of files, each read by a parser that `make_parser()` returns, of which a source holds `parser_bytes`.
template <typename R, typename MakeParser, typename EventTime>
auto SharedFiles(std::vector<ListedFile> files, MakeParser make_parser, EventTime event_time_ms,
                 LineSourceOptions options, LineRules rules, std::uint64_t parser_bytes) {
  using Parser = decltype(make_parser());
  using Time = decltype(EventTimeOf<R>(event_time_ms));
  const Time time = EventTimeOf<R>(event_time_ms);
  std::vector<ComparedInput> compared_inputs = InputsOf(files);
  const auto open = [files = std::move(files), make_parser = std::move(make_parser), time, options,
                     rules](const SourceContext& context) -> absl::StatusOr<std::unique_ptr<Source<R>>> {
    return std::make_unique<LineSource<R, Parser, Time>>(
        FilesOf(files, context.executor, context.executor_count, options.share_files), make_parser(), time, options,
        rules);
  };
  return SourceSpec<R, Time>{.open = open,
                             .event_time_ms = time,
                             .memory_bytes = LineReader::kMemoryBytes + parser_bytes +
                                             std::min(kMaxLineBatch, options.watermark_every) * sizeof(R),
                             .compared_inputs = std::move(compared_inputs)};
}

/// The records of `files` for From(): each executor reads its share of them. `parser` and `event_time_ms` are copied
/// into every source.
template <typename R, LineParser<R> Parser, typename EventTime>
auto Lines(std::vector<ListedFile> files, Parser parser, EventTime event_time_ms, LineSourceOptions options = {}) {
  return SharedFiles<R>(
      std::move(files), [parser = std::move(parser)] { return parser; }, event_time_ms, options, {},
      TextParser<Parser, R> ? LineReader::kMaxLineBytes : 0);
}

/// A line of a text file, without its end.
struct TextLine {
  Text text;
};
GLAIVE_RECORD(TextLine, text)

struct TakeLine {
  Parsed operator()(std::string_view line, TextLine& record, ParseError& /*error*/) const {
    record.text = line;
    return Parsed::kRecord;
  }
};

/// The lines of `files` for From(), blank ones included. They have no event times.
inline auto Lines(std::vector<ListedFile> files, LineSourceOptions options = {}) {
  return SharedFiles<TextLine>(
      std::move(files), [] { return TakeLine{}; }, NoEventTime{}, options, {.blank_lines = true}, 0);
}

}  // namespace glaive::engine
