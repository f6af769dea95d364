// Events of devices, of which emulated ones report but a few.

#include "rdma/verbs/device_event.h"

#include <optional>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <infiniband/verbs.h>

namespace glaive::rdma {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::int64_t kLater = DeviceHealth::kPortPatienceNanos;

class DeviceEventTest : public ::testing::Test {
 protected:
  // What is wrong with the whole device after an event, half a second later.
  absl::Status FailureAfter(const DeviceEvent& event) {
    TakeIn(event, health_, 0);
    return health_.Failure(kLater, /*writes_have_failed=*/false);
  }

  DeviceHealth health_{"mlx5_0", 2};
};

TEST_F(DeviceEventTest, ErrorsOfTheDeviceAndItsQueuesEndItsUse) {
  for (const int type : {IBV_EVENT_DEVICE_FATAL, IBV_EVENT_CQ_ERR, IBV_EVENT_SRQ_ERR}) {
    DeviceHealth health("mlx5_0", 2);
    TakeIn({.type = type}, health, 0);
    EXPECT_EQ(health.Fatal().code(), absl::StatusCode::kFailedPrecondition) << type;
    EXPECT_THAT(health.Fatal().message(), AllOf(HasSubstr("mlx5_0: the device reports: "),
                                                HasSubstr(ibv_event_type_str(static_cast<ibv_event_type>(type)))));
    EXPECT_FALSE(health.has_queue_pair_errors());
  }
}

TEST_F(DeviceEventTest, ErrorsOfAQueuePairAreNotedByItsNumber) {
  struct Case {
    int type;
    absl::StatusCode code;
  };
  for (const auto& [type, code] : {Case{IBV_EVENT_QP_FATAL, absl::StatusCode::kInternal},
                                   Case{IBV_EVENT_QP_REQ_ERR, absl::StatusCode::kUnavailable},
                                   Case{IBV_EVENT_QP_ACCESS_ERR, absl::StatusCode::kUnavailable}}) {
    EXPECT_EQ(FailureAfter({.type = type, .number = 17}), absl::OkStatus()) << type;
    EXPECT_EQ(health_.TakeQueuePairError(18), std::nullopt) << type;
    const std::optional<absl::Status> error = health_.TakeQueuePairError(17);
    ASSERT_TRUE(error.has_value()) << type;
    EXPECT_EQ(error->code(), code) << *error;
  }
}

TEST_F(DeviceEventTest, APortThatGoesDownIsAFailureUntilItIsUp) {
  EXPECT_EQ(FailureAfter({.type = IBV_EVENT_PORT_ERR, .number = 1}), absl::OkStatus()) << "another port";
  EXPECT_THAT(FailureAfter({.type = IBV_EVENT_PORT_ERR, .number = 2}).message(), HasSubstr("port 2 went down"));
  EXPECT_FALSE(FailureAfter({.type = IBV_EVENT_PORT_ACTIVE, .number = 1}).ok());
  EXPECT_EQ(FailureAfter({.type = IBV_EVENT_PORT_ACTIVE, .number = 2}), absl::OkStatus());
}

TEST_F(DeviceEventTest, OtherEventsChangeNothing) {
  for (const int type : {IBV_EVENT_COMM_EST, IBV_EVENT_SQ_DRAINED, IBV_EVENT_PATH_MIG, IBV_EVENT_PATH_MIG_ERR,
                         IBV_EVENT_LID_CHANGE, IBV_EVENT_PKEY_CHANGE, IBV_EVENT_SM_CHANGE, IBV_EVENT_SRQ_LIMIT_REACHED,
                         IBV_EVENT_QP_LAST_WQE_REACHED, IBV_EVENT_CLIENT_REREGISTER, IBV_EVENT_GID_CHANGE}) {
    EXPECT_EQ(FailureAfter({.type = type, .number = 2}), absl::OkStatus()) << type;
    EXPECT_FALSE(health_.has_queue_pair_errors()) << type;
  }
}

TEST(PlainEvent, HasTheNumberOfThePortOrTheQueuePair) {
  ibv_async_event event{};
  event.event_type = IBV_EVENT_PORT_ERR;
  event.element.port_num = 3;
  EXPECT_EQ(PlainEvent(event).type, IBV_EVENT_PORT_ERR);
  EXPECT_EQ(PlainEvent(event).number, 3U);
  ibv_qp queue_pair{};
  queue_pair.qp_num = 77;
  event.event_type = IBV_EVENT_QP_ACCESS_ERR;
  event.element.qp = &queue_pair;
  EXPECT_EQ(PlainEvent(event).type, IBV_EVENT_QP_ACCESS_ERR);
  EXPECT_EQ(PlainEvent(event).number, 77U);
  event.event_type = IBV_EVENT_CQ_ERR;
  event.element.cq = nullptr;
  EXPECT_EQ(PlainEvent(event).type, IBV_EVENT_CQ_ERR);
  EXPECT_EQ(PlainEvent(event).number, 0U);
}

}  // namespace
}  // namespace glaive::rdma
