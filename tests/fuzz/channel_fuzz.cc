// Drives the reading end of a channel with a ring that a hostile peer writes, and the reader of deltas behind it.
//
// The peer writes anything anywhere, or a footer that is right in all that it cannot guess wrong (checksum, token,
// number, lap) and arbitrary in the rest, before it some headers of runs that may be right. Messages are polled, or
// announced by immediate values. The ring lies alone on the heap, so that AddressSanitizer sees a payload that reaches
// out of it by one byte. Whatever is handed out lies within its slot, and every entry and marker within it.

#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "rdma/channel/channel_receiver.h"
#include "rdma/channel/checksum.h"
#include "rdma/channel/slot_footer.h"
#include "state/epoch/delta_reader.h"
#include "state/record/text.h"
#include "tests/fuzz/fuzz_clock.h"
#include "tests/fuzz/require.h"

namespace glaive {
namespace {

constexpr std::uint32_t kRingToken = 99;
constexpr ExecutorId kLeader{0};
constexpr ExecutorId kSender{1};
/// Entries of either kind begin with a key, which is a text.
constexpr state::DeltaEntryBytes kEntryBytes{.update = sizeof(Text) + 12, .form = sizeof(Text) + 24, .has_texts = true};

/// Takes credits, unless the input wants its queue to be full.
class CreditTaker final : public rdma::QueuePair {
 public:
  bool TryPostWrite(const rdma::WriteRequest&) override { return !full; }
  bool full = false;
};

struct FreeRing {
  void operator()(std::byte* ring) const { std::free(ring); }
};

/// Touches every byte, for AddressSanitizer to see.
std::uint64_t SumOf(std::span<const std::byte> bytes) {
  std::uint64_t sum = 0;
  for (const std::byte byte : bytes) sum += std::to_integer<std::uint64_t>(byte);
  return sum;
}

rdma::SlotFooter AnyFooter(FuzzedDataProvider& input, std::uint64_t number, const rdma::ChannelOptions& options) {
  rdma::SlotFooter footer;
  footer.message_number = input.ConsumeProbability<float>() < 0.9F ? number : input.ConsumeIntegral<std::uint64_t>();
  footer.payload_bytes = input.ConsumeBool() ? input.ConsumeIntegralInRange<std::uint32_t>(0, options.slot_bytes)
                                             : input.ConsumeIntegral<std::uint32_t>();
  footer.ring_token = kRingToken;
  footer.lap = rdma::LapOf(number, options.credits);
  state::DeltaTag tag{.epoch = input.ConsumeIntegralInRange<std::uint64_t>(0, 4),
                      .runs_bytes = input.ConsumeBool() ? footer.payload_bytes : input.ConsumeIntegral<std::uint32_t>(),
                      .has_marker = input.ConsumeIntegralInRange<std::uint32_t>(0, 2),
                      .input = input.ConsumeIntegralInRange<std::uint32_t>(0, 1),
                      .text_bytes = input.ConsumeBool() ? 0 : input.ConsumeIntegral<std::uint32_t>()};
  if (input.ConsumeBool()) {
    tag.runs_bytes = 8 * input.ConsumeIntegralInRange<std::uint32_t>(0, options.slot_bytes / 8);
    tag.text_bytes = input.ConsumeIntegralInRange<std::uint32_t>(0, 64);
    footer.payload_bytes =
        tag.runs_bytes + (tag.has_marker == 1 ? std::uint32_t{state::kMarkerBytes} : 0) + tag.text_bytes;
  }
  footer.tag = rdma::MessageTag::Of(tag);
  footer.footer_checksum = rdma::FooterChecksum(footer);
  return footer;
}

/// A text that may be right where texts of `used` bytes are before it.
Text AnyText(FuzzedDataProvider& input, std::uint64_t& used) {
  static constexpr std::array<char, 64> kZeros{};
  const auto size = input.ConsumeIntegralInRange<std::size_t>(0, 30);
  const Text text(std::string_view(kZeros.data(), size));
  if (text.is_inline()) return text;
  used += size;
  return text.WithReference(input.ConsumeProbability<float>() < 0.9F ? used : input.ConsumeIntegral<std::uint64_t>());
}

/// Writes headers of runs to a payload, each where the entries of the one before it end, and texts at their keys'
/// places.
void WriteRuns(FuzzedDataProvider& input, std::span<std::byte> payload) {
  std::uint64_t used = 0;
  while (payload.size() >= sizeof(state::DeltaRunHeader) && input.ConsumeBool()) {
    const state::DeltaRunHeader header{
        .slice = state::SliceId{input.ConsumeIntegral<std::int64_t>()},
        .entry_count = input.ConsumeProbability<float>() < 0.8F ? input.ConsumeIntegralInRange<std::uint32_t>(0, 8)
                                                                : input.ConsumeIntegral<std::uint32_t>(),
        .kind = static_cast<state::DeltaKind>(input.ConsumeIntegralInRange<std::uint32_t>(0, 2)),
        .read_ns = input.ConsumeIntegralInRange<std::int64_t>(-1, std::numeric_limits<std::int64_t>::max())};
    std::memcpy(payload.data(), &header, sizeof(header));
    const std::size_t entry_bytes = header.kind == state::DeltaKind::kUpdate ? kEntryBytes.update : kEntryBytes.form;
    for (std::size_t place = sizeof(header), entry = 0;
         entry < header.entry_count && input.ConsumeBool() && place + sizeof(Text) <= payload.size();
         ++entry, place += entry_bytes) {
      const Text text = AnyText(input, used);
      std::memcpy(payload.data() + place, &text, sizeof(text));
    }
    payload = payload.subspan(std::min(state::RunBytes(header.entry_count, entry_bytes), payload.size()));
  }
}

bool IsInside(std::span<const std::byte> part, std::span<const std::byte> whole) {
  return part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size();
}

void Receive(rdma::ChannelReceiver& receiver, state::DeltaReader& reader, std::span<const std::byte> ring) {
  const absl::StatusOr<std::optional<rdma::Message>> message = receiver.TryReceive();
  if (!message.ok() || !message->has_value()) return;
  const std::span<const std::byte> payload = (*message)->payload;
  Require(IsInside(payload, ring), "a payload lies in the ring");
  (void)SumOf(payload);
  const absl::StatusOr<state::DeltaChunk> chunk = reader.Read(**message);
  if (chunk.ok()) {
    Require(IsInside(chunk->runs, payload), "runs lie in their payload");
    for (std::span<const std::byte> rest = chunk->runs; !rest.empty();) {
      const std::size_t before = rest.size();
      const absl::StatusOr<state::DeltaRun> run = reader.TakeRun(rest);
      if (!run.ok()) break;
      (void)SumOf(run->entries);
      const std::size_t entry_bytes = run->entries.size() / run->entry_count;
      for (std::size_t place = 0; place < run->entries.size(); place += entry_bytes) {
        Text key;
        std::memcpy(static_cast<void*>(&key), run->entries.data() + place, sizeof(key));
        if (!reader.texts().Unpack(key)) break;
        const std::span<const std::byte> bytes = std::as_bytes(std::span(key.view()));
        Require(key.is_inline() || IsInside(bytes, payload), "a text lies in its payload");
        (void)SumOf(bytes);
      }
      Require(rest.size() < before && IsInside(run->entries, chunk->runs) && run->entry_count > 0,
              "a run has entries, which lie in their chunk");
    }
  }
  receiver.Release();
}

void Fuzz(FuzzedDataProvider& input) {
  rdma::ChannelOptions options;
  options.slot_bytes = 64 * input.ConsumeIntegralInRange<std::uint32_t>(4, 8);
  options.credits = input.ConsumeIntegralInRange<std::uint32_t>(2, 4);
  const bool is_polled = input.ConsumeBool();
  options.checksum_payload = is_polled;
  const std::size_t ring_bytes = options.ring_bytes();
  const std::unique_ptr<std::byte, FreeRing> memory(static_cast<std::byte*>(std::aligned_alloc(64, ring_bytes)));
  const std::span<std::byte> ring(memory.get(), ring_bytes);
  std::fill(ring.begin(), ring.end(), std::byte{0});
  CreditTaker credits;
  FuzzClock clock;
  rdma::ChannelReceiver receiver(options, {.self = kLeader,
                                           .peer = kSender,
                                           .queue_pair = &credits,
                                           .ring = ring,
                                           .region = {},
                                           .ring_token = kRingToken,
                                           .arrival = is_polled ? rdma::Arrival::kChecksum : rdma::Arrival::kImmediate,
                                           .clock = &clock});
  state::DeltaReader reader(kSender, kLeader, kEntryBytes);
  while (input.remaining_bytes() > 0) {
    switch (input.ConsumeIntegralInRange(0, 5)) {
      case 0: {
        const std::vector<std::uint8_t> bytes =
            input.ConsumeBytes<std::uint8_t>(input.ConsumeIntegralInRange<std::size_t>(1, 64));
        const auto offset = input.ConsumeIntegralInRange<std::size_t>(0, ring.size() - 1);
        std::copy_n(std::as_bytes(std::span(bytes)).begin(), std::min(bytes.size(), ring.size() - offset),
                    ring.begin() + static_cast<std::ptrdiff_t>(offset));
        break;
      }
      case 1:
        credits.full = !credits.full;
        break;
      case 2:
        (void)receiver.FlushCredits();
        break;
      case 3:
        if (is_polled) {
          receiver.OnCreditCompletion();
        } else {
          receiver.OnArrival(input.ConsumeIntegralInRange<std::uint32_t>(0, options.credits));
        }
        break;
      default: {
        const std::uint64_t number = receiver.received() + 1;
        const auto slot = static_cast<std::uint32_t>((number - 1) % options.credits);
        rdma::SlotFooter footer = AnyFooter(input, number, options);
        const std::size_t end = (std::size_t{slot} + 1) * options.slot_bytes;
        if (footer.payload_bytes <= options.slot_bytes - sizeof(footer)) {
          const std::span<std::byte> payload =
              ring.subspan(end - rdma::MessageBytes(footer.payload_bytes), footer.payload_bytes);
          WriteRuns(input, payload);
          footer.payload_checksum = rdma::PayloadChecksum(payload);
          footer.footer_checksum = rdma::FooterChecksum(footer);
        }
        std::memcpy(ring.data() + end - sizeof(footer), &footer, sizeof(footer));
        if (!is_polled) receiver.OnArrival(slot);
        Receive(receiver, reader, ring);
      }
    }
  }
  Receive(receiver, reader, ring);
}

}  // namespace
}  // namespace glaive

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider input(data, size);
  glaive::Fuzz(input);
  return 0;
}
