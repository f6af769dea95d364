#include "rdma/verbs/device_health.h"

#include "absl/strings/str_cat.h"

namespace glaive::rdma {
namespace {

constexpr char kPortRemedy[] = "look at cable, switch and network interface (ip link)";

}  // namespace

void DeviceHealth::OnPortDown(std::uint32_t port, std::int64_t now_ns) {
  if (port == port_ && !down_since_ns_.has_value()) down_since_ns_ = now_ns;
}

void DeviceHealth::OnPortUp(std::uint32_t port) {
  if (port == port_) down_since_ns_.reset();
}

void DeviceHealth::OnFatal(const std::string& reason) {
  if (fatal_.empty()) fatal_ = reason;
}

void DeviceHealth::OnQueuePairError(std::uint32_t number, const absl::Status& error) {
  queue_pair_errors_.emplace(number, error);
}

absl::Status DeviceHealth::Failure(std::int64_t now_ns, bool writes_have_failed) const {
  if (absl::Status fatal = Fatal(); !fatal.ok()) return fatal;
  if (down_since_ns_.has_value() && (writes_have_failed || now_ns - *down_since_ns_ >= kPortPatienceNanos)) {
    return absl::FailedPreconditionError(
        absl::StrCat("transport verbs: ", device_, " port ", port_, " went down during the run; ", kPortRemedy));
  }
  return absl::OkStatus();
}

absl::Status DeviceHealth::Fatal() const {
  if (fatal_.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("transport verbs: ", device_, ": ", fatal_,
                   "; see dmesg, put the device back if it was removed (rdma link), and start again"));
}

absl::Status DeviceHealth::PortDown() const {
  if (!down_since_ns_.has_value()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(device_, " port ", port_, " is down; ", kPortRemedy));
}

std::optional<absl::Status> DeviceHealth::TakeQueuePairError(std::uint32_t number) {
  const auto found = queue_pair_errors_.find(number);
  if (found == queue_pair_errors_.end()) return std::nullopt;
  absl::Status error = std::move(found->second);
  queue_pair_errors_.erase(found);
  return error;
}

}  // namespace glaive::rdma
