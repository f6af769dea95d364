#include "rdma/base/address.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace glaive::rdma {
namespace {

using ::testing::HasSubstr;

TEST(HostPort, ReadsNamesAddressesAndBrackets) {
  const auto name = ParseHostPort("node-a:7700");
  ASSERT_TRUE(name.ok());
  EXPECT_EQ(name->host, "node-a");
  EXPECT_EQ(name->port, 7700);
  EXPECT_EQ(ParseHostPort("127.0.0.1:0")->port, 0);
  EXPECT_EQ(ParseHostPort("[::1]:65535")->host, "::1");
}

TEST(HostPort, RefusesWhatIsNoAddress) {
  for (const char* text : {"", "host", "host:", ":7700", "host:x", "host:-1", "host:+1", "host: 1", "host:65536", "::1",
                           "::1:7700", "[]:1", "host:1:2", "host:99999999999999999999"}) {
    const auto parsed = ParseHostPort(text);
    EXPECT_EQ(parsed.status().code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(parsed.status().message(), HasSubstr("write host:port")) << text;
  }
}

TEST(FormatHost, IsTheNumericHostAlone) {
  EXPECT_EQ(FormatHost(NumericAddress("10.0.0.1", 7700).value()), "10.0.0.1");
  EXPECT_EQ(FormatHost(NumericAddress("2001:db8::1", 7700).value()), "2001:db8::1");
  EXPECT_EQ(FormatHost(NumericAddress("::ffff:10.0.0.1", 7700).value()), "10.0.0.1")
      << "of a listener for both families";
  EXPECT_EQ(FormatHost({}), "");
}

TEST(HostPort, WritesWhatItReads) {
  EXPECT_EQ(FormatHostPort("node-a", 7700), "node-a:7700");
  EXPECT_EQ(FormatHostPort("::1", 7700), "[::1]:7700");
}

TEST(ResolveAddress, FindsNumbersAndRefusesUnknownNames) {
  const auto found = ResolveAddress("127.0.0.1", 7700);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(FormatAddress(found->front()), "127.0.0.1:7700");
  EXPECT_FALSE(ResolveAddress("no-such-host.invalid", 1).ok());
}

TEST(NumericAddress, TakesNumbersAlone) {
  EXPECT_EQ(FormatAddress(*NumericAddress("127.0.0.1", 7700)), "127.0.0.1:7700");
  EXPECT_EQ(FormatAddress(*NumericAddress("::1", 7700)), "[::1]:7700");
  ASSERT_TRUE(ResolveAddress("localhost", 1).ok()) << "a name that can be looked up";
  EXPECT_EQ(NumericAddress("localhost", 1).status(), absl::InvalidArgumentError("'localhost' is no numeric address"));
  EXPECT_FALSE(NumericAddress("", 1).ok());
}

TEST(IsLoopback, HoldsForAddressesThatOnlyThisHostReaches) {
  for (const char* const host : {"127.0.0.1", "127.0.1.1", "127.255.255.254", "::1"}) {
    EXPECT_TRUE(IsLoopback(NumericAddress(host, 7700).value())) << host;
  }
  for (const char* const host : {"128.0.0.1", "10.0.0.127", "0.0.0.0", "::", "fd00::1", "fe80::1"}) {
    EXPECT_FALSE(IsLoopback(NumericAddress(host, 7700).value())) << host;
  }
}

}  // namespace
}  // namespace glaive::rdma
