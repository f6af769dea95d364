// Discard: a sink that drops every row, for benchmarks. It still gets them: nothing upstream is skipped. No row moves.
//
//   query.To(Discard{});
#pragma once

#include "engine/sink/sink.h"

namespace glaive::engine {

template <typename Row>
class DiscardSink final : public Sink<Row> {
 public:
  absl::Status Write(std::span<const Row>) override { return absl::OkStatus(); }
};

struct Discard {
  template <typename Row>
  SinkFactory<Row> Factory() const {
    return [](const SinkContext&) -> absl::StatusOr<std::unique_ptr<Sink<Row>>> {
      return std::make_unique<DiscardSink<Row>>();
    };
  }
};

}  // namespace glaive::engine
