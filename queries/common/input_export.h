// ExportRecords: writes the generated records of all executors to a CSV file, for who wants to check a query by other
// means (--export-input, scripts/verify).
//
//   executor,number,event_time_ms,auction,price      number: of the record in its executor's input, from 0
//   0,0,1600000200000,17,250
//
//   absl::Status status = ExportRecords(file, generator, BidTime{}, ReadRecords(flags, executors), "auction,price",
//                                       [](std::string& line, const Bid& bid) { absl::StrAppend(&line, ...); }, watch);
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "engine/files/whole_file.h"
#include "queries/common/generator.h"
#include "rdma/base/watch.h"

namespace glaive::queries {

/// Writes and commits `file`. `record_counts` is by executor; `append(line, record)` appends the values of the columns
/// `column_names`. `watch` may end it; the file gets no name then.
template <typename R, typename EventTime, typename Append>
absl::Status ExportRecords(engine::WholeFile& file, const Generator<R>& generator, const EventTime& event_time_ms,
                           const std::vector<std::uint64_t>& record_counts, const std::string& column_names,
                           const Append& append, const Watch& watch) {
  constexpr std::size_t kAtOnce = 1024;
  absl::Status status = file.Write(absl::StrCat("executor,number,event_time_ms,", column_names, "\n"));
  std::vector<R> records;
  std::string lines;
  for (std::uint32_t executor = 0; executor < record_counts.size(); ++executor) {
    const std::uint64_t count = record_counts[executor];
    for (std::uint64_t first = 0; first < count && status.ok(); first += records.size()) {
      records.resize(std::min<std::uint64_t>(kAtOnce, count - first));
      generator.Fill(executor, first, records);
      lines.clear();
      for (std::size_t i = 0; i < records.size(); ++i) {
        absl::StrAppend(&lines, executor, ",", first + i, ",", event_time_ms(records[i]), ",");
        append(lines, records[i]);
        lines += '\n';
      }
      status = file.Write(lines);
      status.Update(watch());
    }
  }
  return status.ok() ? file.Commit() : status;
}

}  // namespace glaive::queries
