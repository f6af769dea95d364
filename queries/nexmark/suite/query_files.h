// QueryFiles: the flags of files that single queries of the suite read or write besides their events and rows, and what
// was read of them.
//
//   QueryFiles files;
//   files.Register(flags, group);   flags.AddCheck([&] { return files.Check("q13"); });
//   status = files.Load(claims, watch);   files.AddTo(options);
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

#include "engine/files/file_claims.h"
#include "engine/flags/flag_set.h"
#include "engine/source/compared_input.h"
#include "queries/nexmark/suite/query_definition.h"
#include "queries/nexmark/suite/side_input.h"
#include "rdma/base/watch.h"

namespace glaive::queries::nexmark::suite {

class QueryFiles {
 public:
  /// The flags; they belong to this object.
  void Register(engine::FlagSet& flags, const std::string& group);
  /// InvalidArgument if a flag is of another query.
  absl::Status Check(std::string_view query) const;
  /// Reads the side input, and exports it.
  absl::Status Load(engine::FileClaims& claims, const Watch& watch);
  /// What each node has read, which has to be the same everywhere.
  std::vector<engine::ComparedInput> inputs() const;
  /// Hands what was read to the query.
  void AddTo(SuiteOptions& options) const;

 private:
  std::string partitions_;  // folder, or empty
  std::uint64_t most_partitions_ = SuiteOptions().most_partitions;
  std::string read_times_;         // CSV file, or empty
  std::string side_input_;         // CSV file, or empty
  std::string export_side_input_;  // likewise
  std::string side_input_content_;
  std::shared_ptr<const SideInput> table_;  // null without --side-input
};

}  // namespace glaive::queries::nexmark::suite
