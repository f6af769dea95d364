#include "rdma/mesh/mesh_descriptor.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace glaive::rdma {
namespace {

using ::testing::HasSubstr;

MeshDescriptor Sample() {
  return {.executor = ExecutorId{3},
          .slot_bytes = 65536,
          .credits = 8,
          .exposures = {{TransportKind::kShm, Arrival::kImmediate, {4711, ""}, {4711, 5, 99123, 1052672}},
                        {TransportKind::kLocal, Arrival::kImmediate, {4711, ""}, {4711, 0, ~std::uint64_t{0}, 64}},
                        {.kind = TransportKind::kVerbs,
                         .arrival = Arrival::kChecksum,
                         .endpoint = {0, "[fe80::1]:40123"},
                         .region = {0, 77, 1 << 20, 8192},
                         .may_be_late = true}}};
}

TEST(MeshDescriptor, ReadsWhatItWrote) {
  EXPECT_EQ(MeshDescriptor::Decode(Sample().Encode()).value(), Sample());
  MeshDescriptor lonely = Sample();
  lonely.exposures.clear();
  EXPECT_EQ(MeshDescriptor::Decode(lonely.Encode()).value(), lonely);
}

TEST(MeshDescriptor, NeedsNoEscapingInJson) {
  EXPECT_EQ(Sample().Encode().find_first_not_of("abcdefghijklmnopqrstuvwxyz-.:[]0123456789 "), std::string::npos);
}

TEST(MeshDescriptor, RefusesEveryProperPrefix) {
  const std::string text = Sample().Encode();
  for (std::size_t length = 0; length < text.size(); ++length) {
    const absl::StatusOr<MeshDescriptor> read = MeshDescriptor::Decode(text.substr(0, length));
    EXPECT_FALSE(read.ok()) << text.substr(0, length);
  }
}

TEST(MeshDescriptor, SaysWhichFieldIsWrong) {
  const auto error = [](const char* text) { return std::string(MeshDescriptor::Decode(text).status().message()); };
  EXPECT_THAT(error("something else"), HasSubstr("does not start with glaive-mesh"));
  EXPECT_THAT(error("glaive-mesh 3 3 65536 8 0"), HasSubstr("version 3, expected 4"));
  EXPECT_THAT(error("glaive-mesh 4 4294967296 65536 8 0"), HasSubstr("executor is '4294967296'"));
  EXPECT_THAT(error("glaive-mesh 4 3 -1 8 0"), HasSubstr("slot bytes is '-1'"));
  EXPECT_THAT(error("glaive-mesh 4 3 65536 8"), HasSubstr("number of exposures is missing"));
  EXPECT_THAT(error("glaive-mesh 4 3 65536 8 4"), HasSubstr("number of exposures is '4'"));
  EXPECT_THAT(error("glaive-mesh 4 3 65536 8 1 3 0 1 - 1 1 1 1 0"), HasSubstr("transport kind is '3'"));
  EXPECT_THAT(error("glaive-mesh 4 3 65536 8 1 1 3 1 - 1 1 1 1 0"), HasSubstr("arrival is '3'"));
  EXPECT_THAT(error("glaive-mesh 4 3 65536 8 1 1 0 1 - 1 1 1 x 0"), HasSubstr("region size is 'x'"));
  EXPECT_THAT(error("glaive-mesh 4 3 65536 8 1 1 0 1 - 1 1 1 1 2"), HasSubstr("lateness is '2'"));
  EXPECT_THAT(error("glaive-mesh 4 3 65536 8 0 7"), HasSubstr("1 fields too many"));
  EXPECT_THAT(error("glaive-mesh 4 3 65536 8 2 1 0 1 - 1 1 1 1 0 1 0 1 - 1 1 1 1 0"),
              HasSubstr("transport shm comes twice"));
}

}  // namespace
}  // namespace glaive::rdma
