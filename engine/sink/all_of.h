// AllOf: a sink that hands every row to several sinks in turn. No row moves: the sinks are those of one executor.
//
//   query.To(AllOf<Row>({Csv{path}.Factory<Row>(), Collect(rows).Factory<Row>()}));
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/sink/sink.h"

namespace glaive::engine {

template <typename Row>
class AllOfSink final : public Sink<Row> {
 public:
  explicit AllOfSink(std::vector<std::unique_ptr<Sink<Row>>> sinks) : sinks_(std::move(sinks)) {}

  bool Ready() override {
    return std::ranges::all_of(sinks_, [](const auto& sink) { return sink->Ready(); });
  }
  absl::Status Write(std::span<const Row> rows) override {
    absl::Status status;
    for (auto& sink : sinks_) {
      status.Update(sink->Write(rows));
    }
    return status;
  }
  void Complete(std::optional<std::int64_t> until_ms) override {
    for (auto& sink : sinks_) {
      sink->Complete(until_ms);
    }
  }
  bool WantsToPublish(std::int64_t now_ns) const override {
    return std::ranges::any_of(sinks_, [=](const auto& sink) { return sink->WantsToPublish(now_ns); });
  }
  absl::Status Publish(std::int64_t now_ns) override {
    absl::Status status;
    for (auto& sink : sinks_) {
      if (sink->WantsToPublish(now_ns)) {
        status.Update(sink->Publish(now_ns));
      }
    }
    return status;
  }
  absl::StatusOr<bool> TryFinish() override {
    bool finished = true;
    for (auto& sink : sinks_) {
      const absl::StatusOr<bool> one = sink->TryFinish();
      if (!one.ok()) {
        return one;
      }
      finished = finished && *one;
    }
    return finished;
  }
  void AddParts(std::vector<ResultPart>& parts) const override {
    for (const auto& sink : sinks_) {
      sink->AddParts(parts);
    }
  }
  absl::Status Commit() override {
    absl::Status status;
    for (auto& sink : sinks_) {
      status.Update(sink->Commit());
    }
    return status;
  }

 private:
  std::vector<std::unique_ptr<Sink<Row>>> sinks_;
};

template <typename Row>
class AllOf {
 public:
  explicit AllOf(std::vector<SinkFactory<Row>> factories) : factories_(std::move(factories)) {}

  template <typename R>
    requires std::same_as<R, Row>
  SinkFactory<R> Factory() const {
    return [factories = factories_](const SinkContext& context) -> absl::StatusOr<std::unique_ptr<Sink<Row>>> {
      std::vector<std::unique_ptr<Sink<Row>>> sinks;
      for (const SinkFactory<Row>& factory : factories) {
        absl::StatusOr<std::unique_ptr<Sink<Row>>> sink = factory(context);
        if (!sink.ok()) {
          return sink.status();
        }
        sinks.push_back(*std::move(sink));
      }
      return std::make_unique<AllOfSink<Row>>(std::move(sinks));
    };
  }

 private:
  std::vector<SinkFactory<Row>> factories_;
};

}  // namespace glaive::engine
