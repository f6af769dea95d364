#include "queries/collisions/collisions_oracle.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <memory>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "queries/collisions/generator.h"
#include "queries/common/plain_file.h"

namespace glaive::queries::collisions {
namespace {

constexpr std::uint64_t kRecordsBetweenWatches = 4096;

bool IsLeap(int year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

int DaysOf(int month, int year) {
  constexpr std::array<int, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && IsLeap(year) ? 29 : kDays[static_cast<std::size_t>(month - 1)];
}

/// Days since Monday, by Sakamoto's rule.
int DaysSinceMonday(const PlainDate& date) {
  constexpr std::array<int, 12> kOffsets = {0, 3, 2, 5, 0, 3, 5, 1, 4, 6, 2, 4};
  const int year = date.month < 3 ? date.year - 1 : date.year;
  const int since_sunday =
      (year + year / 4 - year / 100 + year / 400 + kOffsets[static_cast<std::size_t>(date.month - 1)] + date.day) % 7;
  return (since_sunday + 6) % 7;
}

std::string MondayOf(PlainDate date) {
  for (int days = DaysSinceMonday(date); days > 0; --days) {
    if (--date.day == 0) {
      date.month = date.month == 1 ? 12 : date.month - 1;
      date.year -= date.month == 12 ? 1 : 0;
      date.day = DaysOf(date.month, date.year);
    }
  }
  return absl::StrFormat("%04d-%02d-%02d", date.year, date.month, date.day);
}

std::string Field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) {
    return text;
  }
  std::string field = "\"";
  for (const char byte : text) {
    field += byte == '"' ? "\"\"" : std::string(1, byte);
  }
  return field + "\"";
}

std::string Number(double value) {
  std::array<char, 64> digits;
  return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr};
}

/// The date of a text MM/DD/YYYY; its month is 0 if it is none.
PlainDate DateOf(const std::string& text) {
  PlainDate date{};
  const char* const begin = text.data();
  const auto is_read = [begin](std::size_t at, std::size_t digits, int& number) {
    const auto [end, error] = std::from_chars(begin + at, begin + at + digits, number);
    return error == std::errc() && end == begin + at + digits && number > 0;
  };
  const bool is_date = text.size() == 10 && text[2] == '/' && text[5] == '/' && is_read(0, 2, date.month) &&
                       is_read(3, 2, date.day) && is_read(6, 4, date.year) && date.month <= 12;
  return is_date ? date : PlainDate{};
}

/// The records of one CSV file, a byte after the other.
class PlainCsv {
 public:
  /// `use(fields)` gets each record, and returns what is wrong with it.
  template <typename Use>
  absl::Status Read(const std::string& path, const Use& use, const Watch& watch) {
    const auto file = std::make_unique<PlainFile>(path);
    absl::Status status;
    while (status.ok()) {
      const absl::StatusOr<std::string_view> text = file->Read();
      if (!text.ok()) {
        return text.status();
      }
      if (text->empty()) {
        return EndRecord(use);
      }
      for (const char byte : *text) {
        if (Add(byte) && status.ok()) {
          status = EndRecord(use);
        }
      }
      status.Update(watch());
    }
    return status;
  }

 private:
  /// Whether it ends a record.
  bool Add(char byte) {
    if (in_quotes_) {
      in_quotes_ = byte != '"';
      was_quoted_ = !in_quotes_;
      if (in_quotes_) {
        field_ += byte;
      }
      return false;
    }
    if (byte == '"' && (field_.empty() || was_quoted_)) {
      if (was_quoted_) {  // the second of two
        field_ += byte;
      }
      in_quotes_ = true;
      return false;
    }
    was_quoted_ = false;
    if (byte == ',') {
      fields_.push_back(std::exchange(field_, ""));
    } else if (byte != '\n') {
      field_ += byte;
    }
    return byte == '\n';
  }

  template <typename Use>
  absl::Status EndRecord(const Use& use) {
    if (field_.ends_with('\r')) {
      field_.pop_back();
    }
    was_quoted_ = false;
    if (fields_.empty() && field_.empty()) {
      return absl::OkStatus();  // an empty line
    }
    fields_.push_back(std::exchange(field_, ""));
    return use(std::exchange(fields_, {}));
  }

  std::vector<std::string> fields_;
  std::string field_;
  bool in_quotes_ = false;
  bool was_quoted_ = false;  // the last byte closed a field, unless another quote follows
};

