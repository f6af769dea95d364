// RelaxedOrderingPays: tells whether this host's processor needs PCIe relaxed ordering for the full speed of a device.
// AccessOfRings: the rights with which rings are registered, that one among them or not.
//
// With it a device's writes may pass each other on their way to memory. AMD EPYC and Intel Emerald Rapids take writes
// in strict order at a part of the speed: 150 of 200 Gb/s, 16 of more than 40 GB/s (openucx/ucx, pull requests 8062 and
// 10955). Messages do not depend on that order: see rdma/transport/arrival.h.
//
//   const unsigned access = AccessOfRings(options);
//   ibv_reg_mr(protection_domain, ring.data(), ring.size(), access);
#pragma once

#include <string_view>

#include "rdma/transport/transport_options.h"

namespace glaive::rdma {

/// By the vendor, family and model of the first processor in `cpu_info`, which has the form of /proc/cpuinfo.
bool RelaxedOrderingPaysOn(std::string_view cpu_info);

/// On this host; false where /proc/cpuinfo cannot be read.
bool RelaxedOrderingPays();

/// The access flags of libibverbs for the memory that a transport with these options exposes. Devices and kernels that
/// lack the right to relaxed ordering ignore it.
unsigned AccessOfRings(const TransportOptions& options);

}  // namespace glaive::rdma
