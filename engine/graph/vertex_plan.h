// VertexPlan: the text of `--explain` on a vertex: its kind, its work on records, and its messages.
//
//   return {.kind = "flat map", .facts = {ChainFact<Chain>(), ...}};
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "engine/executor/roles.h"
#include "engine/flow/timed_record.h"
#include "engine/sink/sink.h"
#include "engine/steps/steps.h"
#include "state/record/record.h"

namespace glaive::engine {

struct VertexPlan {
  std::string kind;                // "source", "tumbling aggregation"
  std::vector<std::string> facts;  // each a line
};

/// "fused chain: filter, map"; of a chain without steps: "no steps before it".
std::string ChainFact(const std::vector<std::string_view>& steps);

/// What the input of a stage does with records whose keys other executors lead. `key_bytes` 0: all have one key.
std::string LateMergeFact(const Roles& mergers, std::size_t key_bytes, std::size_t entry_bytes);

template <typename Key, typename Store>
std::string LateMergeFact(const Roles& mergers) {
  return LateMergeFact(mergers, std::is_same_v<Key, AllRecords> ? 0 : sizeof(Key), Store::kMostEntryBytes) +
         (Store::kHasTexts && mergers.executor_count() > 1 ? ", with their texts" : "");
}

/// Takes the record out of a TimedRecord: no step of the query's own.
template <typename S>
inline constexpr bool kUnwraps = false;
template <Step Previous>
inline constexpr bool kUnwraps<MapStep<Previous, RecordOfTimedRecord>> = true;

template <Step S>
void AddStepNames(std::vector<std::string_view>& names) {
  if constexpr (!std::is_same_v<S, SourceStep<typename S::In>>) {
    AddStepNames<decltype(S::previous)>(names);
    if constexpr (!kUnwraps<S>) {
      names.push_back(S::kName);
    }
  }
}

/// Of the chain's steps.
template <Step Chain>
std::string ChainFact() {
  std::vector<std::string_view> names;
  AddStepNames<Chain>(names);
  return ChainFact(names);
}

}  // namespace glaive::engine
