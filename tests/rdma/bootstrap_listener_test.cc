#include <fcntl.h>
#include <sys/socket.h>

#include <initializer_list>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "rdma/base/address.h"
#include "rdma/bootstrap/listener.h"

namespace glaive::rdma {
namespace {

using ::testing::HasSubstr;

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

std::vector<SocketAddress> Addresses(std::initializer_list<const char*> hosts) {
  std::vector<SocketAddress> addresses;
  for (const char* const host : hosts) addresses.push_back(NumericAddress(host, 7700).value());
  return addresses;
}

TEST(IsLoopbackHereAlone, HoldsForTheHostsOwnNameOnly) {
  EXPECT_TRUE(IsLoopbackHereAlone("node-a", Addresses({"127.0.1.1"})));
  EXPECT_TRUE(IsLoopbackHereAlone("node-a", Addresses({"::1", "127.0.1.1"})));
  EXPECT_FALSE(IsLoopbackHereAlone("node-a", Addresses({"127.0.1.1", "10.0.0.1"})));
  EXPECT_FALSE(IsLoopbackHereAlone("node-a", Addresses({"10.0.0.1"})));
  for (const char* const host : {"localhost", "ip6-loopback", "me.localhost", "127.0.1.1", "::1"}) {
    EXPECT_FALSE(IsLoopbackHereAlone(host, Addresses({"127.0.0.1"}))) << host;
  }
}

TEST(Listener, AtAllAddressesIsReachedAtEach) {
  const auto listener = Listener::BindToAll("node-a", 0);
  ASSERT_TRUE(listener.ok()) << listener.status();
  EXPECT_EQ(listener->address(), FormatHostPort("node-a", listener->port()));
  for (const char* const host : {"127.0.0.1", "127.0.1.1"}) {
    const SocketAddress there = NumericAddress(host, listener->port()).value();
    const UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&there.storage), there.length), 0) << host;
  }
  EXPECT_EQ(Listener::BindToAll("node-a", listener->port()).status().code(), absl::StatusCode::kAlreadyExists);
}

TEST(Listener, IsNotInheritedByOtherPrograms) {
  const auto listener = Listener::Bind("127.0.0.1", 0);
  ASSERT_TRUE(listener.ok());
  EXPECT_NE(::fcntl(listener->fd(), F_GETFD) & FD_CLOEXEC, 0);
}

}  // namespace
}  // namespace glaive::rdma
