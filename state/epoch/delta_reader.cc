#include "state/epoch/delta_reader.h"

#include <cstring>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace glaive::state {

absl::Status DeltaReader::Refuse(const std::string& what) const {
  return absl::DataLossError(absl::StrCat("executor ", Value(leader_), " refuses a delta of executor ", Value(sender_),
                                          " after its epoch ", Value(ended_), ": ", what));
}

absl::Status DeltaReader::Check(const DeltaTag& tag, std::size_t payload_bytes) const {
  if (tag.epoch != Value(ended_) + 1) {
    return Refuse(absl::StrCat("it belongs to epoch ", tag.epoch, ", expected ", Value(ended_) + 1));
  }
  if (tag.input != input_ || tag.has_marker > 1) {
    return Refuse(
        absl::StrCat("input ", tag.input, " and marker flag ", tag.has_marker, " are not those of input ", input_));
  }
  if (tag.entry_bytes != entry_bytes_) {
    return Refuse(absl::StrCat("its entries have ", tag.entry_bytes, " bytes, expected ", entry_bytes_));
  }
  const std::size_t entries_bytes = std::size_t{tag.entry_count} * entry_bytes_;
  const std::size_t expected =
      tag.has_marker == 1 ? MarkerOffset(tag.entry_count, entry_bytes_) + kMarkerBytes : entries_bytes;
  if (payload_bytes != expected) {
    return Refuse(absl::StrCat("its payload of ", payload_bytes, " bytes does not match ", tag.entry_count, " entries",
                               tag.has_marker == 1 ? " and a marker" : ""));
  }
  return absl::OkStatus();
}

absl::Status DeltaReader::CheckMarker(const EpochMarker& marker, const DeltaTag& tag) const {
  if (marker.epoch != tag.epoch || marker.executor != Value(sender_)) {
    return Refuse(absl::StrCat("its marker speaks of epoch ", marker.epoch, " and executor ", marker.executor));
  }
  if (marker.idle > 1) {
    return Refuse(absl::StrCat("its marker's idle flag is ", marker.idle));
  }
  if (marker.boundary_read_ns < 0) {
    return Refuse(absl::StrCat("its marker was read at ", marker.boundary_read_ns, " ns"));
  }
  if (marker.watermark_ms < watermark_ms_) {
    return Refuse(absl::StrCat("its watermark goes back from ", watermark_ms_, " ms to ", marker.watermark_ms, " ms"));
  }
  return absl::OkStatus();
}

absl::StatusOr<DeltaChunk> DeltaReader::Read(const rdma::Message& message) {
  if (!failure_.ok()) {
    return failure_;
  }
  const auto tag = message.tag.As<DeltaTag>();
  failure_ = Check(tag, message.payload.size());
  if (!failure_.ok()) {
    return failure_;
  }
  current_ = EpochId{tag.epoch};
  DeltaChunk chunk{.tag = tag,
                   .entries = message.payload.first(std::size_t{tag.entry_count} * entry_bytes_),
                   .marker = std::nullopt};
  if (tag.has_marker == 1) {
    EpochMarker marker;
    std::memcpy(&marker, message.payload.data() + MarkerOffset(tag.entry_count, entry_bytes_), sizeof(marker));
    failure_ = CheckMarker(marker, tag);
    if (!failure_.ok()) {
      return failure_;
    }
    ended_ = EpochId{marker.epoch};
    watermark_ms_ = marker.watermark_ms;
    chunk.marker = marker;
  }
  return chunk;
}

}  // namespace glaive::state
