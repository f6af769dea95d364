// expect: nothing
#include "tests/engine/compile_fail/query.h"

namespace glaive::engine {

// Keys that look like those that are refused: text inside, nested arrays, members that the compiler does not show.
struct Place {
  std::array<char, 8> country;
  char city[2][16];
  std::uint32_t street : 20;
  std::uint32_t number : 12;

  friend bool operator==(const Place&, const Place&) = default;
};

class Code {
 public:
  Code() = default;
  explicit Code(std::uint32_t value) : value_(value) {}
  const std::uint32_t* data() const { return &value_; }

  friend bool operator==(const Code&, const Code&) = default;

 private:
  std::uint32_t value_ = 0;
};

template <typename Key>
auto CountBy() {
  return Clicks()
      .KeyBy([](const Click&) { return Key{}; })
      .Window(Tumbling{absl::Seconds(1)})
      .Aggregate(Several{Count{}, First{&Click::time_ms, [](const Click&) { return std::array<char, 3>{}; }}})
      .Map([](const auto& row) { return row.key; })
      .KeyBy([](const Key& key) { return key; })
      .Window(Tumbling{absl::Seconds(2)})
      .Aggregate(Count{})
      .To(Discard{});
}

auto by_place = CountBy<Place>();
auto by_code = CountBy<Code>();

}  // namespace glaive::engine
