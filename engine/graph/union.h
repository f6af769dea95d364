// UnionOperator: several streams as one, on one executor: a port for each, and the output of all.
//
//    producer A ──► port 0 ─┐
//                           ├─ one at a time ──► output ──► consumers
//    producer B ──► port 1 ─┘
//
//   batches        pass through as they come: no order between those of two ports. No record moves to another executor
//   Watermark      the least of the ports' watermarks; ports that are idle or ended do not count. None if a stream has
//                  no event times
//   Idle           once each port is idle or has ended; Active once one of them is active again
//   EndOfStream    once each port has ended
//
// A stream that comes several times has one port, which emits each batch as often. So its producer asks the union's
// consumers once, however many unions of streams with themselves follow each other.
//
// Each port is called by the fiber of its own producer. While one of these fibers is suspended in a call, the others
// wait for the end of that call: the output's consumers see one call at a time (rule 1 of operator.h).
//
// A source whose port is further ahead of the least watermark than --max-lead has to wait, and so has one that is as
// far ahead of another executor's flow (invariant I7). An idle source does not wait, since its next records make it
// active. A port whose event times are those of a clock is compared with no other port, since what its source reads
// moves it no faster. When a stream becomes active after all were idle, the others count as active for a quarter of the
// idle timeout. Streams that become active together do so one after the other, and their records would be late
// otherwise. An exchange of results waits for idle ports while one port is active, because they will come as far.
//
// The ports of streams that share a source (shared_source.h) are a family. They are not compared with each other, and
// other ports are compared with the one of them that has come furthest.
//
// Owned by the executor's task, used by its thread alone. UnionVertex is its part of the query's graph.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"

#include "engine/base/event_time.h"
#include "engine/executor/task_context.h"
#include "engine/graph/open_graph.h"
#include "engine/graph/operator.h"
#include "engine/graph/other_consumers.h"
#include "engine/graph/output.h"
#include "engine/graph/shared_source.h"
#include "engine/graph/vertex.h"

namespace glaive::engine {

template <typename R>
class UnionOperator : public Producer<R> {
 public:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  /// The settings of an opened union.
  struct Options {
    bool has_event_times = true;        // whether all of its streams have them; else none waits for another
    bool waits_for_idle_ports = false;  // as long as one port is active, since the others will come as far
    std::int64_t max_lead_ms = 0;       // of a port over the least watermark
    std::int64_t delay_ms = 0;          // by which streams of results stay behind the others
    std::int64_t patience_ns = 0;       // for which idle ports count when the first one becomes active
  };

  /// `context` outlives the operator.
  UnionOperator(const TaskContext& context, const Options& options) : context_(&context), options_(options) {}

  /// What a port's stream is.
  struct Stream {
    std::size_t times = 1;       // that it comes
    bool goes_by_clock = false;  // see Vertex
    std::size_t family = kNone;  // kNone: it shares no source with another
  };

  Consumer<R>& AddPort(const Stream& stream = {}) {
    has_families_ = has_families_ || stream.family != kNone;
    return *ports_.emplace_back(std::make_unique<Port>(*this, stream));
  }
  Consumer<R>& port(std::size_t i) { return *ports_[i]; }

 protected:
  using Producer<R>::output;

  /// How far a port's stream has come.
  struct Position {
    std::int64_t watermark_ms = kMinEventTimeMs;
    std::int64_t first_watermark_ms = kMinEventTimeMs;
    bool idle = false;
    bool goes_by_clock = false;
    std::size_t family = kNone;

    void MoveTo(std::int64_t time_ms) {
      first_watermark_ms = watermark_ms == kMinEventTimeMs ? time_ms : first_watermark_ms;
      watermark_ms = time_ms;
    }
  };

  /// Whether the streams have event times, and a consumer compares how far streams have come. A sink does not.
  bool ComparesStreams() const { return options_.has_event_times && output().least_watermark_ms().has_value(); }

