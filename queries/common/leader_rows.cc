#include "queries/common/leader_rows.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace glaive::queries {
namespace {

absl::StatusOr<std::vector<std::uint64_t>> DecodeNumbers(const std::string& text, std::size_t count) {
  const std::vector<std::string> words = absl::StrSplit(text, ' ');
  std::vector<std::uint64_t> numbers(words.size());
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words.size() != count || !absl::SimpleAtoi(words[i], &numbers[i])) {
      return absl::InvalidArgumentError(absl::StrCat("a node's totals cannot be read: '", text, "'"));
    }
  }
  return numbers;
}

}  // namespace

absl::StatusOr<LeaderRows> RowsOfLeaders(const std::string& query,
                                         std::span<const std::vector<ResultRow>> rows_by_executor,
                                         const engine::RunFacts& facts, Keys keys) {
  const auto leader_of = [hash = facts.key_hash, leaders = facts.roles.leaders()](std::uint64_t key) {
    return leaders.Of(hash(key));
  };
  LeaderRows result;
  for (const ExecutorId executor : facts.executors) {
    for (const ResultRow& row : rows_by_executor[Value(executor)]) {
      if (keys == Keys::kLed && leader_of(row.key) != executor) {
        return absl::DataLossError(absl::StrCat(query, " results are wrong: executor ", Value(executor),
                                                " emitted window ", row.window_start_ms, " key ", row.key,
                                                ", and executor ", Value(leader_of(row.key)), " leads that key"));
      }
      result.rows.push_back(row);
    }
  }
  if (keys == Keys::kNone) {
    return result;
  }
  result.leads = [leader_of, executors = facts.executors](std::uint64_t key) {
    return std::ranges::find(executors, leader_of(key)) != executors.end();
  };
  return result;
}

std::string EncodeTotals(const Verdict& verdict) {
  const Totals& expected = verdict.expected;
  const Totals& emitted = verdict.emitted;
  return absl::StrJoin(
      {expected.rows, expected.value_sum, expected.checksum, emitted.rows, emitted.value_sum, emitted.checksum}, " ");
}

absl::Status CheckAllTotals(const std::string& query, std::span<const std::string> nodes) {
  Totals expected;
  Totals emitted;
  for (const std::string& node : nodes) {
    const absl::StatusOr<std::vector<std::uint64_t>> numbers = DecodeNumbers(node, 6);
    if (!numbers.ok()) {
      return numbers.status();
    }
    const std::vector<std::uint64_t>& n = *numbers;
    const Totals at_node{.rows = n[0], .value_sum = n[1], .checksum = n[2]};
    if (&node != nodes.data() && at_node != expected) {
      return absl::DataLossError(
          absl::StrCat(query, ": the nodes have recomputed different results from their inputs"));
    }
    expected = at_node;
    emitted.Merge(Totals{.rows = n[3], .value_sum = n[4], .checksum = n[5]});
  }
  return CheckTotals(query, expected, emitted);
}

}  // namespace glaive::queries
