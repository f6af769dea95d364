// The flags every query has: cluster, channel, state, epochs and progress, output.
//
// Called by a query's `main`, which adds its own flags to the same FlagSet.
//
//   EngineOptions options;
//   RegisterEngineFlags(flags, options);
#pragma once

#include "absl/status/status.h"

#include "engine/flags/engine_options.h"
#include "engine/flags/flag_set.h"

namespace glaive::engine {

/// Registers the engine's flags with the values of `options` as defaults, and Validate as a check. `options` must
/// outlive the FlagSet's use.
void RegisterEngineFlags(FlagSet& flags, EngineOptions& options);

/// Whether the options go together; kInvalidArgument names the flags and says what to write instead.
absl::Status Validate(const EngineOptions& options);

}  // namespace glaive::engine
