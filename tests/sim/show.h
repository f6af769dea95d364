// How results are compared: as text. The engine's rows are shown here, the oracle writes the same by itself.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

#include "engine/sink/late_record.h"
#include "engine/sink/sink.h"
#include "state/record/text.h"
#include "tests/sim/event.h"

namespace glaive::sim {

/// With the digits that tell any two doubles apart.
inline std::string Show(double value) { return absl::StrFormat("%.17g", value); }
inline std::string Show(absl::int128 value) {
  std::ostringstream text;
  text << value;
  return text.str();
}
inline std::string Show(engine::AllRecords /*key*/) { return "all"; }
inline std::string Show(const Text& text) { return std::string(text.view()); }
inline std::string Show(const Event& event) {
  return absl::StrCat("(", event.key, " ", event.time_ms, " ", event.amount, " ", Show(double{event.weight}), " ",
                      event.kind, ")");
}
template <typename T>
  requires std::is_integral_v<T>
std::string Show(T value) {
  return absl::StrCat(value);
}
template <typename T, std::size_t N>
std::string Show(const std::array<T, N>& key) {
  return absl::StrJoin(key, "-");
}
template <typename... Ts>
std::string Show(const std::tuple<Ts...>& value);
template <typename T>
std::string Show(const std::vector<T>& values) {
  return absl::StrJoin(values, " ", [](std::string* out, const T& value) { out->append(Show(value)); });
}
template <typename T>
std::string Show(const std::optional<T>& value) {
  return value.has_value() ? Show(*value) : "none";
}
template <typename... Ts>
std::string Show(const std::tuple<Ts...>& value) {
  return std::apply([](const Ts&... parts) { return absl::StrJoin({Show(parts)...}, ", "); }, value);
}

/// "[1000, 2000) 7: 42"
inline std::string ShowResult(std::int64_t start_ms, std::int64_t end_ms, const std::string& key,
                              const std::string& value) {
  return absl::StrCat("[", start_ms, ", ", end_ms, ") ", key, ": ", value);
}

template <typename K, typename T>
std::string ShowRow(const engine::WindowResult<K, T>& row) {
  return ShowResult(row.window_start_ms, row.window_end_ms, Show(row.key), Show(row.value));
}
inline std::string ShowLate(const Event& event) { return absl::StrCat("late ", Show(event)); }
inline std::string ShowRow(const engine::LateRecord<Event>& row) { return ShowLate(row.record); }

}  // namespace glaive::sim
