// The flags every query has: cluster, channel, state, epochs and progress, output.
//
// A program adds its own flags to the same FlagSet.
//
//   EngineOptions options;
//   RegisterEngineFlags(flags, options, {.has_check = true});
#pragma once

#include "absl/status/status.h"

#include "engine/flags/engine_options.h"
#include "engine/flags/flag_set.h"

namespace glaive::engine {

/// What a program has, on which flags depend.
struct ProgramFeatures {
  bool has_check = false;  ///< of its results: --verify
  bool has_loop = false;   ///< that is written by hand: --engine=loop
};

/// Registers the engine's flags with the values of `options` as defaults, and Validate as a check. `options` must
/// outlive the FlagSet's use.
void RegisterEngineFlags(FlagSet& flags, EngineOptions& options, const ProgramFeatures& features);

/// Whether the options go together; kInvalidArgument names the flags and says what to write instead.
absl::Status Validate(const EngineOptions& options);

}  // namespace glaive::engine
