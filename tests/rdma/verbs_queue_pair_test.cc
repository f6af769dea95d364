// Writes that a device does not take, and writes that travel in the work request. The device is made up: the verbs call
// it through a table of functions.

#include "rdma/verbs/verbs_queue_pair.h"

#include <array>
#include <cerrno>
#include <vector>

#include "gtest/gtest.h"
#include <infiniband/verbs.h>

#include "rdma/transport/immediate.h"

namespace glaive::rdma {
namespace {

// Takes the first of the requests that it is handed, and refuses the second.
int TakeOneOnly(ibv_qp* /*queue_pair*/, ibv_send_wr* requests, ibv_send_wr** refused) {
  *refused = requests->next;
  return *refused == nullptr ? 0 : ENOMEM;
}

TEST(VerbsQueuePair, KeepsTheErrorOfAWriteThatTheDeviceDoesNotTake) {
  ibv_context device{};
  device.ops.post_send = TakeOneOnly;
  ibv_qp connected{};
  connected.context = &device;
  std::vector<VerbsQueuePair*> busy;
  VerbsQueuePair queue_pair(/*index=*/3, /*depth=*/8, /*inline_bytes=*/0, busy);
  queue_pair.Activate(&connected);
  std::array<std::byte, 64> bytes{};
  for (const std::uint64_t wr_id : {40U, 41U, 42U}) {
    ASSERT_TRUE(queue_pair.TryPostWrite(
        {.local = bytes.data(), .length = 64, .remote = {.address = 0, .size_bytes = 64}, .wr_id = wr_id}));
  }
  queue_pair.Flush();
  const std::optional<Completion> refusal = queue_pair.TakeRefusal();
  ASSERT_TRUE(refusal.has_value());
  EXPECT_EQ(refusal->wr_id, 41U);
  EXPECT_EQ(refusal->status, WriteStatus::kPeerUnreachable);
  EXPECT_EQ(queue_pair.refusal_error(), ENOMEM);
  EXPECT_FALSE(queue_pair.is_active());
}

// Takes all requests; those that travel in the work request have to be of up to 64 bytes.
int TakeInlineUpTo64(ibv_qp* /*queue_pair*/, ibv_send_wr* requests, ibv_send_wr** /*refused*/) {
  for (const ibv_send_wr* each = requests; each != nullptr; each = each->next) {
    const std::uint32_t length = each->num_sge == 0 ? 0 : each->sg_list->length;
    EXPECT_EQ((each->send_flags & IBV_SEND_INLINE) != 0, length > 0 && length <= 64) << length;
  }
  return 0;
}

TEST(VerbsQueuePair, SendsWritesOfUpToItsInlineBytesInTheWorkRequest) {
  ibv_context device{};
  device.ops.post_send = TakeInlineUpTo64;
  ibv_qp connected{};
  connected.context = &device;
  std::vector<VerbsQueuePair*> busy;
  VerbsQueuePair queue_pair(/*index=*/3, /*depth=*/8, /*inline_bytes=*/64, busy);
  queue_pair.Activate(&connected);
  std::array<std::byte, 128> bytes{};
  for (const std::uint32_t length : {0U, 1U, 64U, 65U, 128U}) {
    ASSERT_TRUE(queue_pair.TryPostWrite({.local = bytes.data(),
                                         .length = length,
                                         .remote = {.address = 0, .size_bytes = bytes.size()},
                                         .immediate = Immediate::OfMessage(ExecutorId{0}, 1).Pack()}));
  }
  queue_pair.Flush();
  EXPECT_EQ(queue_pair.TakeRefusal(), std::nullopt);
}

}  // namespace
}  // namespace glaive::rdma
