#include "rdma/verbs/relaxed_ordering.h"

#include <string>

#include <gtest/gtest.h>
#include <infiniband/verbs.h>

namespace glaive::rdma {
namespace {

// As Linux writes it: a block for each processor, names padded by tabs.
std::string CpuInfo(const std::string& vendor, int family, int model) {
  std::string text;
  for (int processor = 0; processor < 2; ++processor) {
    text += "processor\t: " + std::to_string(processor) + "\nvendor_id\t: " + vendor +
            "\ncpu family\t: " + std::to_string(family) + "\nmodel\t\t: " + std::to_string(model) +
            "\nmodel name\t: Some Processor (R) : 207\n\n";
  }
  return text;
}

TEST(RelaxedOrdering, PaysOnAmdAndOnEmeraldRapids) {
  EXPECT_TRUE(RelaxedOrderingPaysOn(CpuInfo("AuthenticAMD", 25, 17)));
  EXPECT_TRUE(RelaxedOrderingPaysOn(CpuInfo("GenuineIntel", 6, 207)));
}

TEST(RelaxedOrdering, DoesNotPayElsewhere) {
  EXPECT_FALSE(RelaxedOrderingPaysOn(CpuInfo("GenuineIntel", 6, 143)));  // Sapphire Rapids
  EXPECT_FALSE(RelaxedOrderingPaysOn(CpuInfo("GenuineIntel", 19, 207)));
  EXPECT_FALSE(RelaxedOrderingPaysOn("CPU implementer\t: 0x41\n"));
  EXPECT_FALSE(RelaxedOrderingPaysOn(""));
}

TEST(RelaxedOrdering, IsARightOfRingsIfItIsAskedFor) {
  constexpr unsigned kWritten = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
  EXPECT_EQ(AccessOfRings({.relaxed_ordering = true}), kWritten | IBV_ACCESS_RELAXED_ORDERING);
  EXPECT_EQ(AccessOfRings({}), kWritten);
}

}  // namespace
}  // namespace glaive::rdma
