// Drives a whole executor, in the role of a leader, with deltas of a hostile helper: the real mesh, channels, readers,
// partitions and triggers of several queries, in one thread.
//
// The helper sends through a real channel, so that everything passes the channel's own checks, and says what it likes
// within: tags, runs, entries, markers. Whatever comes, the executor goes on or ends with an error, within bounded
// rounds and memory.

#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "state/epoch/delta_layout.h"
#include "state/record/text.h"
#include "tests/fuzz/hostile_helper.h"
#include "tests/fuzz/merge/queries.h"
#include "tests/fuzz/packed_text.h"

namespace glaive::engine {
namespace {

Queries MakeQueries() {
  Queries queries;
  AddSimpleQueries(queries);
  AddWideQueries(queries);
  AddJoins(queries);
  AddTexts(queries);
  return queries;
}

/// The deltas of a helper, as the input has them.
class HostileDeltas {
 public:
  HostileDeltas(const Query& query, const Clock& clock)
      : helper_(query, clock), ended_(query.inputs(Roles(2)).size(), 0) {}

  void Send(FuzzedDataProvider& input) {
    helper_.Send([&](std::span<std::byte> payload) { return Write(input, payload); });
  }
  bool done() const { return helper_.done(); }

 private:
  HostileHelper::Message Write(FuzzedDataProvider& input, std::span<std::byte> payload) {
    const std::uint32_t number =
        input.ConsumeIntegralInRange<std::uint32_t>(0, 2) % static_cast<std::uint32_t>(ended_.size());
    state::DeltaTag tag{.epoch = ended_[number] + 1,
                        .runs_bytes = 0,
                        .has_marker = input.ConsumeBool() ? 1U : 0U,
                        .input = number,
                        .text_bytes = 0};
    const std::size_t capacity = state::RunsCapacity(payload.size());
    tag.runs_bytes =
        static_cast<std::uint32_t>(WriteRuns(input, payload.first(capacity), helper_.inputs()[number], tag.text_bytes));
    std::size_t payload_bytes = tag.runs_bytes;
    if (tag.has_marker == 1) {
      watermark_ms_ += input.ConsumeIntegralInRange<std::int64_t>(-1, 100);
      const state::EpochMarker marker{.epoch = tag.epoch,
                                      .watermark_ms = input.ConsumeProbability<float>() < 0.9F
                                                          ? watermark_ms_
                                                          : input.ConsumeIntegral<std::int64_t>(),
                                      .boundary_read_ns = input.ConsumeIntegral<std::int64_t>(),
                                      .executor = 1,
                                      .idle = input.ConsumeBool() ? 1U : 0U};
      std::memcpy(payload.data() + payload_bytes, &marker, sizeof(marker));
      payload_bytes += sizeof(marker);
      ++ended_[number];
    }
    tag.text_bytes = static_cast<std::uint32_t>(std::min<std::size_t>(tag.text_bytes, payload.size() - payload_bytes));
    for (std::uint32_t i = 0; i < tag.text_bytes; ++i) {  // some letters that come again
      payload[payload_bytes + i] = std::byte{static_cast<unsigned char>('a' + i % 3)};
    }
    payload_bytes += tag.text_bytes;
    if (input.ConsumeProbability<float>() < 0.05F) tag.runs_bytes = input.ConsumeIntegral<std::uint32_t>();
    if (input.ConsumeProbability<float>() < 0.05F) tag.input = input.ConsumeIntegral<std::uint32_t>();
    if (input.ConsumeProbability<float>() < 0.05F) tag.epoch = input.ConsumeIntegral<std::uint64_t>();
    return {.payload_bytes = payload_bytes, .tag = rdma::MessageTag::Of(tag)};
  }

  /// Writes some runs; returns their bytes. `most_entry_bytes` is the size of an update or of a form, whichever is
  /// larger; that of the other kind is for the input to find. Keys and values with texts get texts that are mostly
  /// right, and `text_bytes` says how many bytes they refer to.
  static std::size_t WriteRuns(FuzzedDataProvider& input, std::span<std::byte> payload, const InputShape& shape,
                               std::uint32_t& text_bytes) {
    const std::size_t most_entry_bytes = shape.entry_bytes;
    std::size_t written = 0;
    while (input.ConsumeProbability<float>() < 0.7F) {
      const std::size_t entry_bytes =
          input.ConsumeBool() ? most_entry_bytes
                              : 8 * input.ConsumeIntegralInRange<std::size_t>(1, (most_entry_bytes + 7) / 8);
      const std::span<std::byte> rest = payload.subspan(written);
      if (rest.size() < state::RunBytes(1, entry_bytes)) break;
      const std::size_t most = (rest.size() - sizeof(state::DeltaRunHeader)) / entry_bytes;
      state::DeltaRunHeader header{
          .slice = state::SliceId{input.ConsumeProbability<float>() < 0.9F
                                      ? input.ConsumeIntegralInRange<std::int64_t>(-1, 100)
                                      : input.ConsumeIntegral<std::int64_t>()},
          .entry_count = input.ConsumeIntegralInRange<std::uint32_t>(1, static_cast<std::uint32_t>(most)),
          .kind = input.ConsumeBool() ? state::DeltaKind::kForm : state::DeltaKind::kUpdate,
          .read_ns = input.ConsumeIntegralInRange<std::int64_t>(-1, std::numeric_limits<std::int64_t>::max())};
      const std::size_t entries_bytes = header.entry_count * entry_bytes;
      const std::vector<std::uint8_t> bytes =
          input.ConsumeBytes<std::uint8_t>(std::min<std::size_t>(entries_bytes, 256));
      // The same few bytes again and again, from any place on, make entries that agree in some fields.
      for (std::size_t i = 0; !bytes.empty() && i < entries_bytes; ++i) {
        rest[sizeof(header) + i] = std::byte{bytes[i % bytes.size()]};
      }
      // Keys and values have texts behind each other, or with a number before the first one, between two, or both.
      const std::size_t first = sizeof(std::uint64_t) * input.ConsumeIntegralInRange<std::size_t>(0, 2);
      const std::size_t step = sizeof(Text) + (input.ConsumeBool() ? sizeof(std::uint64_t) : 0);
      for (std::size_t entry = 0; shape.has_texts && entry < header.entry_count; ++entry) {
        for (std::size_t place = first; place < entry_bytes; place += step) {
          const Text text = PackedText(input, text_bytes);
          std::memcpy(rest.data() + sizeof(header) + entry * entry_bytes + place, &text,
                      std::min(sizeof(text), entry_bytes - place));
        }
      }
      written += state::RunBytes(header.entry_count, entry_bytes);
      if (input.ConsumeProbability<float>() < 0.05F) header.entry_count = input.ConsumeIntegral<std::uint32_t>();
      if (input.ConsumeProbability<float>() < 0.05F) {
        header.kind = static_cast<state::DeltaKind>(input.ConsumeIntegral<std::uint32_t>());
      }
      std::memcpy(rest.data(), &header, sizeof(header));
    }
    return written;
  }

  HostileHelper helper_;
  std::vector<std::uint64_t> ended_;  // epochs that the helper has ended, by input
  std::int64_t watermark_ms_ = 0;
};

}  // namespace
}  // namespace glaive::engine

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace glaive::engine;  // NOLINT(google-build-using-namespace): the entry point is not in a namespace
  static const Queries queries = MakeQueries();
  return Attack<HostileDeltas>(queries, data, size);
}
