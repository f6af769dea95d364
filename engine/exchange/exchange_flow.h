// ExchangeFlow: how far a receiver has come in the stream of one sender. It turns the header of a message into
// controls.
//
// Active comes in front of the message's records. Watermark, Idle and EndOfStream come behind them.
//
//   context.Require(fiber, flow.Check(self, sender, message.header));
//   flow.HandOn(message.header, has_records, now_ns, [&] { port.Take(fiber, batch); },
//               [&](const Control& control) { port.On(fiber, control); });
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "engine/base/event_time.h"
#include "engine/exchange/exchange_layout.h"
#include "engine/flow/control.h"
#include "rdma/base/ids.h"

namespace glaive::engine {

class ExchangeFlow {
 public:
  /// DataLoss if the header's watermark is below an earlier one.
  absl::Status Check(ExecutorId receiver, ExecutorId sender, const ExchangeHeader& header) const {
    if (header.watermark_ms >= watermark_ms_) {
      return absl::OkStatus();
    }
    return absl::DataLossError(absl::StrCat("executor ", Value(receiver), " refuses records of executor ",
                                            Value(sender), ": their watermark goes back from ", watermark_ms_,
                                            " ms to ", header.watermark_ms, " ms"));
  }

  /// Calls `on(control)` for each control of the header, and `take()` if the message has records. After Check.
  template <typename TakeFn, typename OnFn>
  void HandOn(const ExchangeHeader& header, bool has_records, std::int64_t now_ns, const TakeFn& take, const OnFn& on) {
    const bool moves = header.watermark_ms > watermark_ms_;
    if (state_ == FlowState::kIdle && (has_records || moves || header.state == FlowState::kActive)) {
      state_ = FlowState::kActive;
      on(Control(Active{.now_ns = now_ns}));
    }
    if (has_records) {
      take();
    }
    if (moves) {
      watermark_ms_ = header.watermark_ms;
      on(Control(Watermark{.time_ms = header.watermark_ms, .read_ns = header.watermark_read_ns}));
    }
    if (header.state == FlowState::kIdle && state_ != FlowState::kIdle) {
      on(Control(Idle{.now_ns = now_ns}));
    }
    state_ = header.state;
    if (header.state == FlowState::kEnded) {
      on(Control(EndOfStream{}));
    }
  }

  bool idle() const { return state_ == FlowState::kIdle; }

 private:
  std::int64_t watermark_ms_ = kMinEventTimeMs;
  FlowState state_ = FlowState::kActive;
};

}  // namespace glaive::engine
