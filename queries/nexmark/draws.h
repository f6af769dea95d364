// What the fields of NEXMark's records are drawn from, besides keys: prices and texts. Pure functions of random bits.
//
//   bid.price = Price(draw(2));
//   FillText(seller.name, draw(1));
#pragma once

#include <cstdint>
#include <span>

namespace glaive::queries::nexmark {

/// In cents: 10^(6u) dollars for a uniform u, so as many below 10 dollars as from 10 to 100.
std::uint64_t Price(std::uint64_t random);

/// Fills a field with lower-case letters. About 1 ns for 8 of them.
void FillText(std::span<char> field, std::uint64_t random);

}  // namespace glaive::queries::nexmark
