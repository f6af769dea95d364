#include "engine/flags/tool_flags.h"

#include <exception>
#include <iostream>

#include <CLI/CLI.hpp>

namespace glaive::engine {
namespace {

constexpr int kWrongFlags = 2;

}  // namespace

std::optional<int> ParseToolFlags(CLI::App& flags, const char* program, int argc, const char* const* argv) {
  try {
    flags.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::Success& success) {
    return flags.exit(success);
  } catch (const std::exception& error) {  // also std::stoll's, which CLI11 does not catch
    std::cerr << program << ": " << error.what() << "; see --help\n";
    return kWrongFlags;
  }
}

}  // namespace glaive::engine
