// MayPlaceOutOfOrder: whether a device says that it does not guarantee to place the data of a connection in order. A
// run whose receivers poll memory then prints a warning; their checksums decide either way.
//
// Adaptive routing and the settings of a device decide (docs/fabrics.md). Of the drivers in rdma-core only mlx5
// answers; for all others libibverbs says "not guaranteed", which tells nothing. So only mlx5 is asked.
//
//   if (MayPlaceOutOfOrder(queue_pair, "mlx5_core")) ...  // polled messages may show their last byte first
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

struct ibv_qp;

namespace glaive::rdma {

/// Whether the device guarantees the order of RDMA WRITEs of a queue pair: ibv_query_qp_data_in_order, or what a test
/// has in its place.
using WritesAreInOrder = bool (*)(ibv_qp* queue_pair);
bool WritesAreInOrderByLibrary(ibv_qp* queue_pair);

/// `queue_pair` of a device of this kernel driver, once it is connected. False where nobody can tell.
bool MayPlaceOutOfOrder(ibv_qp* queue_pair, std::string_view driver,
                        WritesAreInOrder writes_are_in_order = WritesAreInOrderByLibrary);

/// The name of the kernel driver of a device ("mlx5_core"), by /sys below `root`; empty: unknown, or it has none, as
/// emulated devices have.
std::string DriverOf(const std::string& device, const std::string& root = "");

}  // namespace glaive::rdma
