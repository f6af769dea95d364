// Require: what a program of tests/fuzz demands of the code that it tests. It says which demand was not met before it
// ends the program; libFuzzer then keeps the input.
//
//   Require(parsed.ok() == expected.ok(), "the parser and the reference accept the same lines");
#pragma once

#include <cstdio>
#include <cstdlib>

namespace glaive {

inline void Require(bool holds, const char* demand) {
  if (holds) return;
  std::fprintf(stderr, "tests/fuzz demands: %s\n", demand);
  std::abort();
}

}  // namespace glaive
