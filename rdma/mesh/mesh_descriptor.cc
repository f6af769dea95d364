#include "rdma/mesh/mesh_descriptor.h"

#include <algorithm>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace glaive::rdma {
namespace {

constexpr const char* kMagic = "glaive-mesh";
constexpr std::uint64_t kVersion = 4;
constexpr const char* kNoAddress = "-";

// Reads one field after the other; the first error stays.
class FieldReader {
 public:
  explicit FieldReader(absl::string_view text) : fields_(absl::StrSplit(text, ' ')) {}

  absl::string_view Word(const char* name) {
    if (next_ < fields_.size()) return fields_[next_++];
    Fail(absl::StrCat(name, " is missing"));
    return "";
  }

  std::uint64_t Number(const char* name, std::uint64_t max) {
    const absl::string_view word = Word(name);
    std::uint64_t value = 0;
    if (!absl::SimpleAtoi(word, &value) || value > max) {
      Fail(absl::StrCat(name, " is '", word.substr(0, 32), "', expected a number up to ", max));
      return 0;
    }
    return value;
  }

  std::uint32_t Number32(const char* name) {
    return static_cast<std::uint32_t>(Number(name, std::numeric_limits<std::uint32_t>::max()));
  }
  std::uint64_t Number64(const char* name) { return Number(name, std::numeric_limits<std::uint64_t>::max()); }

  void End() {
    if (next_ != fields_.size()) Fail(absl::StrCat(fields_.size() - next_, " fields too many"));
  }

  void Fail(const std::string& what) {
    if (status_.ok()) status_ = absl::InvalidArgumentError(absl::StrCat("mesh descriptor: ", what));
  }
  const absl::Status& status() const { return status_; }

 private:
  std::vector<absl::string_view> fields_;
  std::size_t next_ = 0;
  absl::Status status_;
};

Exposure ReadExposure(FieldReader& fields) {
  Exposure exposure;
  exposure.kind = static_cast<TransportKind>(fields.Number("transport kind", kTransportKinds - 1));
  exposure.arrival = static_cast<Arrival>(fields.Number("arrival", kArrivals - 1));
  exposure.endpoint.owner = fields.Number64("endpoint owner");
  const absl::string_view address = fields.Word("endpoint address");
  if (address != kNoAddress) exposure.endpoint.address = std::string(address);
  exposure.region.owner = fields.Number64("region owner");
  exposure.region.key = fields.Number64("region key");
  exposure.region.address = fields.Number64("region address");
  exposure.region.size_bytes = fields.Number64("region size");
  exposure.may_be_late = fields.Number("lateness", 1) != 0;
  return exposure;
}

}  // namespace

std::string MeshDescriptor::Encode() const {
  std::string text =
      absl::StrCat(kMagic, " ", kVersion, " ", Value(executor), " ", slot_bytes, " ", credits, " ", exposures.size());
  for (const Exposure& exposure : exposures) {
    absl::StrAppend(&text, " ", static_cast<std::uint32_t>(exposure.kind), " ",
                    static_cast<std::uint32_t>(exposure.arrival), " ", exposure.endpoint.owner, " ",
                    exposure.endpoint.address.empty() ? kNoAddress : exposure.endpoint.address, " ");
    absl::StrAppend(&text, exposure.region.owner, " ", exposure.region.key, " ", exposure.region.address, " ",
                    exposure.region.size_bytes, " ", exposure.may_be_late ? 1 : 0);
  }
  return text;
}

absl::StatusOr<MeshDescriptor> MeshDescriptor::Decode(std::string_view text) {
  FieldReader fields(absl::string_view(text.data(), text.size()));
  if (fields.Word("name") != kMagic) fields.Fail(absl::StrCat("does not start with ", kMagic));
  if (const std::uint64_t version = fields.Number64("version"); version != kVersion) {
    fields.Fail(absl::StrCat("version ", version, ", expected ", kVersion));
  }
  MeshDescriptor descriptor;
  descriptor.executor = ExecutorId{fields.Number32("executor")};
  descriptor.slot_bytes = fields.Number32("slot bytes");
  descriptor.credits = fields.Number32("credits");
  const std::uint64_t count = fields.Number("number of exposures", kTransportKinds);
  for (std::uint64_t i = 0; i < count; ++i) {
    const Exposure exposure = ReadExposure(fields);
    const bool repeated = std::any_of(descriptor.exposures.begin(), descriptor.exposures.end(),
                                      [&](const Exposure& other) { return other.kind == exposure.kind; });
    if (repeated) fields.Fail(absl::StrCat("transport ", Name(exposure.kind), " comes twice"));
    descriptor.exposures.push_back(exposure);
  }
  fields.End();
  if (!fields.status().ok()) return fields.status();
  return descriptor;
}

}  // namespace glaive::rdma
