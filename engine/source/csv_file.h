// CsvFile: described records from CSV files, by the names in the first line of each; engine/format/csv_reader.h says
// how columns and members go together.
//
//   struct Trade { std::int64_t time_ms; Text symbol; double price; std::optional<std::uint32_t> lot; };
//   GLAIVE_RECORD(Trade, time_ms, symbol, price, lot)
//
//   From(CsvFile<Trade>(*FindInputFiles("trades/*.csv.gz"), &Trade::time_ms))...
//   From(CsvFile<Trade>(files))...                      // without event times
//   From(CsvFile<Trade>(files, &Trade::time_ms, {}, {{"time_ms", "TRADE TIME"}}))...    // a column of another name
//
// Executors share a file if there are fewer files than executors. A quoted field may have line breaks, so whether a
// place of a file is inside quotes depends on all of the text before it. An executor therefore goes over the text
// between its own stretches as well, by memchr: several times as fast as parsing it.
//
// Bad records, watermarks and memory are those of a LineSource (line_source.h).
#pragma once

#include <concepts>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/format/csv_reader.h"
#include "engine/source/line_source.h"
#include "engine/source/source.h"

namespace glaive::engine {

/// For SharedFiles, with a parser that has a CsvParser inside: the lines of CSV, and the bytes that a parser holds.
inline constexpr LineRules kCsvLines = {.csv = true, .blank_lines = true};
inline constexpr std::uint64_t kCsvParserBytes = 2 * LineReader::kMaxLineBytes;

/// `event_time_ms` is a member or a function of a record: milliseconds. `columns` says which columns of the files have
/// other names than the members.
template <typename R, typename EventTime>
  requires(std::invocable<const EventTime&, const R&>)
auto CsvFile(std::vector<ListedFile> files, EventTime event_time_ms, LineSourceOptions options = {},
             const CsvColumns& columns = {}) {
  constexpr bool kReads = Described<R> && kHasShape<R> && kIsFlat<R>;
  static_assert(kReads,
                "glaive: CsvFile<R>() takes a struct R with GLAIVE_RECORD, whose members are numbers, bools, enums, "
                "Text, such structs, std::array of these, and std::optional of one value");
  if constexpr (kReads) {
    const CsvParser<R> checks(columns);  // here, and not once the run has begun
    return SharedFiles<R>(
        std::move(files), [columns] { return CsvParser<R>(columns); }, std::move(event_time_ms), options, kCsvLines,
        kCsvParserBytes);
  } else {
    return SourceSpec<R, NoEventTime>{};
  }
}

/// Records without event times.
template <typename R>
auto CsvFile(std::vector<ListedFile> files, LineSourceOptions options = {}, const CsvColumns& columns = {}) {
  return CsvFile<R>(std::move(files), NoEventTime{}, options, columns);
}

}  // namespace glaive::engine
