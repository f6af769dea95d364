#include "rdma/transport/local_transport.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace glaive::rdma {
namespace {

using ::testing::HasSubstr;

TEST(LocalTransport, RefusesMemoryOfAnotherProcess) {
  LocalTransport transport({.queue_depth = 1});
  RegionDescriptor descriptor = transport.Expose(4096).value().descriptor;
  ++descriptor.owner;
  const absl::Status status = transport.Attach(descriptor).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("own process only"));
}

TEST(LocalTransport, RefusesAnAddressThatNoRegionHas) {
  LocalTransport transport({.queue_depth = 1});
  RegionDescriptor descriptor = transport.Expose(4096).value().descriptor;
  descriptor.address += 8;
  EXPECT_FALSE(transport.Attach(descriptor).ok());
  descriptor.address = 0;
  EXPECT_FALSE(transport.Attach(descriptor).ok());
}

TEST(LocalTransport, RefusesAnotherProcessAsPeer) {
  LocalTransport transport({.queue_depth = 1});
  EndpointDescriptor there = transport.endpoint();
  ++there.owner;
  EXPECT_THAT(transport.Connect(ExecutorId{4}, there).status().message(), HasSubstr("executor 4"));
}

TEST(LocalTransport, HasAName) {
  LocalTransport transport({.queue_depth = 1});
  EXPECT_STREQ(transport.name(), "local");
  EXPECT_TRUE(transport.SignalingIsFree());
  EXPECT_TRUE(transport.PollFailure().ok());
}

}  // namespace
}  // namespace glaive::rdma
