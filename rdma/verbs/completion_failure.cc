#include "rdma/verbs/completion_failure.h"

#include <cerrno>
#include <cstring>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include <infiniband/verbs.h>

#include "rdma/verbs/connection_settings.h"

namespace glaive::rdma {
namespace {

constexpr char kMayBeLost[] = "glaive/write-may-be-lost";  // a status's payload

absl::Status Lost(const std::string& text) {
  absl::Status failure = absl::UnavailableError(text);
  failure.SetPayload(kMayBeLost, absl::Cord());
  return failure;
}

}  // namespace

WriteStatus ToWriteStatus(int status) {
  switch (status) {
    case IBV_WC_SUCCESS:
      return WriteStatus::kDone;
    case IBV_WC_REM_ACCESS_ERR:
    case IBV_WC_REM_INV_REQ_ERR:
    case IBV_WC_REM_OP_ERR:
      return WriteStatus::kRefused;
    default:
      return WriteStatus::kPeerUnreachable;
  }
}

absl::Status CompletionFailure(int status, std::uint32_t vendor_error, NodeId peer) {
  const std::string error =
      absl::StrFormat("%s (vendor error 0x%x)", ibv_wc_status_str(static_cast<ibv_wc_status>(status)), vendor_error);
  const std::string write = absl::StrCat("transport verbs: a write to node ", Value(peer));
  switch (status) {
    case IBV_WC_SUCCESS:
      return absl::OkStatus();
    case IBV_WC_WR_FLUSH_ERR:
      return Lost(absl::StrCat(write, " was dropped by a queue pair that has failed: ", error));
    case IBV_WC_RETRY_EXC_ERR:
      return Lost(absl::StrCat(write, " was not acknowledged in ", kRetries + 1, " attempts: ", error,
                               "; that host or the network between is gone"));
    case IBV_WC_REM_ACCESS_ERR:
    case IBV_WC_REM_INV_REQ_ERR:
    case IBV_WC_REM_OP_ERR:
      return absl::UnavailableError(absl::StrCat(write, " was refused there: ", error));
    case IBV_WC_LOC_PROT_ERR:
    case IBV_WC_LOC_LEN_ERR:
    case IBV_WC_LOC_QP_OP_ERR:
    case IBV_WC_LOC_ACCESS_ERR:
    case IBV_WC_MW_BIND_ERR:
      return absl::InternalError(absl::StrCat(write, " failed on this host: ", error,
                                              "; its device may not read the memory that is sent, which is a defect of "
                                              "Glaive or of the driver: report it"));
    default:
      return absl::UnavailableError(absl::StrCat(write, " failed: ", error));
  }
}

bool MayBeLostOnTheWay(const absl::Status& failure) { return failure.GetPayload(kMayBeLost).has_value(); }

absl::Status RefusedWrite(int error, NodeId peer) {
  const std::string text = absl::StrCat("transport verbs: this host's device took no write to node ", Value(peer), ": ",
                                        strerror(error), " (ibv_post_send)");
  if (error == ENOTCONN) return absl::UnavailableError(absl::StrCat(text, "; the connection has ended"));
  return absl::InternalError(text);
}

}  // namespace glaive::rdma