  /// As Consumer::LeadsTooFar, of what is at `at`.
  bool LeadsTooFar(const Position& at, std::int64_t ahead_ms) const {
    if (at.idle) {
      return false;  // what comes makes it active, and is to be told so that others need not wait for it
    }
    if (!ComparesStreams()) {
      return output().LeadsTooFar(ahead_ms);
    }
    // A stream that was idle may be behind what the union has told. What it brings does not move the union, so it does
    // not wait for others though the union has to.
    if (const std::int64_t told_ms = output().watermark_ms(); at.watermark_ms <= told_ms) {
      const std::uint64_t behind_ms = static_cast<std::uint64_t>(told_ms) - static_cast<std::uint64_t>(at.watermark_ms);
      return output().LeadsTooFar(std::max(ahead_ms, -kMostBehindMs) -
                                  static_cast<std::int64_t>(std::min<std::uint64_t>(behind_ms, kMostBehindMs)));
    }
    // A port that has no watermark yet counts as if at the first one of `at`. If no port is active, none leads.
    const std::int64_t least_ms = std::max(
        LeastBesideMs(context_->clock->NowNanos(), at.family).value_or(at.watermark_ms), at.first_watermark_ms);
    // By how much it is ahead of the union, without what is natural. It may be more than a number can say.
    const std::uint64_t lead_ms =
        least_ms < at.watermark_ms && !at.goes_by_clock
            ? static_cast<std::uint64_t>(at.watermark_ms) - static_cast<std::uint64_t>(least_ms)
            : 0;
    const auto natural_ms = static_cast<std::uint64_t>(options_.delay_ms);
    const std::uint64_t beyond_ms = lead_ms > natural_ms ? lead_ms - natural_ms : 0;
    const std::uint64_t behind_ms = ahead_ms < 0 ? static_cast<std::uint64_t>(-ahead_ms) : 0;
    const bool leads_ports =
        beyond_ms > behind_ms && beyond_ms - behind_ms > static_cast<std::uint64_t>(options_.max_lead_ms);
    return leads_ports || output().LeadsTooFar(AddDelays(ahead_ms, static_cast<std::int64_t>(beyond_ms)));
  }

 private:
  class Port final : public Consumer<R> {
   public:
    Port(UnionOperator& all, const Stream& stream) : all_(&all), times_(stream.times) {
      position_.goes_by_clock = stream.goes_by_clock;
      position_.family = stream.family;
    }

    void Take(Fiber& fiber, const Batch<R>& batch) override {
      const Call call(*all_, fiber, this->others());
      for (std::size_t i = 0; i < times_; ++i) {
        all_->output().Emit(fiber, batch);
      }
    }
    void On(Fiber& fiber, const Control& control) override {
      const Call call(*all_, fiber, this->others());
      std::visit([&](const auto& each) { OnControl(fiber, each); }, control);
    }
    void Flush(Fiber& fiber) override {
      const Call call(*all_, fiber, this->others());
      all_->output().Flush(fiber);
    }
    bool WantsTurn(const Turn& turn) const override {
      // During a call of another port it is that one's fiber that attends. It may be the fiber that asks.
      return !all_->is_called_ && (all_->CanAdvance(turn.now_ns) || all_->output().WantsTurn(turn));
    }
    void Attend(Fiber& fiber, const Turn& turn) override {
      const Call call(*all_, fiber, this->others());
      all_->Advance(fiber, turn.now_ns, turn.now_ns);
      all_->output().Attend(fiber, turn);
    }
    bool LeadsTooFar(std::int64_t ahead_ms) const override { return all_->LeadsTooFar(position_, ahead_ms); }
    std::optional<std::int64_t> watermark_ms() const override {
      if (!all_->ComparesStreams()) {
        return std::nullopt;
      }
      return idle() ? std::max(own_watermark_ms(), all_->output().watermark_ms()) : own_watermark_ms();
    }

    std::int64_t own_watermark_ms() const { return position_.watermark_ms; }
    std::size_t family() const { return position_.family; }
    bool idle() const { return position_.idle; }
    bool ended() const { return ended_; }

   private:
    void OnControl(Fiber& fiber, const Watermark& watermark) {
      position_.MoveTo(watermark.time_ms);
      all_->Advance(fiber, all_->context_->clock->NowNanos(), watermark.read_ns);
    }
    void OnControl(Fiber& fiber, const Idle& idle) {
      position_.idle = true;
      all_->OnQuiet(fiber, idle.now_ns);
    }
    void OnControl(Fiber& fiber, const Active& active) {
      position_.idle = false;
      all_->OnActive(fiber, active);
    }
    void OnControl(Fiber& fiber, const EndOfStream& /*end*/) {
      ended_ = true;
      all_->OnQuiet(fiber, all_->context_->clock->NowNanos());
    }

