#include "rdma/verbs/rejection_failure.h"

#include <cerrno>

#include "absl/strings/str_cat.h"

namespace glaive::rdma {
namespace {

// Reasons of a REJ message.
constexpr int kInvalidService = 8;
constexpr int kStaleConnection = 10;
constexpr int kByConsumer = 28;

}  // namespace

absl::Status RejectionFailure(int status) {
  switch (status) {
    case kInvalidService:
    case -ECONNREFUSED:
      return absl::UnavailableError(
          absl::StrCat("the connection was refused (status ", status, "): no process listens there"));
    case kStaleConnection:
      return absl::UnavailableError(
          "the connection was refused: the device there still holds one of the same number, of a run that has just "
          "ended");
    case kByConsumer:
    case -ECONNRESET:
      return absl::UnavailableError(
          "the connection was refused by the process that listens there: it belongs to another run, or has no queue "
          "pair left; its own message says more");
    default:
      return absl::UnavailableError(
          absl::StrCat("the connection was refused (status ", status, "); the message of the process there says more"));
  }
}

}  // namespace glaive::rdma
