// JoinRows: which results a kind of join has, and how they are made of a pair of tuples, or of one tuple alone.
//
//   using Rows = JoinRows<JoinKind::kLeft, Auction, Seller>;
//   Rows::Result row = Rows::Make(&auction, nullptr);   // {auction, std::nullopt}
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>

namespace glaive::engine {

/// Which results a join has: of pairs, of pairs and of tuples without a partner, or of the left stream's tuples that
/// have a partner (semi) or have none (anti).
enum class JoinKind : std::uint8_t { kInner, kLeft, kFull, kSemi, kAnti };

/// How an explained plan names a join.
inline std::string JoinName(JoinKind kind) {
  constexpr std::array<const char*, 5> kNames = {"join", "left join", "full join", "semi join", "anti join"};
  return kNames[static_cast<std::size_t>(kind)];
}

/// When a tuple has a result of its own, once.
enum class Alone : std::uint8_t { kNever, kWithoutPartner, kWithPartner };

/// The part of a record of which nothing but its key is kept.
struct NothingKept {};

/// `Left` and `Right` are the kept parts of the records.
template <JoinKind kKindT, typename Left, typename Right>
struct JoinRows {
  static constexpr JoinKind kKind = kKindT;
  static constexpr bool kHasPairs = kKind != JoinKind::kSemi && kKind != JoinKind::kAnti;
  static constexpr Alone kLeftAlone = kKind == JoinKind::kInner  ? Alone::kNever
                                      : kKind == JoinKind::kSemi ? Alone::kWithPartner
                                                                 : Alone::kWithoutPartner;
  static constexpr Alone kRightAlone = kKind == JoinKind::kFull ? Alone::kWithoutPartner : Alone::kNever;

  template <typename T, bool kOptional>
  using Column = std::conditional_t<kOptional, std::optional<T>, T>;
  using Columns = std::tuple<Column<Left, kRightAlone != Alone::kNever>, Column<Right, kLeftAlone != Alone::kNever>>;
  using Result = std::conditional_t<kHasPairs, Columns, Left>;

  /// The result of a pair, or of a tuple alone, where the other one is null.
  static Result Make(const Left* left, const Right* right) {
    if constexpr (!kHasPairs) {
      return *left;
    } else {
      Result result{};
      if (left != nullptr) {
        std::get<0>(result) = *left;
      }
      if (right != nullptr) {
        std::get<1>(result) = *right;
      }
      return result;
    }
  }
};

}  // namespace glaive::engine
