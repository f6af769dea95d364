// SimFiles: the files of a simulated run, in a folder of the process that is removed with them: the flows as lines of
// text, and the parts of the results.
//
//   in-0-003.txt                  a file of source 0: executor e of n reads 003 if e is 3, or 3 - n
//   out-1.csv.part-002-of-004     executor 2's part of the second output (line_files.h)
//
//   SimFiles files(input, executors, /*first_ending=*/0);
//   auto listed = engine::FindInputFiles(files.InputPattern(0));
//   files.Cut(0, ExecutorId{3});
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rdma/base/ids.h"
#include "tests/sim/event.h"
#include "tests/sim/row_store.h"
#include "tests/sim/scenario.h"

namespace glaive::sim {

/// How the names of files begin, of the input and of results.
inline constexpr std::string_view kInputName = "in-";
inline constexpr std::string_view kOutputName = "out-";

/// The rows and parts that an executor's sinks have published.
struct PublishedParts {
  StoredRows rows;
  std::size_t parts = 0;
};

class SimFiles {
 public:
  /// Each flow is two files, with half of its records each. `first_ending`: that of kFileEndings which the first output
  /// has; those behind it have the next ones.
  SimFiles(const Input& input, const engine::Roles& roles, std::int64_t first_ending);
  ~SimFiles();
  SimFiles(const SimFiles&) = delete;
  SimFiles& operator=(const SimFiles&) = delete;

  /// Removes the folder of a process that has died.
  static void RemoveThoseOf(pid_t process);

  /// The specification of a source's files.
  std::string InputPattern(std::size_t source) const;
  std::string OutputPath(std::size_t output) const;
  /// In a folder that does not exist.
  std::string RefusedOutputPath(std::size_t output) const;

  // What happens to the second file of a flow.
  void Cut(std::size_t source, ExecutorId executor) const;      ///< it loses its second half
  void Damage(std::size_t source, ExecutorId executor) const;   ///< its last line is no record; its time stays
  void Discard(std::size_t source, ExecutorId executor) const;  ///< it is removed

  /// The parts that have their names. A part without its header or its last newline has a row that says so.
  PublishedParts PublishedBy(ExecutorId executor) const;
  /// The names of files that are neither input nor such parts.
  std::vector<std::string> Leftovers() const;
  /// The text without the folder and the process's number, which differ between processes.
  std::string WithoutPlace(const std::string& text) const;

 private:
  std::string InputPath(std::size_t source, std::size_t part) const;
  std::string OutputName(std::size_t output) const;
  std::string SecondOf(std::size_t source, ExecutorId executor) const;
  /// Whether what says how far a part is complete, if it is there, says that all of it is.
  bool FitsProgress(const std::string& part, std::size_t rows) const;

  engine::Roles roles_;
  std::size_t first_ending_;
  std::string folder_;
};

/// The input as the engine's source of lines reads it: `batch` records at a time, and the watermark behind them is the
/// greatest event time so far.
Input AsLinesAreRead(const Input& input, std::int64_t batch);

/// The files of a scenario that reads or writes some; else none.
std::unique_ptr<SimFiles> FilesOf(const Scenario& scenario, const Input& input);

}  // namespace glaive::sim
