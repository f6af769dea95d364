// Drives a whole executor with messages of exchanges that a hostile helper sends: records, watermarks, grants. Whatever
// comes, the executor goes on or ends with an error, within bounded rounds and memory.

#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "engine/exchange/exchange_layout.h"
#include "state/record/text.h"
#include "tests/fuzz/exchange/queries.h"
#include "tests/fuzz/fuzz_clock.h"
#include "tests/fuzz/hostile_helper.h"
#include "tests/fuzz/packed_text.h"

namespace glaive::engine {
namespace {

constexpr float kMostly = 0.95F;

/// The messages of a helper, as the input has them.
class HostileMessages {
 public:
  HostileMessages(const Query& query, const Clock& clock) : helper_(query, clock) {}

  void Send(FuzzedDataProvider& input) {
    helper_.Send([&](std::span<std::byte> payload) { return Write(input, payload); });
  }
  bool done() const { return helper_.done(); }

 private:
  HostileHelper::Message Write(FuzzedDataProvider& input, std::span<std::byte> payload) {
    ExchangeTag tag{.input = input.ConsumeIntegralInRange<std::uint32_t>(
                        0, static_cast<std::uint32_t>(helper_.inputs().size()) - 1)};
    std::size_t payload_bytes = 0;
    if (input.ConsumeProbability<float>() < 0.2F) {
      tag.kind = input.ConsumeBool() ? ExchangeKind::kGrant : ExchangeKind::kLastGrant;
      tag.granted = input.ConsumeIntegralInRange<std::uint32_t>(0, 4);
    } else {
      payload_bytes = WriteRecords(input, payload, tag);
    }
    Spoil(input, tag.record_count);
    Spoil(input, tag.granted);
    Spoil(input, tag.text_bytes);
    Spoil(input, tag.input);
    Spoil(input, tag.reserved);
    if (input.ConsumeProbability<float>() >= kMostly) {
      tag.kind = static_cast<ExchangeKind>(input.ConsumeIntegral<std::uint32_t>());
    }
    return {.payload_bytes = payload_bytes, .tag = rdma::MessageTag::Of(tag)};
  }

  /// Header, records and their texts. Returns their bytes.
  std::size_t WriteRecords(FuzzedDataProvider& input, std::span<std::byte> payload, ExchangeTag& tag) {
    const InputShape& shape = helper_.inputs()[tag.input];
    watermark_ms_ += input.ConsumeIntegralInRange<std::int64_t>(0, 50);
    ExchangeHeader header{.watermark_ms = watermark_ms_,
                          .watermark_read_ns = input.ConsumeIntegralInRange<std::int64_t>(0, 1'000),
                          .read_ns = input.ConsumeIntegralInRange<std::int64_t>(0, 1'000),
                          .executor = 1,
                          .in_order = input.ConsumeBool() ? 1U : 0U};
    const float state = input.ConsumeProbability<float>();
    header.state = state < 0.8F ? FlowState::kActive : state < kMostly ? FlowState::kIdle : FlowState::kEnded;
    Spoil(input, header.watermark_ms);
    Spoil(input, header.watermark_read_ns);
    Spoil(input, header.read_ns);
    Spoil(input, header.executor);
    Spoil(input, header.in_order);
    Spoil(input, header.reserved[0]);
    if (input.ConsumeProbability<float>() >= kMostly) {
      header.state = static_cast<FlowState>(input.ConsumeIntegral<std::uint32_t>());
    }
    std::memcpy(payload.data(), &header, sizeof(header));

    const std::span<std::byte> rest = payload.subspan(sizeof(header));
    const std::size_t most = rest.size() / shape.entry_bytes;
    tag.record_count = input.ConsumeIntegralInRange<std::uint32_t>(0, static_cast<std::uint32_t>(most));
    const std::vector<std::uint8_t> bytes = input.ConsumeBytes<std::uint8_t>(shape.entry_bytes);
    std::uint32_t text_bytes = 0;
    for (std::uint32_t i = 0; i < tag.record_count; ++i) {
      WriteRecord(input, rest.subspan(i * shape.entry_bytes, shape.entry_bytes), bytes, shape.has_texts, text_bytes);
    }
    const std::size_t records_bytes = tag.record_count * shape.entry_bytes;
    tag.text_bytes = static_cast<std::uint32_t>(std::min<std::size_t>(text_bytes, rest.size() - records_bytes));
    std::ranges::fill(rest.subspan(records_bytes, tag.text_bytes), std::byte{'a'});
    return sizeof(header) + records_bytes + tag.text_bytes;
  }

  /// An event time, and the same few bytes as other records have. Where there are texts, those from 16 bytes on: behind
  /// the time and a key.
  void WriteRecord(FuzzedDataProvider& input, std::span<std::byte> record, std::span<const std::uint8_t> bytes,
                   bool has_texts, std::uint32_t& text_bytes) const {
    std::memcpy(record.data(), bytes.data(), std::min(bytes.size(), record.size()));
    std::int64_t event_time_ms = watermark_ms_ + input.ConsumeIntegralInRange<std::int64_t>(-20, 60);
    Spoil(input, event_time_ms);
    std::memcpy(record.data(), &event_time_ms, sizeof(event_time_ms));
    for (std::size_t place = 16; has_texts && place < record.size(); place += sizeof(Text)) {
      const Text text = PackedText(input, text_bytes);
      std::memcpy(record.data() + place, &text, std::min(sizeof(text), record.size() - place));
    }
  }

  /// Now and then makes the number any one.
  template <typename T>
  static void Spoil(FuzzedDataProvider& input, T& number) {
    if (input.ConsumeProbability<float>() >= kMostly) number = input.ConsumeIntegral<T>();
  }

  HostileHelper helper_;
  std::int64_t watermark_ms_ = 0;
};

}  // namespace
}  // namespace glaive::engine

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace glaive::engine;  // NOLINT(google-build-using-namespace): the entry point is not in a namespace
  static const Queries queries = ExchangeQueries();
  FuzzedDataProvider input(data, size);
  const glaive::FuzzClock clock;
  HostileMessages messages(*queries[input.ConsumeIntegralInRange<std::size_t>(0, queries.size() - 1)], clock);
  while (input.remaining_bytes() > 0 && !messages.done()) messages.Send(input);
  return 0;
}
