#include "engine/graph/vertex_plan.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace glaive::engine {

std::string ChainFact(const std::vector<std::string_view>& steps) {
  if (steps.empty()) {
    return "no steps before it";
  }
  const auto append = [](std::string* text, std::string_view step) { text->append(step); };
  return absl::StrCat("fused chain: ", absl::StrJoin(steps, ", ", append));
}

std::string LateMergeFact(const Roles& mergers, std::size_t key_bytes, std::size_t entry_bytes) {
  const std::string key = key_bytes == 0 ? "all records together" : absl::StrCat("by a key of ", key_bytes, " bytes");
  if (mergers.executor_count() == 1) {
    return absl::StrCat(key, ", in the executor's own state");
  }
  if (mergers.partitions()) {
    return absl::StrCat(key, ", re-partitioned: each record as an entry of at most ", entry_bytes,
                        " bytes to the executor that has the state of its key");
  }
  return absl::StrCat(key, ", merged late: entries of at most ", entry_bytes, " bytes to the leaders of their keys");
}

}  // namespace glaive::engine
