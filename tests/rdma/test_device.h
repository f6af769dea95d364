// The RDMA device that tests use: GLAIVE_TEST_DEVICE, or the first. Suites that need one have "OverVerbs" in their
// name; ctest gives them the label rdma-device, and `scripts/test` runs them where there is a device.
#pragma once

#include <cstdlib>
#include <memory>

#include "rdma/verbs/verbs_device.h"

namespace glaive::rdma {

inline std::shared_ptr<VerbsDevice> OpenTestDevice() {
  const char* const name = std::getenv("GLAIVE_TEST_DEVICE");
  return VerbsDevice::Open({.device = name == nullptr ? "" : name, .address = ""}).value();
}

}  // namespace glaive::rdma
