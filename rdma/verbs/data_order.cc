#include "rdma/verbs/data_order.h"

#include <filesystem>
#include <system_error>

#include <infiniband/verbs.h>

namespace glaive::rdma {

bool WritesAreInOrderByLibrary(ibv_qp* queue_pair) {
  return ibv_query_qp_data_in_order(queue_pair, IBV_WR_RDMA_WRITE, /*flags=*/0) != 0;
}

bool MayPlaceOutOfOrder(ibv_qp* queue_pair, std::string_view driver, WritesAreInOrder writes_are_in_order) {
  return driver == "mlx5_core" && !writes_are_in_order(queue_pair);
}

std::string DriverOf(const std::string& device, const std::string& root) {
  std::error_code error;
  const std::filesystem::path link =
      std::filesystem::read_symlink(root + "/sys/class/infiniband/" + device + "/device/driver", error);
  return error ? "" : link.filename().string();
}

}  // namespace glaive::rdma
