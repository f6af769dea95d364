// LineCheck: the check of a program that says which rows are true, as lines of CSV (main.h).
//
// A node sees the rows of its own executors only. It finds rows that are wrong, or that come too often; when all
// executors are its own, missing rows too. Rows that are missing altogether, or that come at two nodes, show in the
// totals of all nodes: the number of rows and a sum of their hashes.
//
// Sorts the lines of both sides: some seconds for a million.
//
//   LineCheck check([](std::uint32_t) { return std::vector<std::string>{"1", "4", "9"}; }, lines);
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/cluster/main.h"
#include "engine/cluster/query_program.h"
#include "engine/sink/results.h"

namespace glaive::engine {

/// OK if the lines of some executors are rows of the expected ones, each as often as it is true; with `all_are_here`,
/// if none of these is missing either. Else DataLoss with the first few wrong rows, and how many there are. Sorts both.
absl::Status CompareLines(std::vector<std::string>& expected, std::vector<std::string>& lines, bool all_are_here);

class LineCheck final : public RunCheck {
 public:
  LineCheck(ExpectedLines expected, std::shared_ptr<const RetainedLines> lines);

  std::uint64_t verify_memory_bytes(std::uint32_t reader_count) const override;
  absl::StatusOr<std::string> CheckNode(const RunFacts& facts, const Watch& watch) override;
  absl::Status CheckRun(std::span<const std::string> nodes) override;

 private:
  ExpectedLines expected_lines_;
  std::shared_ptr<const RetainedLines> lines_;
  std::string expected_totals_;  // of all nodes; CheckNode makes them for CheckRun
};

}  // namespace glaive::engine
