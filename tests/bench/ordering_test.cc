#include "bench/common/ordering.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rdma/verbs/relaxed_ordering.h"

namespace glaive::bench {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

rdma::VerbsDeviceInfo DeviceOf(bool is_iwarp) {
  rdma::VerbsDeviceInfo device;
  device.device = is_iwarp ? "siw0" : "rxe0";
  device.is_iwarp = is_iwarp;
  return device;
}

TEST(Ordering, AutoIsWhatARunWouldTakeOnThisHost) {
  EXPECT_EQ(RelaxesOrdering("auto", DeviceOf(false)), rdma::RelaxedOrderingPays());
  EXPECT_FALSE(RelaxesOrdering("auto", DeviceOf(true)));
}

TEST(Ordering, AChoiceIsTakenAndItsRiskTold) {
  for (const bool is_iwarp : {false, true}) {
    EXPECT_TRUE(RelaxesOrdering("on", DeviceOf(is_iwarp)));
    EXPECT_FALSE(RelaxesOrdering("off", DeviceOf(is_iwarp)));
    EXPECT_THAT(DescribeOrdering("off", DeviceOf(is_iwarp)), EndsWith(", strict ordering"));
  }
  EXPECT_THAT(DescribeOrdering("on", DeviceOf(false)), EndsWith(", relaxed ordering"));
  EXPECT_THAT(DescribeOrdering("on", DeviceOf(true)),
              HasSubstr(", relaxed ordering\n--relaxed-ordering=on lets siw0 place bytes out of order"));
}

}  // namespace
}  // namespace glaive::bench
