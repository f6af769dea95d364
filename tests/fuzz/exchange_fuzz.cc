// Drives a whole executor with messages of exchanges that a hostile helper sends: records, watermarks, grants. Whatever
// comes, the executor goes on or ends with an error, within bounded rounds and memory.

#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "engine/exchange/exchange_layout.h"
#include "state/record/text.h"
#include "tests/fuzz/exchange/queries.h"
#include "tests/fuzz/hostile_helper.h"
#include "tests/fuzz/packed_text.h"

namespace glaive::engine {
namespace {

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
    if (input.ConsumeIntegralInRange(0, 7) == 7) {
      tag.kind = input.ConsumeBool() ? ExchangeKind::kGrant : ExchangeKind::kLastGrant;
      tag.granted = input.ConsumeIntegralInRange<std::uint32_t>(0, 4);
    } else {
      payload_bytes = WriteRecords(input, payload, tag);
    }
    switch (input.ConsumeIntegralInRange(0, 31)) {  // mostly nothing is wrong
      case 1:
        tag.record_count = input.ConsumeIntegral<std::uint32_t>();
        break;
      case 2:
        tag.granted = input.ConsumeIntegral<std::uint32_t>();
        break;
      case 3:
        tag.text_bytes = input.ConsumeIntegral<std::uint32_t>();
        break;
      case 4:
        tag.input = input.ConsumeIntegral<std::uint32_t>();
        break;
      case 5:
        tag.reserved = input.ConsumeIntegral<std::uint32_t>();
        break;
      case 6:
        tag.kind = static_cast<ExchangeKind>(input.ConsumeIntegral<std::uint32_t>());
        break;
      case 7:
        ++tag.record_count;
        break;
      default:
        break;
    }
    return {.payload_bytes = payload_bytes, .tag = rdma::MessageTag::Of(tag)};
  }

  /// Header, records and their texts. Returns their bytes.
  std::size_t WriteRecords(FuzzedDataProvider& input, std::span<std::byte> payload, ExchangeTag& tag) {
    const InputShape& shape = helper_.inputs()[tag.input];
    watermark_ms_ += input.ConsumeIntegralInRange<std::int64_t>(0, 50);
    ExchangeHeader header{.watermark_ms = watermark_ms_,
                          .watermark_read_ns = 1,
                          .read_ns = 2,
                          .executor = 1,
                          .in_order = input.ConsumeBool() ? 1U : 0U};
    switch (input.ConsumeIntegralInRange(0, 31)) {
      case 1:
        header.watermark_ms = input.ConsumeIntegral<std::int64_t>();
        break;
      case 2:
        header.watermark_read_ns = input.ConsumeIntegral<std::int64_t>();
        break;
      case 3:
        header.read_ns = input.ConsumeIntegral<std::int64_t>();
        break;
      case 4:
        header.executor = input.ConsumeIntegral<std::uint32_t>();
        break;
      case 5:
        header.in_order = input.ConsumeIntegral<std::uint32_t>();
        break;
      case 6:
        header.reserved = input.ConsumeIntegral<std::uint8_t>();
        header.more_reserved[0] = input.ConsumeIntegral<std::uint8_t>();
        break;
      case 7:
        header.state = static_cast<FlowState>(input.ConsumeIntegral<std::uint32_t>());
        break;
      case 8:
      case 9:
        header.state = FlowState::kIdle;
        break;
      case 10:
        header.state = FlowState::kEnded;
        break;
      case 11:
        header.event_time_shift_ms = input.ConsumeIntegral<std::int64_t>();
        break;
      default:
        break;
    }
    std::memcpy(payload.data(), &header, sizeof(header));

    const std::span<std::byte> rest = payload.subspan(sizeof(header));
    const std::size_t most = std::min<std::size_t>(rest.size() / shape.entry_bytes, kMostRecords);
    tag.record_count = input.ConsumeIntegralInRange<std::uint32_t>(0, static_cast<std::uint32_t>(most));
    std::uint32_t text_bytes = 0;
    for (std::uint32_t i = 0; i < tag.record_count; ++i) {
      WriteRecord(input, rest.subspan(i * shape.entry_bytes, shape.entry_bytes), shape.has_texts, text_bytes);
    }
    const std::size_t records_bytes = tag.record_count * shape.entry_bytes;
    tag.text_bytes = static_cast<std::uint32_t>(std::min<std::size_t>(text_bytes, rest.size() - records_bytes));
    std::ranges::fill(rest.subspan(records_bytes, tag.text_bytes), std::byte{'a'});
    return sizeof(header) + records_bytes + tag.text_bytes;
  }

  /// An event time, a key, and texts where there are some, or other bytes.
  void WriteRecord(FuzzedDataProvider& input, std::span<std::byte> record, bool has_texts,
                   std::uint32_t& text_bytes) const {
    const std::int64_t event_time_ms = input.ConsumeIntegralInRange(0, 31) == 31
                                           ? input.ConsumeIntegral<std::int64_t>()
                                           : watermark_ms_ + input.ConsumeIntegralInRange<std::int64_t>(-20, 60);
    std::memcpy(record.data(), &event_time_ms, sizeof(event_time_ms));
    std::ranges::fill(record.subspan(sizeof(event_time_ms)), std::byte{input.ConsumeIntegral<std::uint8_t>()});
    for (std::size_t place = kTextsAt; has_texts && place < record.size(); place += sizeof(Text)) {
      const Text text = PackedText(input, text_bytes);
      std::memcpy(record.data() + place, &text, std::min(sizeof(text), record.size() - place));
    }
  }

  static constexpr std::size_t kMostRecords = 12;  // of a message: an input is short
  static constexpr std::size_t kTextsAt = 16;      // in a record: behind its event time and a key

  HostileHelper helper_;
  std::int64_t watermark_ms_ = 0;
};

}  // namespace
}  // namespace glaive::engine

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace glaive::engine;  // NOLINT(google-build-using-namespace): the entry point is not in a namespace
  static const Queries queries = ExchangeQueries();
  return Attack<HostileMessages>(queries, data, size);
}
