// EmptySource: the source of an executor that reads nothing. Its stream has ended.
#pragma once

#include "engine/base/event_time.h"
#include "engine/source/source.h"

namespace glaive::engine {

template <typename R>
class EmptySource final : public Source<R> {
 public:
  SourceBatch<R> Poll() override { return {.records = {}, .watermark_ms = kEndedMs, .ended = true}; }
};

}  // namespace glaive::engine