    UnionOperator* all_;
    std::size_t times_;
    Position position_;
    bool ended_ = false;
  };

  /// A call of a port: waits for the end of another port's call, and holds up those that begin meanwhile. `others` are
  /// the other consumers of the port's producer.
  class Call {
   public:
    Call(UnionOperator& all, Fiber& fiber, OtherConsumers* others) : all_(&all) {
      if (all_->is_called_) {
        WaitAndAttend(fiber, *all_->context_->clock, others, [this] { return !all_->is_called_; });
      }
      all_->is_called_ = true;
      all_->output().SetUpstream(others);
    }
    ~Call() { all_->is_called_ = false; }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    UnionOperator* all_;
  };

  bool Counts(const Port& port, std::int64_t now_ns) const {
    return !port.ended() && (!port.idle() || options_.waits_for_idle_ports || now_ns < idle_count_until_ns_);
  }

  /// The least watermark of the ports that count; none if all are idle or have ended.
  std::optional<std::int64_t> LeastMs(std::int64_t now_ns) const {
    std::optional<std::int64_t> least;
    bool some_active = false;
    for (const auto& port : ports_) {
      if (!Counts(*port, now_ns)) {
        continue;
      }
      some_active = some_active || !port->idle();
      least = std::min(least.value_or(std::numeric_limits<std::int64_t>::max()), port->own_watermark_ms());
    }
    return some_active ? least : std::nullopt;
  }

  /// The least watermark that a port of `family` is compared with. Of another family it is the greatest.
  std::optional<std::int64_t> LeastBesideMs(std::int64_t now_ns, std::size_t family) const {
    if (!has_families_) {
      return LeastMs(now_ns);
    }
    std::optional<std::int64_t> least;
    for (const auto& port : ports_) {
      if (!Counts(*port, now_ns) || (family != kNone && port->family() == family)) {
        continue;
      }
      std::int64_t come_ms = port->own_watermark_ms();
      for (const auto& other : ports_) {
        const bool is_relative = port->family() != kNone && other->family() == port->family();
        come_ms = is_relative && Counts(*other, now_ns) ? std::max(come_ms, other->own_watermark_ms()) : come_ms;
      }
      least = std::min(least.value_or(std::numeric_limits<std::int64_t>::max()), come_ms);
    }
    return least;
  }

  bool CanAdvance(std::int64_t now_ns) const {
    if (!options_.has_event_times) {
      return false;  // some streams may have watermarks: they say nothing of the others
    }
    const std::optional<std::int64_t> least = LeastMs(now_ns);
    return !output().idle() && least && *least > output().watermark_ms();
  }

  void Advance(Fiber& fiber, std::int64_t now_ns, std::int64_t read_ns) {
    if (CanAdvance(now_ns)) {
      output().Emit(fiber, Watermark{.time_ms = *LeastMs(now_ns), .read_ns = read_ns});
    }
  }

  /// A port has become idle, or has ended.
  void OnQuiet(Fiber& fiber, std::int64_t now_ns) {
    if (std::ranges::all_of(ports_, [](const auto& port) { return port->ended(); })) {
      output().Emit(fiber, EndOfStream{});
    } else if (std::ranges::any_of(ports_, [](const auto& port) { return !port->ended() && !port->idle(); })) {
      Advance(fiber, now_ns, now_ns);
    } else if (!output().idle()) {
      output().Emit(fiber, Idle{.now_ns = now_ns});
    }
  }

  void OnActive(Fiber& fiber, const Active& active) {
    if (output().idle()) {
      output().Emit(fiber, active);
      idle_count_until_ns_ = active.now_ns + options_.patience_ns;
    }
  }

  /// Further behind is as good as this.
  static constexpr std::int64_t kMostBehindMs = kMaxEventTimeMs / 4;

