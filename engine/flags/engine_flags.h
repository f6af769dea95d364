// The flags every query has: cluster, channel, state, epochs and progress, output.
//
// A program adds its own flags to the same FlagSet.
//
//   EngineOptions options;
//   RegisterEngineFlags(flags, options, Verifiable::kYes);
#pragma once

#include <cstdint>

#include "absl/status/status.h"

#include "engine/flags/engine_options.h"
#include "engine/flags/flag_set.h"

namespace glaive::engine {

/// Whether the program has a check of its results, and so the flag --verify.
enum class Verifiable : std::uint8_t { kNo, kYes };

/// Registers the engine's flags with the values of `options` as defaults, and Validate as a check. `options` must
/// outlive the FlagSet's use.
void RegisterEngineFlags(FlagSet& flags, EngineOptions& options, Verifiable verifiable);

/// Whether the options go together; kInvalidArgument names the flags and says what to write instead.
absl::Status Validate(const EngineOptions& options);

}  // namespace glaive::engine
