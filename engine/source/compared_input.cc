#include "engine/source/compared_input.h"

#include "absl/strings/str_cat.h"

namespace glaive::engine {

std::vector<ComparedInput> InputsOf(std::span<const ListedFile> files) {
  if (files.empty()) {
    return {{.name = "the list of files", .content = "no file"}};
  }
  std::vector<ComparedInput> inputs;
  inputs.reserve(files.size());
  for (const ListedFile& file : files) {
    inputs.push_back({.name = file.path, .content = absl::StrCat(file.bytes, " bytes")});
  }
  return inputs;
}

}  // namespace glaive::engine
