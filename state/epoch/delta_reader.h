// DeltaReader: checks the chunks of one sender (the paper's "helper") before any of their bytes are used (section
// 7.2.2, "Properties").
//
// One for each sender and input of the query, owned by the leader, used by its thread alone. The channel has checked
// that a message is whole and in its place in the ring. The reader checks that its content may be merged:
//
//   1. Epochs follow each other without gap, and chunks belong to the current one (invariant I2).
//   2. A sender's watermark never goes back (invariant I3).
//   3. A run's entries lie in the chunk, and are of a kind that the input has.
//   4. Only an input whose entries have texts gets texts. TextUnpacker checks each of them.
//
// All input is a peer's, so a violation is an error that names the sender and the epoch. Afterwards the reader stays
// failed.
//
//   absl::StatusOr<DeltaChunk> chunk = reader.Read(message);
//   for (auto rest = chunk->runs; !rest.empty();) {
//     absl::StatusOr<DeltaRun> run = reader.TakeRun(rest);   // ... merge run->entries
//   }
//   ... then, if the chunk has one, apply chunk->marker ...
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>

#include "absl/status/statusor.h"

#include "rdma/base/ids.h"
#include "rdma/channel/channel_receiver.h"
#include "state/epoch/delta_layout.h"
#include "state/record/text_wire.h"

namespace glaive::state {

/// The sizes of an input's entries, by their kind.
struct DeltaEntryBytes {
  std::uint32_t update = 0;
  std::uint32_t form = 0;  // 0: the input has no such entries
  bool has_texts = false;  // in their keys, or in what changes values
};

/// A checked message: runs to merge and, at an epoch's end, the marker.
struct DeltaChunk {
  DeltaTag tag;
  std::span<const std::byte> runs;  // 8-byte aligned, in the ring
  std::optional<EpochMarker> marker;
  std::span<const std::byte> texts;  // in the ring
};

/// A run whose entries lie in its chunk.
struct DeltaRun {
  SliceId slice{};
  DeltaKind kind = DeltaKind::kUpdate;
  std::uint32_t entry_count = 0;
  std::int64_t read_ns = 0;            // when the sender read the batch of the first entry, by its host's clock
  std::span<const std::byte> entries;  // entry_count of the kind's size, 8-byte aligned, in the ring
};

class DeltaReader {
 public:
  /// Reads what `sender` sends to `leader` for one of the query's inputs; its entries have `entry_bytes`.
  DeltaReader(ExecutorId sender, ExecutorId leader, const DeltaEntryBytes& entry_bytes, std::uint32_t input = 0)
      : sender_(sender), leader_(leader), entry_bytes_(entry_bytes), input_(input) {}

  /// The message's content. It is valid as long as the message. DataLoss names sender, epoch and what is wrong.
  absl::StatusOr<DeltaChunk> Read(const rdma::Message& message);
  /// The first run of the rest of a chunk's runs, which is not empty; takes it off `rest`. Errors as above.
  absl::StatusOr<DeltaRun> TakeRun(std::span<const std::byte>& rest);
  /// The texts of the chunk that was read last, in the order of its entries. None may be left behind the last entry.
  TextUnpacker& texts() { return texts_; }
  /// The error of an entry whose texts are not those that come next, or of texts that are left.
  absl::Status RefuseTexts();

  ExecutorId sender() const { return sender_; }
  /// The epoch of the chunk that was read last.
  EpochId current() const { return current_; }
  /// Epochs that the sender has ended.
  EpochId ended() const { return ended_; }
  /// The sender's event-time watermark as of that epoch, in ms.
  std::int64_t watermark_ms() const { return watermark_ms_; }

 private:
  absl::Status Check(const DeltaTag& tag, std::size_t payload_bytes) const;
  absl::Status CheckMarker(const EpochMarker& marker, const DeltaTag& tag) const;
  absl::Status Refuse(const std::string& what) const;

  ExecutorId sender_;
  ExecutorId leader_;
  DeltaEntryBytes entry_bytes_;
  std::uint32_t input_;
  EpochId current_{0};
  EpochId ended_{0};
  std::int64_t watermark_ms_ = std::numeric_limits<std::int64_t>::min();
  TextUnpacker texts_{{}};
  absl::Status failure_;
};

}  // namespace glaive::state
