// Ordering: --relaxed-ordering of benchmarks over verbs. It means what it means to a run (docs/fabrics.md), and the
// engine decides what `auto` comes to.
//
//   std::string word = "auto";
//   AddOrderingFlag(app, word);
//   options.relaxed_ordering = RelaxesOrdering(word, device->info());
#pragma once

#include <string>

#include "rdma/verbs/verbs_device.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's own name
class App;
}

namespace glaive::bench {

/// --relaxed-ordering=auto, on or off.
void AddOrderingFlag(CLI::App& app, std::string& word);

/// Whether peers write this end's memory with PCIe relaxed ordering. `word` is one of the flag's.
bool RelaxesOrdering(const std::string& word, const rdma::VerbsDeviceInfo& device);

/// `device` and the order of its writes to memory, in words. If what was chosen may end a run, a line behind it says
/// so.
std::string DescribeOrdering(const std::string& word, const rdma::VerbsDeviceInfo& device);

}  // namespace glaive::bench
