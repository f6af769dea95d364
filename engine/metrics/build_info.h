// The version, commit and build type of this binary, for --version and for the JSON line of a run.
//
// Implemented by a source file that the build generates (scripts/cmake/BuildInfo.cmake). All functions return
// constants, may be called from any thread, and never fail.
//
//   std::cout << "ysb " << Version() << " (" << Commit() << ")\n";
#pragma once

#include <string_view>

namespace glaive::engine {

/// The project's version, e.g. "0.1.0".
std::string_view Version();

/// The git commit, 12 hex digits or more, followed by "-dirty" when tracked files differed from it; "unknown" when the
/// sources were not a git checkout.
std::string_view Commit();

/// CMake's build type, e.g. "Release".
std::string_view BuildType();

/// The compiler and its version, e.g. "GNU 12.2.0".
std::string_view Compiler();

/// The compiler's flags, without the warnings.
std::string_view CompilerFlags();

}  // namespace glaive::engine
