#include "rdma/verbs/address_failure.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace glaive::rdma {
namespace {

const char* FamilyName(const SocketAddress& address) {
  switch (address.storage.ss_family) {
    case AF_INET:
      return "IPv4";
    case AF_INET6:
      return "IPv6";
    default:
      return "of another family";
  }
}

}  // namespace

absl::Status CheckFamilies(const SocketAddress& here, const SocketAddress& there) {
  if (here.storage.ss_family == there.storage.ss_family) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("its address is ", FamilyName(there), ", and this node's is ",
                                                    FamilyName(here),
                                                    "; give all nodes addresses of one family with --bind"));
}

absl::Status ResolveFailure(int error, const std::string& remedy) {
  const std::string text =
      absl::StrCat("nobody is reached there (the address is not resolved: ", strerror(error), "); ", remedy);
  const bool is_permanent = error == EINVAL || error == EAFNOSUPPORT;
  return is_permanent ? absl::FailedPreconditionError(text) : absl::UnavailableError(text);
}

}  // namespace glaive::rdma
