// JsonLinesFile: described records from files of JSON, one object a line; engine/format/json_reader.h says how members
// go together.
//
//   struct Trade { std::int64_t time_ms; Text symbol; double price; std::optional<std::uint32_t> lot; };
//   GLAIVE_RECORD(Trade, time_ms, symbol, price, lot)
//
//   From(JsonLinesFile<Trade>(*FindInputFiles("trades/*.jsonl"), &Trade::time_ms))...
//   From(JsonLinesFile<Trade>(files))...                // without event times
//
// Executors share a file if there are fewer files than executors. Bad records, watermarks and memory are those of a
// LineSource (line_source.h).
#pragma once

#include <concepts>
#include <utility>
#include <vector>

#include "engine/format/json_reader.h"
#include "engine/source/line_source.h"
#include "engine/source/source.h"

namespace glaive::engine {

static_assert(LineReader::kPaddingBytes >= JsonReader::kPaddingBytes);

/// `event_time_ms` is a member or a function of a record: milliseconds.
template <typename R, typename EventTime>
  requires(std::invocable<const EventTime&, const R&>)
auto JsonLinesFile(std::vector<ListedFile> files, EventTime event_time_ms, LineSourceOptions options = {}) {
  constexpr bool kReads = Described<R> && kHasShape<R>;
  static_assert(kReads,
                "glaive: JsonLinesFile<R>() takes a struct R with GLAIVE_RECORD, whose members are numbers, bools, "
                "enums, Text, such structs, and std::array and std::optional of these");
  if constexpr (kReads) {
    return SharedFiles<R>(
        std::move(files), [] { return JsonParser<R>(); }, std::move(event_time_ms), options, {},
        LineReader::kMaxLineBytes + JsonReader::MemoryBytes(LineReader::kMaxLineBytes));
  } else {
    return SourceSpec<R, NoEventTime>{};
  }
}

/// Records without event times.
template <typename R>
auto JsonLinesFile(std::vector<ListedFile> files, LineSourceOptions options = {}) {
  return JsonLinesFile<R>(std::move(files), NoEventTime{}, options);
}

}  // namespace glaive::engine
