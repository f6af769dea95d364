#include <fcntl.h>

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

TEST(Listener, IsNotInheritedByOtherPrograms) {
  const auto listener = Listener::Bind("127.0.0.1", 0);
  ASSERT_TRUE(listener.ok());
  EXPECT_NE(::fcntl(listener->fd(), F_GETFD) & FD_CLOEXEC, 0);
}

}  // namespace
}  // namespace glaive::rdma
