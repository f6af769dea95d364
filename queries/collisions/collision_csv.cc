#include "queries/collisions/collision_csv.h"

#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"

#include "engine/source/csv_file.h"

namespace glaive::queries::collisions {
namespace {

engine::CsvColumns PublishedColumns() {
  engine::CsvColumns columns = {{"date", "CRASH DATE"}, {"borough", "BOROUGH"}, {"killed", "NUMBER OF PERSONS KILLED"}};
  for (std::size_t i = 1; i <= kMostFactors; ++i) {
    columns.push_back({absl::StrCat("factors_", i), absl::StrCat("CONTRIBUTING FACTOR VEHICLE ", i)});
  }
  return columns;
}

/// The number of a text of digits.
std::optional<unsigned> NumberOf(std::string_view digits) {
  unsigned number = 0;
  for (const char digit : digits) {
    if (digit < '0' || digit > '9') {
      return std::nullopt;
    }
    number = 10 * number + static_cast<unsigned>(digit - '0');
  }
  return number;
}

/// The day of a text MM/DD/YYYY, if it is one.
std::optional<std::chrono::sys_days> DayOfText(std::string_view date) {
  if (date.size() != 10 || date[2] != '/' || date[5] != '/') {
    return std::nullopt;
  }
  const std::optional<unsigned> month = NumberOf(date.substr(0, 2));
  const std::optional<unsigned> day = NumberOf(date.substr(3, 2));
  const std::optional<unsigned> year = NumberOf(date.substr(6));
  if (!month || !day || !year) {
    return std::nullopt;
  }
  const std::chrono::year_month_day valid{std::chrono::year(static_cast<int>(*year)), std::chrono::month(*month),
                                          std::chrono::day(*day)};
  return valid.ok() ? std::optional(std::chrono::sys_days(valid)) : std::nullopt;
}

}  // namespace

CollisionCsv::CollisionCsv() : csv_(PublishedColumns()) {}

engine::Parsed CollisionCsv::operator()(std::string_view line, Collision& collision, state::TextArena& texts,
                                        engine::ParseError& error) {
  PublishedCollision published{};
  const engine::Parsed parsed = csv_(line, published, texts, error);
  if (parsed != engine::Parsed::kRecord) {
    return parsed;
  }
  const std::optional<std::chrono::sys_days> day = DayOfText(published.date);
  if (!day) {
    return error.At(
        1, absl::StrCat("'CRASH DATE' has ", engine::Quoted(published.date), ": a day is expected, as MM/DD/YYYY"));
  }
  collision = {.week = WeekOf(*day),
               .lethal = published.killed.value_or(0) > 0 ? 1U : 0U,
               .borough = published.borough,
               .factors = published.factors};
  return engine::Parsed::kRecord;
}

engine::SourceSpec<Collision, engine::NoEventTime> CollisionFiles(const std::vector<engine::ListedFile>& files,
                                                                  const engine::LineSourceOptions& options) {
  return engine::SharedFiles<Collision>(
      files, [] { return CollisionCsv(); }, engine::NoEventTime{}, options, engine::kCsvLines, engine::kCsvParserBytes);
}

}  // namespace glaive::queries::collisions
