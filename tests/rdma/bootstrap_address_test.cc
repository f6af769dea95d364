#include <fcntl.h>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "rdma/bootstrap/address.h"
#include "rdma/bootstrap/listener.h"

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

TEST(Listener, TakesAFreePortAndSaysWhich) {
  const auto listener = Listener::Bind("127.0.0.1", 0);
  ASSERT_TRUE(listener.ok()) << listener.status();
  EXPECT_NE(listener->port(), 0);
  EXPECT_EQ(listener->address(), FormatHostPort("127.0.0.1", listener->port()));
}

TEST(Listener, SaysWhatToDoWhenThePortIsInUse) {
  const auto first = Listener::Bind("127.0.0.1", 0);
  ASSERT_TRUE(first.ok()) << first.status();
  const auto second = Listener::Bind("127.0.0.1", first->port());
  EXPECT_EQ(second.status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(second.status().message(), HasSubstr(first->address()));
  EXPECT_THAT(second.status().message(), HasSubstr("port 0 for any free one"));
}

TEST(Listener, SaysThatAnAddressIsNotThisMachines) {
  const auto listener = Listener::Bind("192.0.2.1", 0);  // reserved for documents, nobody has it
  EXPECT_EQ(listener.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(listener.status().message(), HasSubstr("not this machine's"));
}

TEST(Listener, IsNotInheritedByOtherPrograms) {
  const auto listener = Listener::Bind("127.0.0.1", 0);
  ASSERT_TRUE(listener.ok());
  EXPECT_NE(::fcntl(listener->fd(), F_GETFD) & FD_CLOEXEC, 0);
}

}  // namespace
}  // namespace glaive::rdma
