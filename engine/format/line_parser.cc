#include "engine/format/line_parser.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace glaive::engine {

std::string Quoted(std::string_view value) {
  constexpr std::size_t kQuotedBytes = 40;
  return absl::StrCat("'", absl::CHexEscape(std::string(value.substr(0, kQuotedBytes))), "'");
}

}  // namespace glaive::engine
