// ReadScalar: one value of a file, from its text.
//
//   std::int16_t number = 0;
//   ReadScalar(ValueKind::kInt16, "-300", &number);   // true
//   ReadScalar(ValueKind::kInt16, "40000", &number);  // false: ExpectedOf(ValueKind::kInt16) says what is expected
#pragma once

#include <string>
#include <string_view>

#include "engine/format/shape.h"

namespace glaive::engine {

/// Writes the value of all of `text` to `into`, which has the type of `kind`: a bool or a number. False if the text is
/// none, or out of the type's range; `into` is as it was then. A bool is true, false, 1 or 0. A number has no blanks
/// around it and no plus sign before it.
bool ReadScalar(ValueKind kind, std::string_view text, void* into);

/// The values that ReadScalar accepts, in words: "an integer of 16 bits".
std::string_view ExpectedOf(ValueKind kind);

/// The words of an error: "'qty' has 'x': an integer of 16 bits is expected".
std::string WrongScalar(std::string_view name, std::string_view text, ValueKind kind);

}  // namespace glaive::engine
