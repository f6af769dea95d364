// Main: the whole `main` of a program that runs a query.
//
// It brings the engine's flags (--nodes, --executors, --output and so on), --help, --version, the report and the exit
// codes of docs/operations.md. A program is a function that builds its query:
//
//   std::unique_ptr<Query> Squares(const Results& results) {
//     return FromRange(1, 101).Map([](std::uint64_t n) { return n * n; }).To(results);
//   }
//   int main(int argc, char** argv) { return glaive::engine::Main(argc, argv, Squares); }
//
// A second function says which rows are true, and so the program has --verify: lines of CSV as --output writes them, in
// any order, made in a way that shares nothing with the query.
//
//   std::vector<std::string> ExpectedSquares(std::uint32_t reader_count);  // "1", "4", "9", ...
//   int main(int argc, char** argv) { return glaive::engine::Main(argc, argv, Squares, ExpectedSquares); }
//
// A program with flags or a check of its own is a QueryProgram:
//
//   int main(int argc, char** argv) { return glaive::engine::Main<RidesProgram>(argc, argv); }
//
// Every node of a run calls these functions, on its main thread. Each has to build the same query.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"

#include "engine/cluster/query_program.h"
#include "engine/executor/query.h"
#include "engine/sink/results.h"

namespace glaive::engine {

/// It may return a std::unique_ptr<Query>; an error ends the run with its message.
using QueryFunction = std::function<absl::StatusOr<std::unique_ptr<Query>>(const Results& results)>;

/// The rows of a run in which `reader_count` executors read, as lines of CSV.
using ExpectedLines = std::function<std::vector<std::string>(std::uint32_t reader_count)>;

/// The exit code of the program that `make` makes; it gets the clock and the randomness that only a main may take.
int MainOf(int argc, char** argv, absl::FunctionRef<std::unique_ptr<QueryProgram>()> make);

/// See the head of this file. The program is called by its file's name. Without `expected` it has no --verify.
int Main(int argc, char** argv, const QueryFunction& build, const ExpectedLines& expected = nullptr);

template <std::derived_from<QueryProgram> Program>
int Main(int argc, char** argv) {
  return MainOf(argc, argv, [] { return std::make_unique<Program>(); });
}

}  // namespace glaive::engine
