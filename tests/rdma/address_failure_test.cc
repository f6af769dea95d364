#include "rdma/verbs/address_failure.h"

#include <cerrno>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace glaive::rdma {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

SocketAddress Address(const char* host) { return NumericAddress(host, 4791).value(); }

TEST(CheckFamilies, RefusesIpv4WithIpv6) {
  EXPECT_TRUE(CheckFamilies(Address("10.0.0.1"), Address("192.0.2.7")).ok());
  EXPECT_TRUE(CheckFamilies(Address("fd00::1"), Address("fd00::2")).ok());
  const absl::Status refused = CheckFamilies(Address("10.0.0.1"), Address("fd00::2"));
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(refused.message(), AllOf(HasSubstr("its address is IPv6, and this node's is IPv4"), HasSubstr("--bind")));
  EXPECT_FALSE(CheckFamilies(Address("fd00::2"), Address("10.0.0.1")).ok());
}

TEST(ResolveFailure, MayPassUnlessTheSystemCannotReachSuchAnAddress) {
  for (const int error : {ENETUNREACH, EHOSTUNREACH, ETIMEDOUT, ENODEV, EADDRNOTAVAIL, ENETDOWN}) {
    EXPECT_EQ(ResolveFailure(error, "try rping").code(), absl::StatusCode::kUnavailable) << error;
  }
  for (const int error : {EINVAL, EAFNOSUPPORT}) {
    EXPECT_EQ(ResolveFailure(error, "try rping").code(), absl::StatusCode::kFailedPrecondition) << error;
  }
  EXPECT_EQ(ResolveFailure(EINVAL, "try rping").message(),
            "nobody is reached there (the address is not resolved: Invalid argument); try rping");
}

}  // namespace
}  // namespace glaive::rdma
