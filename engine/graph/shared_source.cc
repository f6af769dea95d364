#include "engine/graph/shared_source.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

namespace glaive::engine {
namespace {

/// The vertices upstream of `vertex` that have none before them; itself if it has none.
std::set<const Vertex*> SourcesOf(const Vertex& vertex) {
  std::set<const Vertex*> seen = {&vertex};
  std::set<const Vertex*> sources;
  for (std::vector<const Vertex*> open = {&vertex}; !open.empty();) {
    const Vertex* const next = open.back();
    open.pop_back();
    const std::vector<const Vertex*> before = next->upstream();
    if (before.empty()) {
      sources.insert(next);
    }
    std::ranges::copy_if(before, std::back_inserter(open),
                         [&](const Vertex* each) { return seen.insert(each).second; });
  }
  return sources;
}

}  // namespace

std::vector<std::size_t> FamiliesBySource(const std::vector<const Vertex*>& streams) {
  std::vector<std::size_t> families;
  std::map<const Vertex*, std::size_t> of_source;
  for (const Vertex* stream : streams) {
    families.push_back(families.size());
    for (const Vertex* source : SourcesOf(*stream)) {
      const auto [known, is_new] = of_source.emplace(source, families.back());
      if (!is_new && known->second != families.back()) {
        // Two families become one.
        const std::size_t first = std::min(known->second, families.back());
        const std::size_t second = std::max(known->second, families.back());
        std::ranges::replace(families, second, first);
        for (auto& [each, family] : of_source) {
          family = family == second ? first : family;
        }
      }
    }
  }
  return families;
}

}  // namespace glaive::engine
