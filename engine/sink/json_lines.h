// JsonLines: a sink that writes rows as JSON, one object a line, one file an executor (see part_file.h).
//
//   {"window_start_ms":1599999600000,"window_end_ms":1600000200000,"key":17,"value":3}
//   {"event_time_ms":1599999599999,"watermark_ms":1599999660000,"record":{"auction":17,"price":250}}
//   {"auction":17,"price":250}
//
// No row moves: each executor writes its own.
//
// The first is a window's result: without KeyBy there is no key, and a window without a beginning or an end (Unbounded)
// has null there. A row of Scan by a key has key and value. The second is a late record. The third is a described
// record of a stream without a window, which JsonLinesFile reads again; anything else of such a stream is the member
// "record" of an object, as is a described record that an AppendJson beside it writes as no object. How values are
// written is told in engine/format/json_text.h.
//
//   query.Aggregate(Count{}).To(JsonLines{"counts.jsonl"});
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>

#include "engine/base/event_time.h"
#include "engine/format/json_text.h"
#include "engine/sink/file_sink.h"
#include "engine/sink/late_record.h"
#include "engine/sink/sink.h"
#include "engine/steps/stateful.h"
#include "state/record/record.h"

namespace glaive::engine {

/// A window's start and end as an object's first members, and a comma behind each.
inline void AppendJsonWindow(std::string& line, std::int64_t start_ms, std::int64_t end_ms) {
  line += "{\"window_start_ms\":";
  if (start_ms == kMinEventTimeMs) {
    line += "null";
  } else {
    AppendJson(line, start_ms);
  }
  line += ",\"window_end_ms\":";
  if (end_ms == kMaxEventTimeMs) {
    line += "null";
  } else {
    AppendJson(line, end_ms);
  }
  line += ',';
}

/// An object's last members: a key, unless it is AllRecords, and a value.
template <typename K, typename T>
void AppendJsonKeyAndValue(std::string& line, const K& key, const T& value) {
  if constexpr (!std::same_as<K, AllRecords>) {
    line += "\"key\":";
    AppendJson(line, key);
    line += ',';
  }
  line += "\"value\":";
  AppendJson(line, value);
  line += '}';
}

/// How rows of a type are written.
template <typename Row>
struct JsonRow;

struct NoHeader {
  static std::string Header() { return ""; }
};

template <JsonWritable R>
struct JsonRow<R> : NoHeader {
  static void Append(std::string& line, const R& row) {
    const std::size_t begin = line.size();
    AppendJson(line, row);
    // An AppendJson beside a described type may write something else than an object.
    if (!Described<R> || line[begin] != '{') {
      line.insert(begin, "{\"record\":");
      line += '}';
    }
  }
};

template <typename K, JsonWritable T>
  requires(JsonWritable<K> || std::same_as<K, AllRecords>)
struct JsonRow<WindowResult<K, T>> : NoHeader {
  static void Append(std::string& line, const WindowResult<K, T>& row) {
    AppendJsonWindow(line, row.window_start_ms, row.window_end_ms);
    AppendJsonKeyAndValue(line, row.key, row.value);
  }
};

template <typename K, JsonWritable T>
  requires(JsonWritable<K> || std::same_as<K, AllRecords>)
struct JsonRow<NumberedResult<K, T>> : NoHeader {
  static void Append(std::string& line, const NumberedResult<K, T>& row) {
    absl::StrAppend(&line, "{\"window\":", row.window, ",\"records\":", row.records, ",");
    if constexpr (!std::same_as<K, AllRecords>) {
      line += "\"key\":";
      AppendJson(line, row.key);
      line += ',';
    }
    line += "\"value\":";
    AppendJson(line, row.value);
    line += '}';
  }
};

template <JsonWritable K, JsonWritable S>
struct JsonRow<KeyedState<K, S>> : NoHeader {
  static void Append(std::string& line, const KeyedState<K, S>& row) {
    line += '{';
    AppendJsonKeyAndValue(line, row.key, row.value);
  }
};

template <JsonWritable R>
struct JsonRow<LateRecord<R>> : NoHeader {
  static void Append(std::string& line, const LateRecord<R>& row) {
    line += "{\"event_time_ms\":";
    AppendJson(line, row.event_time_ms);
    line += ",\"watermark_ms\":";
    AppendJson(line, row.watermark_ms);
    line += ",\"record\":";
    AppendJson(line, row.record);
    line += '}';
  }
};

struct JsonLines {
  std::string path;

  template <typename Row>
  SinkFactory<Row> Factory() const {
    constexpr bool kHasMembers = requires { JsonRow<Row>::Header(); };
    static_assert(
        kHasMembers,
        "glaive: JsonLines needs GLAIVE_RECORD of each type T it writes, or an AppendJson(std::string&, const "
        "T&) beside it");
    if constexpr (kHasMembers) {
      return FileSinkFactory<Row, JsonRow<Row>>(path);
    } else {
      return nullptr;
    }
  }
};

}  // namespace glaive::engine
