#include "gtest/gtest.h"

#include "rdma/verbs/devices.h"

namespace glaive::rdma {
namespace {

TEST(ListRdmaPorts, NamesEveryPortOrNoneWhereTheHostHasNoDevice) {
  for (const RdmaPort& port : ListRdmaPorts()) {
    EXPECT_FALSE(port.device.empty());
    EXPECT_GE(port.port, 1U);
    EXPECT_FALSE(port.state.empty());
    EXPECT_FALSE(port.link_layer.empty());
  }
}

}  // namespace
}  // namespace glaive::rdma
