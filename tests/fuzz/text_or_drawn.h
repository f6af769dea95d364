// TestTextOrDrawn: what the entry points of programs that test parsers of text have in common.
//
//   extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
//     glaive::TestTextOrDrawn(data, size, CheckText, CheckDrawn);
//     return 0;
//   }
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace glaive {

/// `check_drawn` draws from the bytes behind a '!'. All other bytes are a text for `check_text`. Input is libFuzzer's
/// FuzzedDataProvider, which only clang has.
template <typename Input>
void TestTextOrDrawn(const std::uint8_t* data, std::size_t size, void (*check_text)(const std::string&),
                     void (*check_drawn)(Input&)) {
  if (size > 0 && data[0] == '!') {
    Input input(data + 1, size - 1);
    check_drawn(input);
  } else {
    check_text(std::string(reinterpret_cast<const char*>(data), size));
  }
}

}  // namespace glaive
