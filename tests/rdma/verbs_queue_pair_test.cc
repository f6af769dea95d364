// What becomes of writes that a device does not take. The device is made up: the verbs call it through a table of
// functions.

#include "rdma/verbs/verbs_queue_pair.h"

#include <array>
#include <cerrno>
#include <vector>

#include "gtest/gtest.h"
#include <infiniband/verbs.h>

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
  VerbsQueuePair queue_pair(/*index=*/3, /*depth=*/8, busy);
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

}  // namespace
}  // namespace glaive::rdma
