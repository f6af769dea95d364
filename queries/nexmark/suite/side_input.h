// SideInput: the bounded table that query 13 joins with the bids, a text for each key, and its CSV file, plain or gzip:
//
//   key,value
//   0,zero
//   7,"one, or ""seven"""
//
// The key of a bid is its auction modulo kSideInputKeys.
//
//   absl::StatusOr<SideInput> table = ReadSideInput("side_input.csv", watch);
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"

#include "rdma/base/watch.h"

namespace glaive::queries::nexmark::suite {

inline constexpr std::uint64_t kSideInputKeys = 10'000;

using SideInput = std::map<std::uint64_t, std::string>;

/// Every key that a bid can have, with its digits as the value: the table of the suite for Flink.
SideInput AllSideKeys();

/// At least one row. FailedPrecondition with FILE:LINE:COLUMN when a line is no key with its value, or a key is there
/// twice; the errors of InputFile when the file cannot be read. `watch` may end it.
absl::StatusOr<SideInput> ReadSideInput(const std::string& path, const Watch& watch);

/// The text of its file. Values have no line breaks at their ends.
std::string SideInputAsCsv(const SideInput& table);

}  // namespace glaive::queries::nexmark::suite
