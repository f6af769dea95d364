// Query 8 as a hand-written loop: a table of a window's persons and sellers, by id. An id that is both is a row.
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "absl/status/statusor.h"

#include "queries/loops/account_table.h"
#include "queries/loops/loop_query.h"
#include "queries/loops/window_loop.h"
#include "queries/nexmark/suite/queries.h"
#include "queries/nexmark/suite/rows.h"

namespace glaive::queries::nexmark::suite {
namespace {

using events::Event;
using events::Kind;

struct User {
  std::optional<Text> value() const { return registers && sells ? std::optional(name) : std::nullopt; }

  Text name;  // if the user registers in the window
  bool registers;
  bool sells;
};

struct UserFold {
  using Record = Event;
  using Table = AccountTable<User>;

  static std::int64_t TimeMs(const Event& event) { return event.date_time; }

  static void FoldChunk(std::span<const Event> events, Table& users) {
    std::array<const Event*, Table::kRecordsAtOnce> used;
    std::size_t count = 0;
    for (const Event& event : events) {
      used[count] = &event;
      count += event.kind == Kind::kBid ? 0 : 1;
    }
    const auto user_of = [](const Event* event) { return event->numbers[event->kind == Kind::kPerson ? 0 : 4]; };
    users.Fold(std::span<const Event* const>(used).first(count), user_of, [](User& user, const Event* event) {
      if (event->kind == Kind::kPerson) {
        user.name = event->texts[0];
        user.registers = true;
      } else {
        user.sells = true;
      }
    });
  }
};

/// The windows of a WindowLoop, with rows of query 8.
class NewUsersLoop {
 public:
  using Record = Event;
  using Row = Q8Row;
  using Windows = WindowLoop<UserFold>;

  static absl::StatusOr<NewUsersLoop> Create(const WindowLoopOptions& options) {
    absl::StatusOr<Windows> windows = Windows::Create({}, options);
    return windows.ok() ? absl::StatusOr<NewUsersLoop>(NewUsersLoop(*std::move(windows))) : windows.status();
  }

  template <typename Emit>
  void Take(std::span<const Event> events, std::int64_t shift_ms, const Emit& emit) {
    windows_.Take(events, shift_ms, AsRow(emit));
  }
  template <typename Emit>
  void End(const Emit& emit) {
    windows_.End(AsRow(emit));
  }

 private:
  explicit NewUsersLoop(Windows windows) : windows_(std::move(windows)) {}

  template <typename Emit>
  static auto AsRow(const Emit& emit) {
    return [&emit](const Windows::Row& user) {
      emit(Q8Row{.id = user.key, .name = user.value, .starttime = user.window_start_ms});
    };
  }

  Windows windows_;
};

}  // namespace

std::unique_ptr<engine::Query> LoopQ8(const Events& events, const SuiteOptions& options, const MostIds& ids,
                                      const engine::Results& results) {
  const WindowLoopOptions windows{.window_ms = absl::ToInt64Milliseconds(options.new_users_window),
                                  .keys = ids.persons};
  return LoopQueryOver(
      events, NewUsersLoop::Windows::MemoryBytes(ids.persons), [windows] { return NewUsersLoop::Create(windows); },
      results);
}

}  // namespace glaive::queries::nexmark::suite
