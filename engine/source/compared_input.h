// ComparedInput: something that each node reads for itself, such as a file of its own disk, and what of it has to be
// the same at all nodes. The nodes compare their inputs before a run starts (engine/cluster/input_comparison.h).
//
//   std::vector<ComparedInput> inputs = InputsOf(*FindInputFiles("trace/part-*.csv"));
//   // {"trace/part-0.csv", "12 bytes"}, {"trace/part-1.csv", "0 bytes"}
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/source/input_file.h"

namespace glaive::engine {

struct ComparedInput {
  std::string name;     ///< what the input is, other than all others
  std::string content;  ///< what has to be the same, in words that follow "has": "1234 bytes"
};

/// The inputs of files: their paths and sizes. Never empty, so that a node with files compares with one without.
std::vector<ComparedInput> InputsOf(std::span<const ListedFile> files);

}  // namespace glaive::engine
