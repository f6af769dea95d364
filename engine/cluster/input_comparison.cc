#include "engine/cluster/input_comparison.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include <xxhash.h>

#include "engine/cluster/protocol_error.h"

namespace glaive::engine {
namespace {

/// Behind each name and each content; neither has it.
constexpr char kEnd = '\0';

using Contents = std::map<std::string, std::string>;  // by name

absl::StatusOr<Contents> DecodeInputs(std::uint32_t rank, const std::string& encoded) {
  const std::vector<std::string> parts = absl::StrSplit(encoded, kEnd);
  if (parts.size() % 2 == 0 || !parts.back().empty()) {
    return ProtocolError(rank, "its list of inputs is cut off");
  }
  Contents contents;
  for (std::size_t i = 0; i + 1 < parts.size(); i += 2) {
    contents[parts[i]] = parts[i + 1];
  }
  return contents;
}

std::string WordsOf(const Contents& contents, const std::string& name) {
  const auto found = contents.find(name);
  return found == contents.end() ? "does not have it" : absl::StrCat("has ", found->second);
}

/// The first name, in their order, whose content is not the same in both.
std::optional<std::string> FirstDifference(const Contents& a, const Contents& b) {
  const auto [of_a, of_b] = std::ranges::mismatch(a, b);
  if (of_a == a.end() && of_b == b.end()) {
    return std::nullopt;
  }
  if (of_a == a.end() || of_b == b.end()) {
    return of_a == a.end() ? of_b->first : of_a->first;
  }
  return std::min(of_a->first, of_b->first);
}

}  // namespace

std::string EncodeInputs(std::span<const ComparedInput> inputs) {
  std::string encoded;
  for (const ComparedInput& input : inputs) {
    for (const std::string* part : {&input.name, &input.content}) {
      encoded += *part;
      encoded += kEnd;
    }
  }
  return encoded;
}

absl::Status FindDifference(std::span<const std::string> nodes) {
  const absl::StatusOr<Contents> first = DecodeInputs(0, nodes[0]);
  if (!first.ok()) {
    return first.status();
  }
  for (std::uint32_t rank = 1; rank < nodes.size(); ++rank) {
    const absl::StatusOr<Contents> other = DecodeInputs(rank, nodes[rank]);
    if (!other.ok()) {
      return other.status();
    }
    if (const std::optional<std::string> name = FirstDifference(*first, *other)) {
      return absl::FailedPreconditionError(
          absl::StrCat("the nodes' inputs differ: of '", *name, "', rank 0 ", WordsOf(*first, *name), " and rank ",
                       rank, " ", WordsOf(*other, *name), "; give every node the same files, and start again"));
    }
  }
  return absl::OkStatus();
}

absl::Status CompareInputs(rdma::ControlPlane& plane, std::span<const ComparedInput> mine) {
  if (mine.empty()) {
    return absl::OkStatus();
  }
  const std::string encoded = EncodeInputs(mine);
  const absl::StatusOr<std::vector<std::string>> checksums =
      plane.AllGather("checksums of inputs", absl::StrCat(XXH3_64bits(encoded.data(), encoded.size())));
  if (!checksums.ok()) {
    return checksums.status();
  }
  if (std::ranges::adjacent_find(*checksums, std::not_equal_to<>()) == checksums->end()) {
    return absl::OkStatus();
  }
  if (encoded.size() > rdma::kMaxGatherBytes) {
    return absl::FailedPreconditionError(
        "the nodes' inputs differ, in files that are too many to be compared one by one; give every node the same "
        "files");
  }
  const absl::StatusOr<std::vector<std::string>> nodes = plane.AllGather("inputs that differ", encoded);
  if (!nodes.ok()) {
    return nodes.status();
  }
  const absl::Status difference = FindDifference(*nodes);
  return difference.ok() ? absl::InternalError("the checksums of the nodes' inputs differ, and nothing else")
                         : difference;
}

}  // namespace glaive::engine
