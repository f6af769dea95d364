#include "rdma/verbs/relaxed_ordering.h"

#include <fstream>
#include <iterator>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include <infiniband/verbs.h>

namespace glaive::rdma {
namespace {

constexpr absl::string_view kEmeraldRapidsFamily = "6";
constexpr absl::string_view kEmeraldRapidsModel = "207";

// The value of "name : value" of the first processor, or nothing.
absl::string_view ValueOf(absl::string_view cpu_info, absl::string_view name) {
  for (const absl::string_view line : absl::StrSplit(cpu_info, '\n')) {
    const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(line, absl::MaxSplits(':', 1));
    if (absl::StripAsciiWhitespace(parts.first) == name) return absl::StripAsciiWhitespace(parts.second);
  }
  return "";
}

}  // namespace

bool RelaxedOrderingPaysOn(std::string_view cpu_info) {
  const absl::string_view text(cpu_info.data(), cpu_info.size());
  const absl::string_view vendor = ValueOf(text, "vendor_id");
  if (vendor == "AuthenticAMD") return true;
  return vendor == "GenuineIntel" && ValueOf(text, "cpu family") == kEmeraldRapidsFamily &&
         ValueOf(text, "model") == kEmeraldRapidsModel;
}

bool RelaxedOrderingPays() {
  std::ifstream file("/proc/cpuinfo");
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return RelaxedOrderingPaysOn(text);
}

unsigned AccessOfRings(const TransportOptions& options) {
  const unsigned written = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
  return options.relaxed_ordering ? written | IBV_ACCESS_RELAXED_ORDERING : written;
}

}  // namespace glaive::rdma
