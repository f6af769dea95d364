// JsonReader: records from lines of JSON (RFC 8259), one object a line, by the names of its members.
//
//   {"time_ms":1600000000000,"at":{"x":1,"y":2},"tags":["a","b"],"note":null}
//
//   struct Point { std::int32_t x; std::int32_t y; };
//   struct Event { std::int64_t time_ms; Point at; std::array<Text, 2> tags; std::optional<Text> note; };
//
// Members may have any order, and members that the record does not have are passed over, as long as they are JSON. An
// inner struct is an object, an array has as many elements as the std::array, and a std::optional without a value is
// null or is not there. Numbers are as exact as their type: an integer has no fraction and no exponent.
//
// A text refers to the line. One with escapes belongs to the arena.
//
//   JsonReader reader(ShapeOf<Event>());
//   if (reader.Read(line, &event, texts, error) == Parsed::kRecord) ...
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "engine/format/line_parser.h"
#include "engine/format/shape.h"
#include "state/record/text_arena.h"

namespace glaive::engine {

class JsonReader {
 public:
  /// Behind a line there are so many bytes of any value that may be read.
  static constexpr std::size_t kPaddingBytes = 64;
  /// Arrays and objects inside each other, at most.
  static constexpr int kMostNested = 64;
  /// The memory that a reader of lines of `longest` bytes holds.
  static constexpr std::size_t MemoryBytes(std::size_t longest) { return 7 * longest; }

  explicit JsonReader(Shape shape);
  JsonReader(JsonReader&& other) noexcept;
  ~JsonReader();

  /// Reads a line into a record of the shape's type, a kRecord.
  Parsed Read(std::string_view line, void* record, state::TextArena& texts, ParseError& error);

 private:
  struct Parser;  // of simdjson, whose header takes long to compile

  Shape shape_;
  std::unique_ptr<Parser> parser_;
};

/// The parser of a type's records.
template <typename R>
  requires(Described<R> && kHasShape<R>)
class JsonParser {
 public:
  Parsed operator()(std::string_view line, R& record, state::TextArena& texts, ParseError& error) {
    return reader_.Read(line, &record, texts, error);
  }

 private:
  JsonReader reader_{ShapeOf<R>()};
};

}  // namespace glaive::engine
