#include "engine/sink/results.h"

#include "absl/strings/str_cat.h"

#include "rdma/base/bytes.h"

namespace glaive::engine {

absl::Status RetainedLines::Add(std::uint32_t executor, const std::string& line) {
  const auto bytes = static_cast<std::int64_t>(line.size()) + kOverheadBytes;
  if (bytes_left.fetch_sub(bytes, std::memory_order_relaxed) < bytes) {
    return absl::ResourceExhaustedError(absl::StrCat("--verify holds up to ", FormatBytes(most_bytes),
                                                     " of results at a node, and there are more: verify a shorter "
                                                     "stream"));
  }
  by_executor[executor].push_back(line);
  return absl::OkStatus();
}

}  // namespace glaive::engine
