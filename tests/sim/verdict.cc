#include "tests/sim/verdict.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "tests/sim/sim_files.h"

namespace glaive::sim {
namespace {

/// Beyond --peer-timeout, how long survivors may take to their end.
constexpr std::int64_t kEndWithinNs = kPeerTimeoutNs + 2'000'000'000;

/// The first lines that one has and the other has not.
std::string Difference(std::vector<std::string> found, std::vector<std::string> expected, std::string_view what) {
  std::ranges::sort(found);
  std::ranges::sort(expected);
  if (found == expected) return "";
  std::vector<std::string> wrong;
  std::vector<std::string> missing;
  std::ranges::set_difference(found, expected, std::back_inserter(wrong));
  std::ranges::set_difference(expected, found, std::back_inserter(missing));
  return absl::StrCat(std::string(what), ": ", found.size(), " found, ", expected.size(), " expected",
                      missing.empty() ? "" : absl::StrCat("; missing ", missing.size(), ", first: ", missing.front()),
                      wrong.empty() ? "" : absl::StrCat("; wrong ", wrong.size(), ", first: ", wrong.front()));
}

/// What all nodes have published.
StoredRows AllRows(const RunFacts& facts) {
  StoredRows all;
  for (const NodeFacts& node : facts.nodes) {
    all.rows.insert(all.rows.end(), node.published.rows.begin(), node.published.rows.end());
    all.late.insert(all.late.end(), node.published.late.begin(), node.published.late.end());
  }
  return all;
}

/// The first line that is not expected, or not as often.
std::string Surplus(std::vector<std::string> found, std::vector<std::string> expected) {
  std::ranges::sort(found);
  std::ranges::sort(expected);
  std::vector<std::string> wrong;
  std::ranges::set_difference(found, expected, std::back_inserter(wrong));
  return wrong.empty() ? "" : absl::StrCat("a failed run has published ", wrong.front());
}

std::string CheckRows(const RunFacts& facts, const Expected& expected) {
  StoredRows all = AllRows(facts);
  const std::string rows = Difference(std::move(all.rows), expected.rows, "rows");
  const std::string late = Difference(std::move(all.late), expected.late, "late records");
  return absl::StrCat(rows, rows.empty() || late.empty() ? "" : "; ", late);
}

bool NamesNode(const absl::Status& status, std::int64_t node) {
  const std::string name = absl::StrCat("node ", node);
  for (std::size_t at = 0; (at = status.message().find(name, at)) != absl::string_view::npos; at += name.size()) {
    const std::size_t behind = at + name.size();
    if (behind == status.message().size() || !absl::ascii_isdigit(static_cast<unsigned char>(status.message()[behind])))
      return true;
  }
  return false;
}

/// Beside the code, an error of a fault of files says which file it was: one of the input, or of the output. The name
/// of an output begins with a '.' until it is final.
bool NamesFile(const absl::Status& status, FaultKind kind) {
  const auto names = [&](std::string_view before, std::string_view name) {
    return absl::StrContains(status.message(), absl::StrCat(std::string(before), std::string(name)));
  };
  if (!absl::IsFailedPrecondition(status)) return false;
  return IsOfInputFiles(kind) ? names("/", kInputName) : names("/", kOutputName) || names("/.", kOutputName);
}

/// Why a node's error is not what the fault should lead to; empty if it is.
std::string WhatIsWrongWith(const absl::Status& status, const Fault& fault, std::int64_t node) {
  const auto complain = [&](std::string_view expected) {
    return absl::StrCat("node ", node, " ended with '", status.ToString(), "', expected ", std::string(expected));
  };
  if (fault.kind == FaultKind::kNoState) {
    const bool fits = absl::IsResourceExhausted(status) && absl::StrContains(status.message(), "memory-limit");
    return fits ? "" : complain("RESOURCE_EXHAUSTED and --memory-limit");
  }
  const bool names_victim = node == fault.victim || NamesNode(status, fault.victim);
  if (IsOfInputFiles(fault.kind) || IsOfOutputFiles(fault.kind)) {
    return NamesFile(status, fault.kind) && names_victim ? "" : complain("the file and the node that met it");
  }
  if (!StrikesAnywhere(fault.kind)) {
    const bool is_resource = fault.kind >= FaultKind::kNoSegments && fault.kind <= FaultKind::kNoRegistration;
    const absl::StatusCode code = is_resource ? absl::StatusCode::kResourceExhausted : absl::StatusCode::kInternal;
    return status.code() == code && names_victim && absl::StrContains(status.message(), "simulated")
               ? ""
               : complain("the cause and the node that met it");
  }
  if (!absl::IsUnavailable(status)) return complain("UNAVAILABLE");
  // The victim itself knows only that it has lost somebody.
  return names_victim || (ConcernsTwo(fault.kind) && NamesNode(status, fault.other_victim))
             ? ""
             : complain("the lost node's name");
}

/// Whether a node that lost a connection says so of one that a fault has ended, while another fault keeps the nodes
/// from telling each other which fault that was.
bool NamesOneOfSeveral(const absl::Status& status, const std::vector<Fault>& causes) {
  const auto keeps_silent = [](const Fault& each) { return StrikesAnywhere(each.kind); };
  const auto is_named = [&](const Fault& each) { return NamesNode(status, each.victim); };
  return causes.size() > 1 && absl::IsUnavailable(status) && std::ranges::any_of(causes, keeps_silent) &&
         std::ranges::any_of(causes, is_named);
}

/// The same for the faults that may have been the cause: empty if the error fits one of them.
std::string WhatIsWrongWith(const absl::Status& status, const std::vector<Fault>& causes, std::int64_t node) {
  if (NamesOneOfSeveral(status, causes)) return "";
  std::string wrong;
  for (const Fault& each : causes) {
    const std::string why = WhatIsWrongWith(status, each, node);
    if (why.empty()) return "";
    absl::StrAppend(&wrong, wrong.empty() ? "" : "; or ", why);
  }
  return wrong;
}

/// The faults that may end the run. A used-up budget does not say when it strikes.
std::vector<Fault> Causes(const Scenario& scenario, const RunFacts& facts) {
  std::vector<Fault> causes;
  for (std::size_t i = 0; i < kMostFaults; ++i) {
    const Fault fault = scenario.faults()[i];
    const bool may_have_struck = facts.faults[i].has_struck || fault.kind == FaultKind::kNoState;
    if (!IsHarmless(fault.kind) && may_have_struck) causes.push_back(fault);
  }
  return causes;
}

/// How long after the faults a node has ended, beyond what it may take; 0 or less: in time. A fault that strikes
/// unnoticed has no such time: a used-up budget, or a change of the input, which a node meets when it reads the file.
std::int64_t LateByNs(const RunFacts& facts, const std::vector<Fault>& causes, std::int64_t node) {
  std::int64_t last_ns = 0;
  for (const FaultFacts& each : facts.faults) last_ns = std::max(last_ns, each.has_struck ? each.struck_ns : 0);
  const NodeFacts& ending = facts.nodes[static_cast<std::size_t>(node)];
  std::int64_t within_ns = kEndWithinNs;
  for (const Fault& each : causes) {
    const bool strikes_unnoticed = each.kind == FaultKind::kNoState || IsOfInputFiles(each.kind);
    if (strikes_unnoticed && WhatIsWrongWith(*ending.ended, each, node).empty()) return 0;
    if (each.kind == FaultKind::kLongStall && node == each.victim) within_ns = kEndWithinNs + 4 * kPeerTimeoutNs;
  }
  return ending.ended_ns - last_ns - within_ns;
}

/// Whether a node has heard no more of the coordinator once it had committed: it cannot know whether all others have.
/// None can be told for sure, over a network that loses messages. docs/operations.md says so.
bool IsInDoubt(const std::vector<Fault>& causes, std::int64_t node) {
  return std::ranges::any_of(causes, [&](const Fault& each) {
    const std::int64_t cut_off = each.victim == 0 ? each.other_victim : each.victim;
    return each.kind == FaultKind::kLongPartition && each.step >= Step::kCommitted &&
           (each.victim == 0 || each.other_victim == 0) && cut_off == node;
  });
}

}  // namespace

Verdict Judge(const Scenario& scenario, const RunFacts& facts, const Expected& expected) {
  std::vector<std::int64_t> well;
  std::vector<std::int64_t> failed;
  for (std::size_t node = 0; node < facts.nodes.size(); ++node) {
    const NodeFacts& each = facts.nodes[node];
    if (each.gave_up && each.parts > 0 && scenario.publishes == 0) {
      return {.problem = absl::StrCat("node ", node, " gave its results up, and left ", each.parts, " parts published"),
              .has_failed = true};
    }
    if (each.was_killed) continue;
    (each.ended->ok() ? well : failed).push_back(static_cast<std::int64_t>(node));
  }
  if (failed.empty() && well.empty()) return {.problem = "", .has_failed = true};  // all were killed
  if (failed.empty()) return {.problem = CheckRows(facts, expected), .has_failed = false};
  const std::vector<Fault> causes = Causes(scenario, facts);
  if (causes.empty()) {
    return {.problem = absl::StrCat("node ", failed.front(), " failed without a cause: ",
                                    facts.nodes[static_cast<std::size_t>(failed.front())].ended->ToString()),
            .has_failed = true};
  }
  for (const std::int64_t node : failed) {
    const NodeFacts& each = facts.nodes[static_cast<std::size_t>(node)];
    if (std::string wrong = WhatIsWrongWith(*each.ended, causes, node); !wrong.empty()) return {wrong, true};
    if (each.parts > 0 && scenario.publishes == 0) {
      return {absl::StrCat("node ", node, " failed, and left ", each.parts, " parts published"), true};
    }
    if (LateByNs(facts, causes, node) > 0) {
      return {absl::StrCat("node ", node, " ended ", LateByNs(facts, causes, node) / 1'000'000, " ms too late"), true};
    }
  }
  StoredRows all = AllRows(facts);
  std::string surplus = Surplus(std::move(all.rows), expected.rows);
  absl::StrAppend(&surplus, Surplus(std::move(all.late), expected.late));
  if (!surplus.empty()) return {surplus, true};
  const bool in_doubt = std::ranges::all_of(failed, [&](std::int64_t node) { return IsInDoubt(causes, node); });
  if (!well.empty() && !in_doubt) {
    return {absl::StrCat("node ", well.front(), " ended well, node ", failed.front(),
                         " failed: ", facts.nodes[static_cast<std::size_t>(failed.front())].ended->ToString()),
            true};
  }
  return {.problem = "", .has_failed = true};
}

}  // namespace glaive::sim