  const TaskContext* context_;
  const Options options_;
  std::vector<std::unique_ptr<Port>> ports_;
  bool has_families_ = false;
  bool is_called_ = false;                // by the fiber of a port's producer
  std::int64_t idle_count_until_ns_ = 0;  // until then, ports that are idle count
};

template <typename R>
class UnionVertex final : public ProducerVertex<R> {
 public:
  /// `has_event_times`: those of all streams. `has_results`: those of a stage, in some of them.
  UnionVertex(std::vector<std::shared_ptr<const ProducerVertex<R>>> streams, bool has_event_times, bool has_results)
      : streams_(std::move(streams)), has_event_times_(has_event_times), has_results_(has_results) {}

  std::vector<const Vertex*> upstream() const override {
    std::vector<const Vertex*> vertices;
    for (const auto& stream : streams_) {
      vertices.push_back(stream.get());
    }
    return vertices;
  }
  std::int64_t delay_ms() const override { return facts().delay_ms; }
  bool goes_by_clock() const override { return facts().goes_by_clock; }
  bool adds_past_results() const override { return facts().adds_past_results; }
  bool is_behind_exchange() const override { return facts().is_behind_exchange; }
  VertexPlan Explain(const Roles& /*roles*/) const override {
    return {.kind = "union",
            .facts = {has_event_times_ ? "its watermark is the least of its streams'" : "without event times"}};
  }

  absl::StatusOr<std::unique_ptr<Operator>> Open(OpenGraph& graph) const override {
    const TaskContext& context = graph.context();
    auto opened = std::make_unique<UnionOperator<R>>(
        context, typename UnionOperator<R>::Options{.has_event_times = has_event_times_,
                                                    .max_lead_ms = context.max_lead_ms,
                                                    .delay_ms = delay_ms(),
                                                    .patience_ns = context.idle_timeout_ns / 4});
    for (auto stream = streams_.begin(); stream != streams_.end(); ++stream) {
      if (std::find(streams_.begin(), stream, *stream) == stream) {
        const std::ptrdiff_t times = std::count(stream, streams_.end(), *stream);
        graph.OutputOf(**stream).Add(
            opened->AddPort({.times = static_cast<std::size_t>(times),
                             .goes_by_clock = (*stream)->goes_by_clock(),
                             .family = facts().families[static_cast<std::size_t>(stream - streams_.begin())]}));
      }
    }
    return opened;
  }

 private:
  /// Those of Vertex.
  struct Facts {
    std::int64_t delay_ms = 0;
    bool goes_by_clock = true;  // if all streams do: the union is where the least of them is
    bool adds_past_results = false;
    bool is_behind_exchange = false;
    std::vector<std::size_t> families;  // by stream; see UnionOperator::Stream
  };

  /// Of each stream the family by which its port is known (UnionOperator::Stream).
  std::vector<std::size_t> Families() const {
    const std::vector<std::size_t> families = FamiliesBySource(upstream());
    std::vector<std::size_t> of_ports;
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      bool has_others = false;
      for (std::size_t j = 0; j < streams_.size(); ++j) {
        has_others = has_others || (families[i] == families[j] && streams_[i] != streams_[j]);
      }
      of_ports.push_back(has_others ? families[i] : UnionOperator<R>::kNone);
    }
    return of_ports;
  }

  /// Executors ask at the same time. The first one walks the graph upstream; a union of unions has many paths there.
  const Facts& facts() const {
    std::call_once(has_facts_, [this] {
      facts_.adds_past_results = has_results_;
      for (const auto& stream : streams_) {
        facts_.delay_ms = std::max(facts_.delay_ms, stream->delay_ms());
        facts_.goes_by_clock = facts_.goes_by_clock && stream->goes_by_clock();
        facts_.adds_past_results = facts_.adds_past_results || stream->adds_past_results();
        facts_.is_behind_exchange = facts_.is_behind_exchange || stream->is_behind_exchange();
      }
      facts_.families = Families();
    });
    return facts_;
  }

  std::vector<std::shared_ptr<const ProducerVertex<R>>> streams_;
  bool has_event_times_;
  bool has_results_;
  mutable std::once_flag has_facts_;
  mutable Facts facts_;
};

}  // namespace glaive::engine
