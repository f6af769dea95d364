#include "rdma/bootstrap/hello.h"

#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

#include "rdma/base/exhaustion.h"

namespace glaive::rdma {
namespace {

constexpr char kBootId[] = "/proc/sys/kernel/random/boot_id";

std::string RankName(const Hello& hello) { return absl::StrCat("rank ", Value(hello.rank)); }

absl::Status StartedDifferently(const Hello& mine, const Hello& theirs, absl::string_view flag,
                                absl::string_view my_value, absl::string_view their_value) {
  return absl::FailedPreconditionError(absl::StrCat(RankName(theirs), " was started with --", flag, "=", their_value,
                                                    " but ", RankName(mine), " with --", flag, "=", my_value,
                                                    "; start all ranks with the same flags"));
}

absl::Status BuiltDifferently(const Hello& mine, const Hello& theirs, absl::string_view what,
                              absl::string_view my_value, absl::string_view their_value) {
  return absl::FailedPreconditionError(absl::StrCat(RankName(theirs), " has ", what, " ", their_value, " but ",
                                                    RankName(mine), " has ", what, " ", my_value,
                                                    "; start all ranks from the same build"));
}

absl::Status OnlyOneKnows(const Hello& knows, const Hello& lacks, absl::string_view flag) {
  return absl::FailedPreconditionError(absl::StrCat(RankName(knows), " has a flag --", flag, " that ", RankName(lacks),
                                                    " does not have; start all ranks from the same build"));
}

absl::Status CheckSettings(const Hello& mine, const Hello& theirs) {
  for (const auto& [name, my_value] : mine.settings) {
    const auto found = theirs.settings.find(name);
    if (found == theirs.settings.end()) return OnlyOneKnows(mine, theirs, name);
    if (found->second != my_value) return StartedDifferently(mine, theirs, name, my_value, found->second);
  }
  for (const auto& [name, their_value] : theirs.settings) {
    if (!mine.settings.contains(name)) return OnlyOneKnows(theirs, mine, name);
  }
  return absl::OkStatus();
}

}  // namespace

Member MemberOf(const Hello& hello) { return {.rank = hello.rank, .host_id = hello.host_id, .pid = hello.pid}; }

std::string NodeName(const Member& member) {
  return absl::StrCat("node ", Value(member.rank), " (process ", member.pid, ")");
}

absl::Status CheckHello(const Hello& mine, const Hello& theirs) {
  if (theirs.protocol_version != mine.protocol_version) {
    return BuiltDifferently(mine, theirs, "bootstrap protocol", absl::StrCat(mine.protocol_version),
                            absl::StrCat(theirs.protocol_version));
  }
  if (theirs.program != mine.program) {
    return absl::FailedPreconditionError(absl::StrCat(RankName(theirs), " runs '", theirs.program, "' but ",
                                                      RankName(mine), " runs '", mine.program,
                                                      "'; start the same program everywhere"));
  }
  if (theirs.commit != mine.commit) return BuiltDifferently(mine, theirs, "commit", mine.commit, theirs.commit);
  if (theirs.nodes != mine.nodes) {
    return StartedDifferently(mine, theirs, "nodes", absl::StrCat(mine.nodes), absl::StrCat(theirs.nodes));
  }
  if (theirs.executors_per_node != mine.executors_per_node) {
    return StartedDifferently(mine, theirs, "executors", absl::StrCat(mine.executors_per_node),
                              absl::StrCat(theirs.executors_per_node));
  }
  if (Value(theirs.rank) >= mine.nodes) {
    return absl::FailedPreconditionError(absl::StrCat("--rank=", Value(theirs.rank), " is out of range: with --nodes=",
                                                      mine.nodes, " the ranks are 0 to ", mine.nodes - 1));
  }
  return CheckSettings(mine, theirs);
}

absl::StatusOr<std::string> ThisHostId() {
  std::string boot_id;
  std::ifstream file(kBootId);
  const int error = errno;  // of the opening
  file >> boot_id;
  char pid_namespace[64];
  const ssize_t length = ::readlink("/proc/self/ns/pid", pid_namespace, sizeof(pid_namespace));
  if (boot_id.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("cannot read this host's identity from ", kBootId, ": ",
                     ErrorText(file.is_open() ? EIO : error, "mount /proc if it is not there")));
  }
  // A kernel without pid namespaces has one for all.
  const std::string processes = length <= 0 ? "one" : std::string(pid_namespace, static_cast<std::size_t>(length));
  return absl::StrCat(boot_id, "/", processes);
}

}  // namespace glaive::rdma
