// What persons of NEXMark are called, and where they live. The program for Rust has the same names in small letters.
#pragma once

#include <array>
#include <string_view>

namespace glaive::queries::nexmark::events {

inline constexpr std::array<std::string_view, 11> kFirstNames = {"Peter", "Paul",  "Luke",  "John",   "Saul",  "Vicky",
                                                                 "Kate",  "Julie", "Sarah", "Deiter", "Walter"};
inline constexpr std::array<std::string_view, 9> kLastNames = {"Shultz", "Abrams", "Spencer", "White", "Bartels",
                                                               "Walton", "Smith",  "Jones",   "Noris"};
inline constexpr std::array<std::string_view, 10> kCities = {
    "Phoenix", "Los Angeles", "San Francisco", "Boise", "Portland", "Bend", "Redmond", "Seattle", "Kent", "Cheyenne"};
inline constexpr std::array<std::string_view, 6> kStates = {"AZ", "CA", "ID", "OR", "WA", "WY"};

}  // namespace glaive::queries::nexmark::events
