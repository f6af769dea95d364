// Trace: what happened in a simulation, in order: its fingerprint, and on request its text.
//
//   12.345678 ms  executor 2: merge
//   12.346112 ms  write 0 -> 2: 64 of 256 bytes
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>

#include "absl/strings/str_format.h"

#include "rdma/base/mix.h"
#include "tests/sim/virtual_time.h"

namespace glaive::sim {

class Trace {
 public:
  /// `out` may be null. Both outlive the trace.
  Trace(const VirtualTime& time, std::ostream* out) : time_(&time), out_(out) {}

  template <typename... Args>
  void Add(const absl::FormatSpec<Args...>& format, const Args&... args) {
    const std::string line = absl::StrFormat(format, args...);
    Digest(line);
    if (out_ != nullptr) {
      *out_ << absl::StreamFormat("%14.6f ms  %s\n", static_cast<double>(time_->now_ns() - 1'000'000'000) * 1e-6, line);
    }
  }

  /// The same for the same events at the same times.
  std::uint64_t fingerprint() const { return fingerprint_; }

 private:
  void Digest(std::string_view line) {
    std::uint64_t hash = fingerprint_ ^ static_cast<std::uint64_t>(time_->now_ns());
    for (const char c : line) hash = (hash ^ static_cast<std::uint8_t>(c)) * 0x100000001B3;
    fingerprint_ = Mix64(hash);
  }

  const VirtualTime* time_;
  std::ostream* out_;
  std::uint64_t fingerprint_ = 0;
};

}  // namespace glaive::sim