/// The collisions of one file's records, of which the first has the names of columns.
class PlainCollisions {
 public:
  absl::Status Add(const std::vector<std::string>& fields, CollisionTally& tally) {
    if (columns_.empty()) {
      for (std::size_t i = 0; i < fields.size(); ++i) {
        columns_[fields[i].starts_with("\xEF\xBB\xBF") ? fields[i].substr(3) : fields[i]] = i;
      }
      return absl::OkStatus();
    }
    PlainCollision collision{};
    const std::string date = FieldOf("CRASH DATE", fields);
    collision.date = DateOf(date);
    if (fields.size() != columns_.size() || collision.date.month == 0) {
      return absl::FailedPreconditionError(
          absl::StrCat("--verify cannot read record ", number_ + 1, " of a file, with the date '", date, "'"));
    }
    collision.borough = FieldOf("BOROUGH", fields);
    const std::string killed = FieldOf("NUMBER OF PERSONS KILLED", fields);
    collision.killed = killed.find_first_not_of('0') == std::string::npos ? 0 : 1;
    for (std::size_t i = 1; i <= kMostFactors; ++i) {
      collision.factors.push_back(FieldOf(absl::StrCat("CONTRIBUTING FACTOR VEHICLE ", i), fields));
    }
    tally.Add(collision);
    ++number_;
    return absl::OkStatus();
  }

 private:
  std::string FieldOf(const std::string& column, const std::vector<std::string>& fields) const {
    const auto place = columns_.find(column);
    return place == columns_.end() || place->second >= fields.size() ? "" : fields[place->second];
  }

  std::map<std::string, std::size_t> columns_;
  std::uint64_t number_ = 0;
};

}  // namespace

void CollisionTally::Add(const PlainCollision& collision) {
  const auto add_to = [&collision](Counts& counts) {
    counts.accidents += 1;
    counts.lethal += collision.killed > 0 ? 1 : 0;
  };
  const std::string week = MondayOf(collision.date);
  add_to(weeks_[week]);
  for (const std::string& factor : std::set<std::string>(collision.factors.begin(), collision.factors.end())) {
    if (!factor.empty()) {
      add_to(factors_[factor]);
    }
  }
  if (!collision.borough.empty()) {
    add_to(boroughs_[{collision.borough, week}]);
  }
}

std::vector<std::string> CollisionTally::Lines(Question question) const {
  std::vector<std::string> lines;
  switch (question) {
    case Question::kWeeks:
      for (const auto& [week, counts] : weeks_) {
        lines.push_back(absl::StrCat(week, ",", counts.lethal));
      }
      break;
    case Question::kFactors:
      for (const auto& [factor, counts] : factors_) {
        const double percent = 100.0 * static_cast<double>(counts.lethal) / static_cast<double>(counts.accidents);
        lines.push_back(absl::StrCat(Field(factor), ",", counts.accidents, ",", counts.lethal, ",", Number(percent)));
      }
      break;
    case Question::kBoroughs: {
      std::map<std::string, std::uint64_t> lethal;
      for (const auto& [place, counts] : boroughs_) {
        lethal[place.first] += counts.lethal;
      }
      for (const auto& [place, counts] : boroughs_) {
        const double mean = static_cast<double>(lethal[place.first]) / static_cast<double>(weeks_.size());
        lines.push_back(absl::StrCat(Field(place.first), ",", place.second, ",", counts.accidents, ",", counts.lethal,
                                     ",", Number(mean)));
      }
      break;
    }
  }
  return lines;
}

absl::Status TallyGenerated(std::uint64_t seed, std::uint64_t records, CollisionTally& tally, const Watch& watch) {
  const CollisionGenerator generator(seed);
  for (std::uint64_t number = 0; number < records; ++number) {
    if (number % kRecordsBetweenWatches == 0) {
      if (absl::Status status = watch(); !status.ok()) {
        return status;
      }
    }
    const GeneratedCollision made = generator.Make(number);
    tally.Add({.date = {.year = static_cast<int>(made.date.year()),
                        .month = static_cast<int>(static_cast<unsigned>(made.date.month())),
                        .day = static_cast<int>(static_cast<unsigned>(made.date.day()))},
               .borough = std::string(made.borough),
               .killed = made.killed[0] + made.killed[1] + made.killed[2],
               .factors = {made.factors.begin(), made.factors.end()}});
  }
  return absl::OkStatus();
}

absl::Status TallyFiles(const std::vector<std::string>& paths, CollisionTally& tally, const Watch& watch) {
  for (const std::string& path : paths) {
    PlainCollisions collisions;
    const absl::Status status = PlainCsv().Read(
        path, [&](const std::vector<std::string>& fields) { return collisions.Add(fields, tally); }, watch);
    if (!status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

}  // namespace glaive::queries::collisions
