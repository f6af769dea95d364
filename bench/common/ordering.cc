#include "bench/common/ordering.h"

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"

#include "engine/cluster/transport_plan.h"
#include "engine/flags/engine_options.h"
#include "rdma/verbs/relaxed_ordering.h"

namespace glaive::bench {
namespace {

engine::RelaxedOrderingChoice ChoiceOf(const std::string& word) {
  if (word == "on") return engine::RelaxedOrderingChoice::kOn;
  return word == "off" ? engine::RelaxedOrderingChoice::kOff : engine::RelaxedOrderingChoice::kAuto;
}

}  // namespace

void AddOrderingFlag(CLI::App& app, std::string& word) {
  app.add_option("--relaxed-ordering", word,
                 "whether devices may write memory with PCIe relaxed ordering; auto: as a run decides it on each host")
      ->check(CLI::IsMember({"auto", "on", "off"}));
}

bool RelaxesOrdering(const std::string& word, const rdma::VerbsDeviceInfo& device) {
  return engine::PlanRelaxedOrdering(ChoiceOf(word), device, rdma::RelaxedOrderingPays());
}

std::string DescribeOrdering(const std::string& word, const rdma::VerbsDeviceInfo& device) {
  const std::string caveat = engine::RelaxedOrderingCaveat(ChoiceOf(word), device);
  return absl::StrCat(engine::DescribeDevice(device, RelaxesOrdering(word, device)), caveat.empty() ? "" : "\n",
                      caveat);
}

}  // namespace glaive::bench
