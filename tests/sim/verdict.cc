#include "tests/sim/verdict.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

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

std::string CheckRows(const RunFacts& facts, const Expected& expected) {
  StoredRows all;
  for (const NodeFacts& node : facts.nodes) {
    all.rows.insert(all.rows.end(), node.published.rows.begin(), node.published.rows.end());
    all.late.insert(all.late.end(), node.published.late.begin(), node.published.late.end());
  }
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

/// Why the error is not what the fault should lead to; empty if it is.
std::string WhatIsWrongWith(const absl::Status& status, const Scenario& scenario, std::int64_t node) {
  const FaultKind kind = scenario.fault_kind();
  const auto complain = [&](std::string_view expected) {
    return absl::StrCat("node ", node, " ended with '", status.ToString(), "', expected ", std::string(expected));
  };
  if (kind == FaultKind::kNoState) {
    const bool fits = absl::IsResourceExhausted(status) && absl::StrContains(status.message(), "memory-limit");
    return fits ? "" : complain("RESOURCE_EXHAUSTED and --memory-limit");
  }
  if (!StrikesAnywhere(kind)) {
    const bool is_resource = kind >= FaultKind::kNoSegments && kind <= FaultKind::kNoRegistration;
    const absl::StatusCode code = is_resource ? absl::StatusCode::kResourceExhausted : absl::StatusCode::kInternal;
    const bool names = node == scenario.victim || NamesNode(status, scenario.victim);
    return status.code() == code && names && absl::StrContains(status.message(), "simulated")
               ? ""
               : complain("the cause and the node that met it");
  }
  if (!absl::IsUnavailable(status)) return complain("UNAVAILABLE");
  if (node == scenario.victim) return "";  // it knows only that it has lost somebody
  const bool names =
      NamesNode(status, scenario.victim) || (ConcernsTwo(kind) && NamesNode(status, scenario.other_victim));
  return names ? "" : complain("the lost node's name");
}

}  // namespace

Verdict Judge(const Scenario& scenario, const RunFacts& facts, const Expected& expected) {
  std::vector<std::int64_t> well;
  std::vector<std::int64_t> failed;
  for (std::size_t node = 0; node < facts.nodes.size(); ++node) {
    const NodeFacts& each = facts.nodes[node];
    if (each.was_killed) continue;
    (each.ended->ok() ? well : failed).push_back(static_cast<std::int64_t>(node));
  }
  const FaultKind kind = scenario.fault_kind();
  const NodeFacts& victim = facts.nodes[static_cast<std::size_t>(scenario.victim)];
  if (kind == FaultKind::kEndsAtOnce && victim.was_killed && victim.parts > 0) {
    return {.problem = absl::StrCat("node ", scenario.victim, " gave its results up, and left ", victim.parts,
                                    " parts published"),
            .has_failed = true};
  }
  const bool may_fail = !IsHarmless(kind) && (facts.has_struck || kind == FaultKind::kNoState);
  if (failed.empty() && well.empty()) return {.problem = "", .has_failed = true};  // the only node was killed
  if (failed.empty()) return {.problem = CheckRows(facts, expected), .has_failed = false};
  if (!may_fail) {
    return {.problem = absl::StrCat("node ", failed.front(), " failed without a cause: ",
                                    facts.nodes[static_cast<std::size_t>(failed.front())].ended->ToString()),
            .has_failed = true};
  }
  for (const std::int64_t node : failed) {
    const NodeFacts& each = facts.nodes[static_cast<std::size_t>(node)];
    if (std::string wrong = WhatIsWrongWith(*each.ended, scenario, node); !wrong.empty()) return {wrong, true};
    if (each.parts > 0) {
      return {absl::StrCat("node ", node, " failed, and left ", each.parts, " parts published"), true};
    }
    const bool wakes_late = kind == FaultKind::kLongStall && node == scenario.victim;
    const std::int64_t within_ns = kEndWithinNs + (wakes_late ? 4 * kPeerTimeoutNs : 0);
    const bool is_late = facts.has_struck && each.ended_ns - facts.struck_ns > within_ns;
    if (is_late) {
      return {
          absl::StrCat("node ", node, " ended ", (each.ended_ns - facts.struck_ns) / 1'000'000, " ms after the fault"),
          true};
    }
  }
  // A node that hears no more of the coordinator once it has committed cannot know whether all others have: none can be
  // told for sure, over a network that loses messages. docs/operations.md says so.
  const bool is_partition = kind == FaultKind::kLongPartition && scenario.fault_step() >= Step::kCommitted;
  const std::int64_t cut_off = scenario.victim == 0 ? scenario.other_victim : scenario.victim;
  const bool in_doubt = is_partition && (scenario.victim == 0 || scenario.other_victim == 0) && failed.size() == 1 &&
                        failed.front() == cut_off;
  if (!well.empty() && !in_doubt) {
    return {absl::StrCat("node ", well.front(), " ended well, node ", failed.front(),
                         " failed: ", facts.nodes[static_cast<std::size_t>(failed.front())].ended->ToString()),
            true};
  }
  return {.problem = "", .has_failed = true};
}

}  // namespace glaive::sim
