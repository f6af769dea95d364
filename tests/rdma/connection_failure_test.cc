#include "rdma/verbs/connection_failure.h"

#include <cerrno>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <rdma/rdma_cma.h>

namespace glaive::rdma {
namespace {

using ::testing::HasSubstr;

struct FailedEvent {
  int event;
  int status;
  absl::StatusCode code;
  const char* words;
};

constexpr FailedEvent kFailedEvents[] = {
    {RDMA_CM_EVENT_ADDR_ERROR, -ETIMEDOUT, absl::StatusCode::kUnavailable, "must be in one RDMA network"},
    {RDMA_CM_EVENT_ROUTE_ERROR, 5, absl::StatusCode::kUnavailable,
     "nobody is reached there (RDMA_CM_EVENT_ROUTE_ERROR"},
    {RDMA_CM_EVENT_UNREACHABLE, -110, absl::StatusCode::kUnavailable, ", status -110); "},
    {RDMA_CM_EVENT_CONNECT_ERROR, 0, absl::StatusCode::kUnavailable, "RDMA_CM_EVENT_CONNECT_ERROR"},
    {RDMA_CM_EVENT_REJECTED, 8, absl::StatusCode::kUnavailable, "no process listens there"},
    {RDMA_CM_EVENT_DISCONNECTED, 0, absl::StatusCode::kUnavailable, "the queue pair was disconnected"},
    {RDMA_CM_EVENT_DEVICE_REMOVAL, 0, absl::StatusCode::kFailedPrecondition, "the device was removed from this host"}};

TEST(ConnectionFailure, SaysWhyAConnectionIsNotMadeOrIsGone) {
  for (const FailedEvent& each : kFailedEvents) {
    const absl::Status failure = ConnectionFailure(each.event, each.status);
    EXPECT_EQ(failure.code(), each.code) << failure;
    EXPECT_THAT(std::string(failure.message()), HasSubstr(each.words));
  }
}

TEST(ConnectionFailure, OtherEventsAreNone) {
  for (const int event : {RDMA_CM_EVENT_ADDR_RESOLVED, RDMA_CM_EVENT_ROUTE_RESOLVED, RDMA_CM_EVENT_CONNECT_REQUEST,
                          RDMA_CM_EVENT_CONNECT_RESPONSE, RDMA_CM_EVENT_ESTABLISHED, RDMA_CM_EVENT_ADDR_CHANGE,
                          RDMA_CM_EVENT_TIMEWAIT_EXIT}) {
    EXPECT_EQ(ConnectionFailure(event, 0), absl::OkStatus()) << event;
  }
}

}  // namespace
}  // namespace glaive::rdma
