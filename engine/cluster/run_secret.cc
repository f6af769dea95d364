#include "engine/cluster/run_secret.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "rdma/base/exhaustion.h"
#include "rdma/base/unique_fd.h"

namespace glaive::engine {
namespace {

constexpr std::size_t kMaxSecretFileBytes = 4096;
constexpr mode_t kOthers = S_IRWXG | S_IRWXO;

absl::Status WrongFile(const std::string& path, std::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("--secret-file=", path, ": ", std::string(why)));
}

absl::StatusOr<std::string> ReadSecretFile(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat facts{};
  if (!fd.valid() || ::fstat(fd.get(), &facts) != 0) {
    return WrongFile(path, ErrorText(errno));
  }
  if (!S_ISREG(facts.st_mode)) {
    return WrongFile(path, "it is no regular file");
  }
  if ((facts.st_mode & kOthers) != 0) {
    return WrongFile(
        path, absl::StrCat("other users may read or change it; chmod 600 ", path, ", and better make a new one"));
  }
  std::array<char, kMaxSecretFileBytes + 1> bytes{};
  const ssize_t count = ::read(fd.get(), bytes.data(), bytes.size());
  if (count < 0) {
    return WrongFile(path, ErrorText(errno));
  }
  if (static_cast<std::size_t>(count) > kMaxSecretFileBytes) {
    return WrongFile(path, absl::StrCat("it has more than ", kMaxSecretFileBytes, " bytes"));
  }
  return std::string(bytes.data(), static_cast<std::size_t>(count));
}

}  // namespace

absl::StatusOr<rdma::Secret> ChooseSecret(const ClusterOptions& cluster, const RandomBytes& random) {
  if (cluster.nodes == 1) {
    return rdma::Secret::Make(random);  // tokens derive from it; there is nobody to prove anything to
  }
  if (!cluster.secret_file.empty()) {
    const absl::StatusOr<std::string> text = ReadSecretFile(cluster.secret_file);
    if (!text.ok()) {
      return text.status();
    }
    absl::StatusOr<rdma::Secret> secret = rdma::Secret::FromText(*text);
    return secret.ok() ? secret : WrongFile(cluster.secret_file, std::string(secret.status().message()));
  }
  if (const char* text = std::getenv(kSecretVariable); text != nullptr && *text != '\0') {
    absl::StatusOr<rdma::Secret> secret = rdma::Secret::FromText(text);
    return secret.ok() ? secret
                       : absl::InvalidArgumentError(absl::StrCat(kSecretVariable, ": ", secret.status().message()));
  }
  if (cluster.rank.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "nodes that are started by hand have to know one secret: (umask 077; openssl rand -hex 32 > run.secret), copy "
        "it to all hosts, and give every rank --secret-file=run.secret, or its text in the environment variable ",
        kSecretVariable));
  }
  return rdma::Secret::Make(random);
}

}  // namespace glaive::engine
