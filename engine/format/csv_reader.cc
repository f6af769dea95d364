#include "engine/format/csv_reader.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

#include "engine/format/scalar_text.h"
#include "rdma/base/check.h"

namespace glaive::engine {
namespace {

constexpr std::size_t kLineEnd = std::string_view::npos;

/// Names in the words of an error: "'a', 'b'"; the first ones of many.
class Names {
 public:
  void Add(std::string_view name) {
    if (count_ < kMostListed) {
      absl::StrAppend(&list_, count_ == 0 ? "" : ", ", Quoted(name));
    }
    ++count_;
  }
  bool empty() const { return count_ == 0; }
  std::string ToString() const {
    return count_ <= kMostListed ? list_ : absl::StrCat(list_, " and ", count_ - kMostListed, " more");
  }

 private:
  static constexpr std::size_t kMostListed = 16;

  std::string list_;
  std::size_t count_ = 0;
};

}  // namespace

CsvReader::CsvReader(const Shape& shape, const CsvColumns& columns) {
  AddColumns("", 0, shape);
  Rename(columns);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      GLAIVE_CHECK(columns_[i].name != columns_[j].name, "two members of a record are the column '", columns_[i].name,
                   "' of a CSV file: rename one");
    }
  }
}

void CsvReader::Rename(const CsvColumns& columns) {
  Names there;
  for (const Column& column : columns_) {
    there.Add(column.name);
  }
  std::vector<std::string> names(columns_.size());
  for (const CsvColumn& renamed : columns) {
    const auto column = std::ranges::find(columns_, renamed.member, &Column::name);
    GLAIVE_CHECK(column != columns_.end(), "the column ", Quoted(renamed.name),
                 " of a CSV file is given to the member ", Quoted(renamed.member),
                 ", which the record does not have; it has ", there.ToString());
    std::string& name = names[static_cast<std::size_t>(column - columns_.begin())];
    GLAIVE_CHECK(name.empty(), "the member ", Quoted(renamed.member), " is given two columns of a CSV file, ",
                 Quoted(name), " and ", Quoted(renamed.name));
    name = renamed.name;
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    columns_[i].name = names[i].empty() ? columns_[i].name : names[i];
  }
}

void CsvReader::AddColumns(const std::string& name, std::size_t offset_bytes, const Shape& shape) {
  switch (shape.kind) {
    case ValueKind::kRecord:
      for (std::size_t i = 0; i < shape.members.size(); ++i) {
        const Member& member = shape.members[i];
        AddColumns(absl::StrCat(name, name.empty() ? "" : ".", std::string(member.name)),
                   offset_bytes + member.offset_bytes, shape.inner[i]);
      }
      break;
    case ValueKind::kArray:
      for (std::size_t i = 0; i < shape.count; ++i) {
        AddColumns(absl::StrCat(name, "_", i + 1), offset_bytes + i * shape.stride_bytes, shape.inner.front());
      }
      break;
    case ValueKind::kOptional:
      columns_.push_back({name, offset_bytes, shape.inner.front().kind, shape.optional});
      break;
    default:
      columns_.push_back({name, offset_bytes, shape.kind, nullptr});
  }
}

bool CsvReader::NextField(std::string_view line, std::size_t& at, Field& field, ParseError& error) const {
  const std::size_t begin = at;
  field = {.text = {}, .column = begin + 1};
  if (begin < line.size() && line[begin] == '"') {
    field.is_quoted = true;
    std::size_t quote = line.find('"', begin + 1);
    while (quote != kLineEnd && quote + 1 < line.size() && line[quote + 1] == '"') {
      field.has_quotes = true;
      quote = line.find('"', quote + 2);
    }
    if (quote == kLineEnd) {
      error.At(begin + 1, "the quoted field has no closing quote");
      return false;
    }
    if (quote + 1 < line.size() && line[quote + 1] != ',') {
      error.At(quote + 2, "a comma is expected behind the closing quote; quotes inside a quoted field are doubled");
      return false;
    }
    field.text = line.substr(begin + 1, quote - begin - 1);
    at = quote + 1 < line.size() ? quote + 2 : kLineEnd;
    return true;
  }
  const std::size_t comma = line.find(',', begin);
  field.text = line.substr(begin, comma == kLineEnd ? kLineEnd : comma - begin);
  at = comma == kLineEnd ? kLineEnd : comma + 1;
  return true;
}

