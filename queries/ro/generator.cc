#include "queries/ro/generator.h"

#include <cstddef>

#include "queries/common/random.h"

namespace glaive::queries::ro {

void ItemGenerator::Fill(std::uint32_t executor, std::uint64_t first, std::span<Item> items) const {
  const std::uint64_t stream = StreamOf(seed_, executor);
  Timeline::Cursor time = timeline_.From(stream, first);
  for (std::size_t i = 0; i < items.size(); ++i) {
    items[i] = {.key = keys_.Draw(RecordDraws<1>(stream, first + i)(0)), .event_time_ms = time.Next()};
  }
}

}  // namespace glaive::queries::ro
