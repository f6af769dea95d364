#include "engine/cluster/cpu_claims.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

#include "rdma/base/exhaustion.h"

namespace glaive::engine {
namespace {

// A descriptor that is not valid if another process has the processor.
absl::StatusOr<UniqueFd> Claim(int cpu) {
  const auto refused = [cpu](const char* call) {
    return absl::FailedPreconditionError(
        absl::StrCat("processor ", cpu, " cannot be claimed: ", call, ": ", ErrorText(errno)));
  };
  UniqueFd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return refused("socket");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = absl::StrCat("glaive-cpu-", cpu);
  name.copy(address.sun_path + 1, name.size());  // behind a zero, which makes the address abstract
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), length) == 0) return fd;
  if (errno != EADDRINUSE) return refused("bind");
  return UniqueFd();
}

}  // namespace

absl::StatusOr<std::vector<int>> CpuClaims::Take(const std::vector<int>& cpus, std::size_t count) {
  std::vector<int> taken;
  std::vector<UniqueFd> sockets;
  for (auto cpu = cpus.begin(); cpu != cpus.end() && taken.size() < count; ++cpu) {
    absl::StatusOr<UniqueFd> socket = Claim(*cpu);
    if (!socket.ok()) return socket.status();
    if (!socket->valid()) continue;
    sockets.push_back(*std::move(socket));
    taken.push_back(*cpu);
  }
  if (taken.size() < count) return absl::ResourceExhaustedError("other runs have claimed processors of this host");
  for (UniqueFd& socket : sockets) sockets_.push_back(std::move(socket));
  return taken;
}

}  // namespace glaive::engine