std::string_view CsvReader::Unescape(const Field& field) {
  if (!field.has_quotes) {
    return field.text;
  }
  unescaped_.clear();
  for (std::size_t i = 0; i < field.text.size(); ++i) {
    unescaped_ += field.text[i];
    i += field.text[i] == '"' ? 1 : 0;
  }
  return unescaped_;
}

Parsed CsvReader::ReadHeader(std::string_view line, ParseError& error) {
  of_field_.clear();
  Names there;
  Field field;
  for (std::size_t at = 0; at != kLineEnd;) {
    if (!NextField(line, at, field, error)) {
      return Parsed::kBad;
    }
    const std::string_view name = Unescape(field);
    there.Add(name);
    const auto column = std::ranges::find(columns_, name, &Column::name);
    of_field_.push_back(column == columns_.end() ? nullptr : &*column);
    if (of_field_.back() != nullptr && std::ranges::count(of_field_, of_field_.back()) > 1) {
      return error.At(field.column, absl::StrCat("the header has the column ", Quoted(name), " twice"));
    }
  }
  Names missing;
  Names needed;
  for (const Column& column : columns_) {
    needed.Add(column.name);
    if (std::ranges::find(of_field_, &column) == of_field_.end()) {
      missing.Add(column.name);
    }
  }
  if (!missing.empty()) {
    return error.At(1, absl::StrCat("the header lacks ", missing.ToString(), ": it has ", there.ToString(),
                                    ", and the record needs ", needed.ToString()));
  }
  return Parsed::kRecord;
}

bool CsvReader::Convert(const Field& field, const Column& column, void* record, state::TextArena& texts,
                        ParseError& error) {
  void* into = static_cast<char*>(record) + column.offset_bytes;
  const bool is_empty = field.text.empty() && !field.is_quoted;
  if (column.optional != nullptr) {
    if (is_empty) {
      column.optional->reset(into);
      return true;
    }
    into = column.optional->emplace(into);
  }
  if (column.kind == ValueKind::kText) {
    const Text text(Unescape(field));
    *static_cast<Text*>(into) = field.has_quotes ? texts.Own(text) : text;
    return true;
  }
  if (ReadScalar(column.kind, field.text, into)) {
    return true;
  }
  error.At(field.column, is_empty ? absl::StrCat("'", column.name, "' is empty: ", std::string(ExpectedOf(column.kind)),
                                                 " is expected, unless the member is a std::optional")
                                  : WrongScalar(column.name, field.text, column.kind));
  return false;
}

Parsed CsvReader::Read(std::string_view line, void* record, state::TextArena& texts, ParseError& error) {
  // Where a file's only column may be empty, an empty line is a record.
  if (line.empty() && (of_field_.size() != 1 || of_field_[0] == nullptr || of_field_[0]->optional == nullptr)) {
    return Parsed::kBlank;
  }
  Field field;
  std::size_t count = 0;
  for (std::size_t at = 0; at != kLineEnd; ++count) {
    if (!NextField(line, at, field, error)) {
      return Parsed::kBad;
    }
    if (count == of_field_.size()) {
      return error.At(field.column, absl::StrCat("more fields than the header has, ", of_field_.size()));
    }
    if (of_field_[count] != nullptr && !Convert(field, *of_field_[count], record, texts, error)) {
      return Parsed::kBad;
    }
  }
  if (count < of_field_.size()) {
    return error.At(line.size() + 1,
                    absl::StrCat("fewer fields than the header has: ", count, " of ", of_field_.size()));
  }
  return Parsed::kRecord;
}

}  // namespace glaive::engine
