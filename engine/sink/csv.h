// Csv: a sink that writes rows as comma-separated text, one file an executor (see part_file.h).
//
//   window_start_ms,window_end_ms,key,value      event_time_ms,watermark_ms,auction,price
//   1599999600000,1600000200000,17,3             1599999599999,1599999660000,17,250
//
// No row moves: each executor writes its own. Without KeyBy there is no key column; a window without a beginning or an
// end (Unbounded) leaves that field empty. A key and a value that are described structs have a column for each member:
// "key.city", "key.street". Rows of Scan by a key have the columns of key and value. Rows of windows by order begin
// with the window's number and how many records it has: window,records,key,value.
//
// Rows of a stream without a window are written as they are: a number or a text in a column "record", or a record with
// a column for each member. A described record is read again by CsvFile. How values are written is told in
// engine/format/csv_text.h: numbers exactly, texts in quotes where they need them. An aggregate that saw no record
// leaves its field empty; a list is one field, its elements separated by spaces; several aggregates are several fields.
//
// Keys, values and records of a type without a description, or that are to look otherwise, are written by a function
// beside it, and the fields of a record are named by a member:
//
//   struct Bid {
//     static constexpr std::string_view kCsvHeader = "auction,price";
//     friend void AppendCsv(std::string& line, const Bid& bid) { absl::StrAppend(&line, bid.auction, ",", bid.price); }
//   };
//
//   query.LateTo(Csv{"late.csv"}).Aggregate(Count{}).To(Csv{"counts.csv"});
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "engine/base/event_time.h"
#include "engine/format/csv_text.h"
#include "engine/sink/file_sink.h"
#include "engine/sink/late_record.h"
#include "engine/sink/sink.h"
#include "engine/steps/stateful.h"

namespace glaive::engine {

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

/// How rows of a type are written: the names of their fields, and the fields.
template <typename Row>
struct CsvRow;

/// The names of a record's fields.
template <CsvWritable R>
std::string CsvRecordHeader() {
  if constexpr (requires { R::kCsvHeader; }) {
    return std::string(R::kCsvHeader);
  } else {
    std::vector<std::string> names;
    AddCsvNames<R>(names, Described<R> && !kHasOwnCsv<R> ? "" : "record");
    return absl::StrJoin(names, ",");
  }
}

/// The names of a window's fields, of a key's unless it is AllRecords, and of a value's.
template <typename K, typename T>
std::string CsvResultHeader(std::vector<std::string> names = {"window_start_ms", "window_end_ms"}) {
  if constexpr (!std::same_as<K, AllRecords>) {
    AddCsvNames<K>(names, "key");
  }
  AddCsvNames<T>(names, "value");
  return absl::StrJoin(names, ",");
}

template <CsvWritable R>
struct CsvRow<R> {
  static std::string Header() { return CsvRecordHeader<R>(); }
  static void Append(std::string& line, const R& row) {
    const std::size_t begin = line.size();
    AppendCsvValue(line, row);
    if constexpr (kIsOneText<R>) {
      if (line.size() == begin) {  // an empty line would be none
        AppendQuotedCsv(line, "");
      }
    }
  }
};

template <CsvWritable K, CsvWritable T>
struct CsvRow<WindowResult<K, T>> {
  static std::string Header() { return CsvResultHeader<K, T>(); }
  static void Append(std::string& line, const WindowResult<K, T>& row) {
    AppendCsvWindow(line, row.window_start_ms, row.window_end_ms);
    AppendCsvValue(line, row.key);
    line += ',';
    AppendCsvValue(line, row.value);
  }
};

template <CsvWritable T>
struct CsvRow<WindowResult<AllRecords, T>> {
  static std::string Header() { return CsvResultHeader<AllRecords, T>(); }
  static void Append(std::string& line, const WindowResult<AllRecords, T>& row) {
    AppendCsvWindow(line, row.window_start_ms, row.window_end_ms);
    AppendCsvValue(line, row.value);
  }
};

template <typename K, CsvWritable T>
  requires(CsvWritable<K> || std::same_as<K, AllRecords>)
struct CsvRow<NumberedResult<K, T>> {
  static std::string Header() { return CsvResultHeader<K, T>({"window", "records"}); }
  static void Append(std::string& line, const NumberedResult<K, T>& row) {
    absl::StrAppend(&line, row.window, ",", row.records, ",");
    if constexpr (!std::same_as<K, AllRecords>) {
      AppendCsvValue(line, row.key);
      line += ',';
    }
    AppendCsvValue(line, row.value);
  }
};

template <CsvWritable K, CsvWritable S>
struct CsvRow<KeyedState<K, S>> {
  static std::string Header() {
    std::vector<std::string> names;
    AddCsvNames<K>(names, "key");
    AddCsvNames<S>(names, "value");
    return absl::StrJoin(names, ",");
  }
  static void Append(std::string& line, const KeyedState<K, S>& row) {
    AppendCsvValue(line, row.key);
    line += ',';
    AppendCsvValue(line, row.value);
  }
};

template <CsvWritable R>
struct CsvRow<LateRecord<R>> {
  static std::string Header() { return absl::StrCat("event_time_ms,watermark_ms,", CsvRecordHeader<R>()); }
  static void Append(std::string& line, const LateRecord<R>& row) {
    absl::StrAppend(&line, row.event_time_ms, ",", row.watermark_ms, ",");
    AppendCsvValue(line, row.record);
  }
};

template <typename Row>
using CsvSink = FileSink<Row, CsvRow<Row>>;

struct Csv {
  std::string path;

  template <typename Row>
  SinkFactory<Row> Factory() const {
    constexpr bool kHasFields = requires { CsvRow<Row>::Header(); };
    static_assert(kHasFields,
                  "glaive: Csv needs GLAIVE_RECORD of each type T it writes, or an AppendCsv(std::string&, const T&) "
                  "beside it");
    if constexpr (kHasFields) {
      return FileSinkFactory<Row, CsvRow<Row>>(path);
    } else {
      return nullptr;
    }
  }
};

}  // namespace glaive::engine
