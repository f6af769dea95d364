// CsvReader: records from the lines of a CSV file (RFC 4180), by the names in its first line.
//
//   price,time_ms,note          struct Trade { std::int64_t time_ms; double price; std::optional<Text> note; };
//   0.5,1600000000000,"a ""b"""   ->  {1600000000000, 0.5, a "b"}
//   0.5,1600000000001,            ->  {1600000000001, 0.5, none}
//
// The file's columns may have any order, and columns that the record does not have are passed over. A member of an
// inner struct is the column "outer.inner"; the elements of an array are the columns "name_1", "name_2" and so on. An
// empty field is the empty text, or a std::optional without a value; "" in quotes is the empty text of both. Quotes
// around numbers are no part of them. Quotes inside a field without quotes around it are characters like others.
//
// Blanks are a part of their field, as RFC 4180 has it, so a line of nothing but blanks is a record of one field. Only
// a line without a character is passed over: where the file's one column is a std::optional, it is a record without a
// value.
//
// A file whose columns have other names, such as names with blanks, needs them beside the members':
//
//   CRASH DATE,BOROUGH          struct Crash { Text date; Text borough; };
//                               const CsvColumns columns = {{"date", "CRASH DATE"}, {"borough", "BOROUGH"}};
//
// A text refers to the line. One with doubled quotes belongs to the arena.
//
//   CsvReader reader(ShapeOf<Trade>());
//   if (reader.ReadHeader("price,time_ms,note", error) == Parsed::kRecord) reader.Read(line, &trade, texts, error);
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "engine/format/line_parser.h"
#include "engine/format/shape.h"
#include "state/record/text_arena.h"

namespace glaive::engine {

/// A column of a file whose name is not the one that follows from the record.
struct CsvColumn {
  std::string member;  // as the column would be named: "date", "price.amount", "factors_1"
  std::string name;    // as the file names it
};
/// Columns that are not among them have the names that follow from the record.
using CsvColumns = std::vector<CsvColumn>;

class CsvReader {
 public:
  /// Of a flat record (kIsFlat). Each of `columns` has to be of a member of its own.
  explicit CsvReader(const Shape& shape, const CsvColumns& columns = {});
  CsvReader(CsvReader&&) noexcept = default;

  /// Takes the names of the columns from a file's first line. kBad if one that the record needs is missing or there
  /// twice; the error lists those that are there and those that are needed.
  Parsed ReadHeader(std::string_view line, ParseError& error);

  /// Reads a line, without its end, into a record of the shape's type; after ReadHeader.
  Parsed Read(std::string_view line, void* record, state::TextArena& texts, ParseError& error);

 private:
  struct Column {
    std::string name;
    std::size_t offset_bytes;
    ValueKind kind;                  // of the value
    const OptionalAccess* optional;  // null: there is always one
  };
  struct Field {
    std::string_view text;   // between the quotes
    std::size_t column = 0;  // of its first byte, from 1
    bool is_quoted = false;
    bool has_quotes = false;  // doubled ones inside
  };

  void AddColumns(const std::string& name, std::size_t offset_bytes, const Shape& shape);
  void Rename(const CsvColumns& columns);
  /// The field that begins at `at`, which moves behind the comma after it, or to npos behind the last one.
  bool NextField(std::string_view line, std::size_t& at, Field& field, ParseError& error) const;
  bool Convert(const Field& field, const Column& column, void* record, state::TextArena& texts, ParseError& error);
  /// A field's text, its doubled quotes as one.
  std::string_view Unescape(const Field& field);

  std::vector<Column> columns_;               // that the record needs
  std::vector<const Column*> of_field_ = {};  // null: passed over
  std::string unescaped_;
};

/// The parser of a type's records.
template <typename R>
  requires(Described<R> && kHasShape<R> && kIsFlat<R>)
class CsvParser {
 public:
  explicit CsvParser(const CsvColumns& columns = {}) : reader_(ShapeOf<R>(), columns) {}

  Parsed ReadHeader(std::string_view line, ParseError& error) { return reader_.ReadHeader(line, error); }
  Parsed operator()(std::string_view line, R& record, state::TextArena& texts, ParseError& error) {
    return reader_.Read(line, &record, texts, error);
  }

 private:
  CsvReader reader_;
};

}  // namespace glaive::engine
