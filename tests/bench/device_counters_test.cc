#include "bench/common/device_counters.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/engine/temporary_folder.h"

namespace glaive::bench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

// A folder as the kernel makes it below /sys/class/infiniband.
class DeviceCountersTest : public testing::Test {
 protected:
  void Write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root() / path).parent_path());
    std::ofstream(root() / path) << text;
  }

  const std::filesystem::path& root() const { return folder_.path(); }

 private:
  engine::TemporaryFolder folder_;
};

TEST_F(DeviceCountersTest, ReadsBothFoldersOfThePortAndLeavesOutTraffic) {
  Write("mlx5_0/ports/1/hw_counters/out_of_sequence", "12\n");
  Write("mlx5_0/ports/1/hw_counters/rx_write_requests", "7000\n");
  Write("mlx5_0/ports/1/hw_counters/np_cnp_sent", "0\n");
  Write("mlx5_0/ports/1/counters/port_rcv_errors", "3\n");
  Write("mlx5_0/ports/1/counters/port_rcv_data", "18446744073709551615\n");
  Write("mlx5_0/ports/1/counters/VL15_dropped", "N/A (no PMA)\n");
  Write("mlx5_0/ports/2/counters/symbol_error", "5\n");
  EXPECT_THAT(ReadDeviceCounters("mlx5_0", 1, root()),
              ElementsAre(Pair("np_cnp_sent", 0), Pair("out_of_sequence", 12), Pair("port_rcv_errors", 3)));
}

TEST_F(DeviceCountersTest, ADeviceWithoutCountersHasNone) {
  EXPECT_THAT(ReadDeviceCounters("siw0", 1, root()), IsEmpty());
}

TEST(DeviceCounterChangesTest, AreThoseThatGrew) {
  const DeviceCounters before = {{"gone", 1}, {"grew", 10}, {"reset", 9}, {"stayed", 4}};
  const DeviceCounters after = {{"grew", 13}, {"new", 6}, {"reset", 2}, {"stayed", 4}};
  EXPECT_THAT(ChangesSince(before, after), ElementsAre(Pair("grew", 3)));
}

TEST(CollectCountersTest, SumsTheSendersAndCountsADeviceOnce) {
  const std::vector<EndCounters> ends = {{.device = "a/mlx5_0", .changes = {{"np_cnp_sent", 5}}},
                                         {.device = "b/mlx5_0", .changes = {{"packet_seq_err", 2}}},
                                         {.device = "b/mlx5_0", .changes = {{"packet_seq_err", 3}}},
                                         {.device = "c/mlx5_0", .changes = {{"packet_seq_err", 40}, {"rnr", 1}}},
                                         {.device = "a/mlx5_0", .changes = {{"np_cnp_sent", 4}}}};
  EXPECT_THAT(Collect(ends),
              ElementsAre(Pair("receiver:np_cnp_sent", 5), Pair("senders:packet_seq_err", 43), Pair("senders:rnr", 1)));
}

TEST(EndCountersTest, TravelAsText) {
  const EndCounters end = {.device = "host/rxe0", .changes = {{"out_of_seq_request", 7}, {"send_err", 0}}};
  const EndCounters read = EndCounters::Decode(end.Encode()).value();
  EXPECT_EQ(read.device, end.device);
  EXPECT_EQ(read.changes, end.changes);
  EXPECT_THAT(EndCounters::Decode(EndCounters{.device = "host/siw0", .changes = {}}.Encode()).value().changes,
              IsEmpty());
  for (const char* text : {"", "host/rxe0 x", "host/rxe0 x=", "host/rxe0 x=1=2", "host/rxe0 x=-1"}) {
    EXPECT_FALSE(EndCounters::Decode(text).ok()) << text;
  }
}

}  // namespace
}  // namespace glaive::bench
