#include "bench/common/meeting.h"

#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <iostream>
#include <optional>
#include <random>
#include <span>
#include <utility>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

#include "bench/common/fork.h"
#include "engine/cluster/run_secret.h"
#include "engine/flags/engine_options.h"
#include "engine/metrics/build_info.h"
#include "rdma/base/address.h"
#include "rdma/bootstrap/hello.h"
#include "rdma/bootstrap/hmac.h"
#include "rdma/bootstrap/listener.h"

namespace glaive::bench {
namespace {

using rdma::ControlPlane;

constexpr char kLoopback[] = "127.0.0.1";

void FillRandomly(std::span<std::uint8_t> out) {
  std::random_device entropy;  // the kernel's
  for (std::uint8_t& byte : out) byte = static_cast<std::uint8_t>(entropy());
}

std::uint64_t FreshToken() {
  std::random_device entropy;
  return std::uint64_t{entropy()} << 32 | entropy();
}

void Tell(const std::string& text) { std::cerr << absl::StrCat(program_invocation_short_name, ": ", text, "\n"); }

std::string CheckPlace(const std::string& text) {
  const auto place = rdma::ParseHostPort(text);
  if (!place.ok()) return std::string(place.status().message());
  return place->port == 0 ? "port 0 cannot be told to the other ends" : "";
}

absl::StatusOr<rdma::Hello> MakeHello(const std::string& program, const MeetingFlags& flags, std::uint32_t rank,
                                      std::map<std::string, std::string> settings) {
  absl::StatusOr<std::string> host = rdma::ThisHostId();
  if (!host.ok()) return host.status();
  settings["incast"] = absl::StrCat(flags.senders);
  rdma::Hello hello;
  hello.program = program;
  hello.commit = std::string(engine::Commit());
  hello.rank = NodeId{rank};
  hello.nodes = flags.senders + 1;
  hello.host_id = *std::move(host);
  hello.pid = getpid();
  hello.settings = std::move(settings);
  return hello;
}

absl::StatusOr<rdma::Listener> Listen(const MeetingFlags& flags) {
  if (flags.listen.empty()) return rdma::Listener::Bind(kLoopback, 0);
  const auto place = rdma::ParseHostPort(flags.listen);
  if (!place.ok()) return place.status();
  return rdma::Listener::Bind(place->host, place->port);
}

// The control plane speaks of the flags of queries.
absl::Status ExplainAbsence(const absl::Status& status, std::uint32_t rank, const std::string& receiver) {
  if (!absl::IsDeadlineExceeded(status)) return status;
  const std::string missing = rank == 0 ? absl::StrCat("no sender with --connect=", receiver, " for each of --incast")
                                        : absl::StrCat("no receiver with --listen=", receiver);
  return absl::DeadlineExceededError(absl::StrCat(missing, ": ", status.message()));
}

}  // namespace

void AddMeetingFlags(CLI::App& app, MeetingFlags& flags) {
  CLI::Option* const listen =
      app.add_option("--listen", flags.listen, "HOST:PORT: this end receives; the senders come there by --connect")
          ->check(CheckPlace);
  CLI::Option* const connect =
      app.add_option("--connect", flags.connect, "HOST:PORT of the receiver's --listen: this end sends")
          ->check(CheckPlace)
          ->excludes(listen);
  app.add_option("--incast", flags.senders, "senders to the one receiver, each a process")
      ->check(CLI::Range(std::uint32_t{1}, kMaxSenders));
  app.add_option("--sender", flags.sender, "which of them this one is, from 1; with --connect")
      ->check(CLI::Range(std::uint32_t{1}, kMaxSenders))
      ->needs(connect);
  app.add_option("--join-timeout", flags.join_timeout_seconds, "seconds to wait for the other ends")
      ->check(CLI::Range(0.1, 86400.0));
  app.add_option("--secret-file", flags.secret_file,
                 "holds a secret of all ends, with --listen and --connect; default: GLAIVE_SECRET");
  app.callback([&flags] {
    if (flags.sender > flags.senders) {
      throw CLI::ValidationError("--sender", absl::StrCat(flags.sender, " of --incast=", flags.senders));
    }
    if (std::isnan(flags.join_timeout_seconds)) throw CLI::ValidationError("--join-timeout", "not a number");
  });
}

absl::StatusOr<Meeting> Meet(const std::string& program, const MeetingFlags& flags,
                             std::map<std::string, std::string> settings, int exit_code) {
  if (absl::Status status = rdma::CheckHmac(); !status.ok()) return status;
  engine::ClusterOptions cluster;
  cluster.nodes = flags.senders + 1;
  cluster.secret_file = flags.by_hand() ? flags.secret_file : "";
  if (flags.by_hand()) cluster.rank = flags.connect.empty() ? 0 : flags.sender;
  const absl::StatusOr<rdma::Secret> secret = engine::ChooseSecret(cluster, FillRandomly);
  if (!secret.ok()) return secret.status();
  const rdma::BootstrapOptions options{.secret = *secret,
                                       .random = FillRandomly,
                                       .join_timeout = absl::Seconds(flags.join_timeout_seconds),
                                       .log = Tell,
                                       .overdue = [exit_code](const absl::Status& failure) -> bool {
                                         Tell(std::string(failure.message()));
                                         _exit(exit_code);
                                       }};
  std::uint32_t rank = cluster.rank.value_or(0);
  std::string receiver = flags.connect;
  std::optional<rdma::Listener> listener;
  if (flags.connect.empty()) {
    absl::StatusOr<rdma::Listener> bound = Listen(flags);
    if (!bound.ok()) return bound.status();
    receiver = bound->address();
    listener.emplace(*std::move(bound));
  }
  for (std::uint32_t sender = 1; !flags.by_hand() && rank == 0 && sender <= flags.senders; ++sender) {
    const absl::StatusOr<pid_t> pid = ForkWithParent();
    if (!pid.ok()) return pid.status();
    if (*pid == 0) rank = sender;
  }
  const absl::StatusOr<rdma::Hello> hello = MakeHello(program, flags, rank, std::move(settings));
  if (!hello.ok()) return hello.status();
  auto clock = std::make_unique<SteadyClock>();
  absl::StatusOr<std::unique_ptr<ControlPlane>> plane =
      rank != 0 ? ControlPlane::Join(receiver, *hello, options, *clock)
                : ControlPlane::Coordinate(*std::move(listener), *hello, FreshToken(), options, *clock);
  if (!plane.ok()) return ExplainAbsence(plane.status(), rank, receiver);
  return Meeting{.clock = std::move(clock), .plane = *std::move(plane)};
}

}  // namespace glaive::bench
