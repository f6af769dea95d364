// Idleness: decides whether a source has had nothing to read for so long that its flows count as idle.
//
// A pure value: time comes in as numbers. Owned by the source's reader, or by an operator that makes event times.
// flow_progress.h says what an idle flow does. Silence begins when the source is polled and has nothing. An executor
// that is held up by others does not poll its source, so this time does not count.
//
//   Idleness idleness(timeout_ns);
//   if (idleness.OnSilence(now_ns)) TellTheOthers();
#pragma once

#include <cstdint>

namespace glaive::engine {

class Idleness {
 public:
  /// A source is idle after `timeout_ns` of silence; 0: never.
  explicit Idleness(std::int64_t timeout_ns) : timeout_ns_(timeout_ns) {}

  /// The source was asked and had nothing. True when that makes it idle.
  bool OnSilence(std::int64_t now_ns) {
    if (!silent_) {
      silent_ = true;
      silent_since_ns_ = now_ns;
    }
    if (!Due(now_ns)) {
      return false;
    }
    idle_ = true;
    idle_since_ns_ = now_ns;
    ++periods_;
    return true;
  }
  /// The source had something, or has ended.
  void OnActivity(std::int64_t now_ns) {
    idle_ns_ += idle_ ? now_ns - idle_since_ns_ : 0;
    silent_ = false;
    idle_ = false;
  }

  /// Whether the next OnSilence makes the source idle.
  bool Due(std::int64_t now_ns) const {
    return silent_ && !idle_ && timeout_ns_ > 0 && now_ns - silent_since_ns_ >= timeout_ns_;
  }
  bool idle() const { return idle_; }
  /// Whether the source has had nothing since it was asked last.
  bool silent() const { return silent_; }
  /// How often the source has become idle, and for how long it was, ns: the times until OnActivity.
  std::uint64_t periods() const { return periods_; }
  std::uint64_t idle_ns() const { return static_cast<std::uint64_t>(idle_ns_); }

 private:
  std::int64_t timeout_ns_;
  bool silent_ = false;
  bool idle_ = false;
  std::int64_t silent_since_ns_ = 0;
  std::int64_t idle_since_ns_ = 0;
  std::uint64_t periods_ = 0;
  std::int64_t idle_ns_ = 0;
};

}  // namespace glaive::engine
