#include "rdma/transport/immediate.h"

#include <cstdint>

#include <gtest/gtest.h>

namespace glaive::rdma {
namespace {

TEST(Immediate, NamesWriterAndSlotInItsOwnBits) {
  EXPECT_EQ(Immediate::OfMessage(ExecutorId{0}, 0).Pack(), 0U);
  EXPECT_EQ(Immediate::OfMessage(ExecutorId{1}, 2).Pack(), 0x00001002U);
  EXPECT_EQ(Immediate::OfMessage(ExecutorId{0x7ffff}, 0xfff).Pack(), 0x7fffffffU);
  EXPECT_EQ(Immediate::OfCredit(ExecutorId{1}, 0x5003).Pack(), 0x80001003U);
}

TEST(Immediate, IsReadAsItWasWritten) {
  for (const std::uint32_t bits : {0U, 1U, 0xfffU, 0x1000U, 0x7fffffffU, 0x80000000U, 0xdeadbeefU, 0xffffffffU}) {
    EXPECT_EQ(Immediate::Unpack(bits).Pack(), bits) << bits;
  }
  EXPECT_EQ(Immediate::Unpack(0x80001003U), Immediate::OfCredit(ExecutorId{1}, 3));
}

TEST(Immediate, ContinuesACountThatIsCutTo12Bits) {
  for (const std::uint64_t last : {0ULL, 1ULL, 4094ULL, 4095ULL, 4096ULL, 123'456'789'012ULL}) {
    for (const std::uint64_t more : {1ULL, 2ULL, 8ULL, 4095ULL, 4096ULL}) {
      const Immediate credit = Immediate::OfCredit(ExecutorId{0}, last + more);
      EXPECT_EQ(Immediate::ConsumedAfter(last, credit.number), last + more) << last << " and " << more;
    }
  }
}

}  // namespace
}  // namespace glaive::rdma
