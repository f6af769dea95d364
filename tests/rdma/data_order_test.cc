// What is asked of devices about the order of their writes. No emulated device answers, so these are made up.

#include "rdma/verbs/data_order.h"

#include <filesystem>

#include <gtest/gtest.h>
#include <infiniband/verbs.h>

#include "tests/engine/temporary_folder.h"

namespace glaive::rdma {
namespace {

TEST(MayPlaceOutOfOrder, IsWhatADeviceOfMlx5DoesNotGuarantee) {
  ibv_qp queue_pair{};
  EXPECT_TRUE(MayPlaceOutOfOrder(&queue_pair, "mlx5_core", [](ibv_qp* /*queue_pair*/) { return false; }));
  EXPECT_FALSE(MayPlaceOutOfOrder(&queue_pair, "mlx5_core", [](ibv_qp* /*queue_pair*/) { return true; }));
}

TEST(MayPlaceOutOfOrder, IsNotSaidOfDriversThatDoNotAnswer) {
  ibv_qp queue_pair{};
  for (const char* const driver : {"", "irdma", "bnxt_en"}) {
    EXPECT_FALSE(MayPlaceOutOfOrder(&queue_pair, driver, [](ibv_qp* /*queue_pair*/) {
      ADD_FAILURE() << "it was asked";
      return false;
    }));
  }
}

TEST(DriverOf, IsTheNameOfTheKernelsDriver) {
  const engine::TemporaryFolder folder;
  const std::filesystem::path device = folder.path() / "sys/class/infiniband/mlx5_0/device";
  std::filesystem::create_directories(device);
  std::filesystem::create_symlink("../../../../bus/pci/drivers/mlx5_core", device / "driver");
  EXPECT_EQ(DriverOf("mlx5_0", folder.path().string()), "mlx5_core");
  EXPECT_EQ(DriverOf("rxe0", folder.path().string()), "");
}

}  // namespace
}  // namespace glaive::rdma
