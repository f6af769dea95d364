// FileSource: the engine's source of lines over a flow's files, and how far it has come, for the invariants.
//
//   spec.open = FileSourceFactory(files, 0, /*batch=*/10, truth, listener);
#pragma once

#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "engine/source/input_files.h"
#include "engine/source/line_source.h"
#include "rdma/base/check.h"
#include "tests/sim/flow_source.h"
#include "tests/sim/sim_files.h"

namespace glaive::sim {

/// A line of SimFiles.
struct ParseEvent {
  engine::Parsed operator()(std::string_view line, Event& event, engine::ParseError& error) const {
    std::uint32_t weight = 0;
    const char* at = line.data();
    const char* const end = line.data() + line.size();
    const auto parse = [&](auto& number, char behind) {
      const auto [rest, problem] = std::from_chars(at, end, number);
      if (problem != std::errc()) return false;
      at = rest;
      if (behind == '\0') return at == end;
      return at != end && *at++ == behind;
    };
    if (parse(event.key, ',') && parse(event.time_ms, ',') && parse(event.amount, ',') && parse(weight, ',') &&
        parse(event.kind, '\0')) {
      event.weight = std::bit_cast<float>(weight);
      return engine::Parsed::kRecord;
    }
    return error.At(static_cast<std::size_t>(at - line.data()) + 1, "no event");
  }
};

class FileSource final : public engine::Source<Event> {
 public:
  /// `truth` and `listener` outlive the source.
  FileSource(std::unique_ptr<engine::Source<Event>> lines, FlowTruth& truth, SourceListener& listener,
             std::size_t source, ExecutorId executor)
      : lines_(std::move(lines)), truth_(&truth), listener_(&listener), source_(source), executor_(executor) {}

  engine::SourceBatch<Event> Poll() override {
    FlowPosition& position = truth_->OfReader(source_, executor_);
    truth_->BeforeRead();
    status_ = listener_->OnBatch(source_, executor_);
    if (!status_.ok()) return {.records = {}, .watermark_ms = position.watermark_ms, .ended = true};
    const engine::SourceBatch<Event> batch = lines_->Poll();
    status_ = lines_->status();
    if (position.first_watermark_ms == kBeginningMs) position.first_watermark_ms = batch.watermark_ms;
    position.watermark_ms = batch.watermark_ms;
    if (batch.ended && status_.ok()) {
      position.last_watermark_ms = batch.watermark_ms;
      position.watermark_ms = kEndMs;
    }
    return batch;
  }
  bool Ready() override { return lines_->Ready(); }
  absl::Status status() const override { return status_; }

 private:
  std::unique_ptr<engine::Source<Event>> lines_;
  FlowTruth* truth_;
  SourceListener* listener_;
  std::size_t source_;
  ExecutorId executor_;
  absl::Status status_;
};

/// A source's files, as they are when a node lists its input.
inline engine::SourceFactory<Event> FileSourceFactory(const SimFiles& files, std::size_t source, std::int64_t batch,
                                                      FlowTruth& truth, SourceListener& listener) {
  const auto listed = engine::FindInputFiles(files.InputPattern(source));
  GLAIVE_CHECK(listed.ok(), listed.status().message());
  const auto lines =
      engine::Lines<Event>(*listed, ParseEvent{}, kEventTime, {.watermark_every = static_cast<std::uint64_t>(batch)});
  return [open = lines.open, source, truth = &truth, listener = &listener](
             const engine::SourceContext& context) -> absl::StatusOr<std::unique_ptr<engine::Source<Event>>> {
    auto opened = open(context);
    if (!opened.ok()) return opened.status();
    return std::make_unique<FileSource>(*std::move(opened), *truth, *listener, source, truth->ReaderOf(context));
  };
}

}  // namespace glaive::sim
