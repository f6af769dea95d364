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
  if (tag.text_bytes != 0 && !entry_bytes_.has_texts) {
    return Refuse(
        absl::StrCat("it has ", tag.text_bytes, " bytes of texts, and the entries of input ", input_, " have none"));
  }
  const std::size_t expected = std::size_t{tag.runs_bytes} + (tag.has_marker == 1 ? kMarkerBytes : 0) + tag.text_bytes;
  if (payload_bytes != expected || tag.runs_bytes % kRunAlignment != 0) {
    return Refuse(absl::StrCat("its payload of ", payload_bytes, " bytes does not match ", tag.runs_bytes,
                               " bytes of entries", tag.has_marker == 1 ? ", a marker" : "", " and ", tag.text_bytes,
                               " bytes of texts"));
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
                   .runs = message.payload.first(tag.runs_bytes),
                   .marker = std::nullopt,
                   .texts = message.payload.last(tag.text_bytes)};
  texts_ = TextUnpacker(chunk.texts);
  if (tag.has_marker == 1) {
    EpochMarker marker;
    std::memcpy(&marker, message.payload.data() + tag.runs_bytes, sizeof(marker));
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

absl::StatusOr<DeltaRun> DeltaReader::TakeRun(std::span<const std::byte>& rest) {
  if (!failure_.ok()) {
    return failure_;
  }
  DeltaRunHeader header;  // a copy: the sender could still write to it
  if (rest.size() < sizeof(header)) {
    failure_ = Refuse(absl::StrCat("its last ", rest.size(), " bytes are no run of entries"));
    return failure_;
  }
  std::memcpy(&header, rest.data(), sizeof(header));
  const std::uint32_t entry_bytes = header.kind == DeltaKind::kUpdate ? entry_bytes_.update
                                    : header.kind == DeltaKind::kForm ? entry_bytes_.form
                                                                      : 0;
  if (entry_bytes == 0) {
    failure_ =
        Refuse(absl::StrCat("input ", input_, " has no entries of kind ", static_cast<std::uint32_t>(header.kind)));
    return failure_;
  }
  if (header.entry_count == 0 || RunBytes(header.entry_count, entry_bytes) > rest.size()) {
    failure_ = Refuse(absl::StrCat("a run of ", header.entry_count, " entries of ", entry_bytes,
                                   " bytes stands before the last ", rest.size() - sizeof(header), " bytes"));
    return failure_;
  }
  if (header.read_ns < 0) {
    failure_ = Refuse(absl::StrCat("a run says that its records were read at ", header.read_ns, " ns"));
    return failure_;
  }
  const DeltaRun run{.slice = header.slice,
                     .kind = header.kind,
                     .entry_count = header.entry_count,
                     .read_ns = header.read_ns,
                     .entries = rest.subspan(sizeof(header), std::size_t{header.entry_count} * entry_bytes)};
  rest = rest.subspan(RunBytes(header.entry_count, entry_bytes));
  return run;
}

absl::Status DeltaReader::RefuseTexts() {
  failure_ = Refuse("the texts of its entries are not those that it carries");
  return failure_;
}

}  // namespace glaive::state
