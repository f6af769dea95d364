#include "engine/cluster/run_program.h"

#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

#include "engine/cluster/batch_task.h"
#include "engine/cluster/interrupt.h"
#include "engine/cluster/launcher.h"
#include "engine/cluster/node_session.h"
#include "engine/cluster/process_host.h"
#include "engine/cluster/progress_line.h"
#include "engine/cluster/run_secret.h"
#include "engine/cluster/standard_streams.h"
#include "engine/files/file_claims.h"
#include "engine/flags/engine_flags.h"
#include "engine/metrics/build_info.h"
#include "engine/metrics/machine.h"
#include "rdma/base/address.h"
#include "rdma/base/exhaustion.h"
#include "rdma/bootstrap/control_plane.h"
#include "rdma/bootstrap/frame_seal.h"
#include "rdma/bootstrap/hmac.h"

namespace glaive::engine {
namespace {

/// How long nodes wait for each other's orderly goodbye, and the launcher for its children.
constexpr absl::Duration kGrace = absl::Seconds(3);
/// How long the launcher waits for them when a node was lost: they have noticed as well.
constexpr absl::Duration kFailedGrace = absl::Milliseconds(200);
/// The same of a node that is interrupted.
constexpr absl::Duration kInterruptedGrace = absl::Milliseconds(500);
/// How long files may take to get their names, and how long to lose them, before a process ends at once.
constexpr absl::Duration kBusyPollInterval = absl::Milliseconds(1);
constexpr int kMostBusyPolls = 1000;
/// How long the last words of a process may take to be written.
constexpr int kLastWordsMillis = 100;
/// Those for which no memory is needed.
constexpr std::string_view kFixedLastWords = "the run has ended at once: this node was busy, and had no memory left\n";

ExitCode ExitCodeOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return ExitCode::kSuccess;
    case absl::StatusCode::kCancelled:
      return ExitCode::kInterrupted;
    case absl::StatusCode::kInvalidArgument:
      return ExitCode::kUsage;
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDeadlineExceeded:
      return ExitCode::kPeerLost;
    default:
      return ExitCode::kFailed;
  }
}

/// Everything between the flags and the exit code of one process.
class Process {
 public:
  Process(QueryProgram& program, const EngineOptions& options, const FlagSet& flags, const RunEnvironment& environment)
      : program_(&program),
        options_(&options),
        flags_(&flags),
        environment_(environment),
        launcher_(*environment.clock, options.cluster.peer_timeout) {}

  absl::Status Run(int argc, const char* const* argv) {
    absl::StatusOr<Interrupt> interrupt = Interrupt::Create();
    if (!interrupt.ok()) {
      return interrupt.status();
    }
    interrupt_.emplace(*std::move(interrupt));
    absl::StatusOr<std::unique_ptr<rdma::ControlPlane>> plane = Meet(argc, argv);
    if (!plane.ok()) {
      return Explain(plane.status());
    }
    NodeSession session(*program_, *options_, {.settings = flags_->AllSettings(), .files = flags_->NamedFiles()},
                        **plane, environment_, host_);
    session_.store(&session);
    // The plane goes first, also where an exception ends this: its thread reads the session.
    absl::Cleanup end = [&session, &plane] {
      session.EndExecutors();
      plane->reset();
    };
    absl::Status status = session.Run([this] { return CheckEnd(); });
    found_wrong_result_ = session.verification() == Verification::kFailed;
    if (session.results_are_final()) {
      TellOfLateLoss((*plane)->Leave(interrupt_->Poll() ? kInterruptedGrace : kGrace));
    }
    std::move(end).Invoke();
    return session.AddPublished(Explain(status));
  }

  /// What happens to a node after all have made their results final does no harm to them.
  void TellOfLateLoss(const absl::Status& loss) const {
    if (!loss.ok()) {
      Tell(absl::StrCat("the results are complete, but ", std::string(loss.message())));
    }
  }

  bool found_wrong_result() const { return found_wrong_result_; }

  /// --explain: builds the query and prints its plan. No file is written, and no other node is needed.
  absl::Status PrintPlan() {
    FileClaims no_files;
    const std::uint32_t executors = options_->cluster.executor_count();
    const auto query = program_->Build(*options_, executors, no_files, [] { return absl::OkStatus(); });
    if (!query.ok()) {
      return query.status();
    }
    std::cout << program_->name() << ": " << (*query)->Explain(options_->cluster.roles());
    return FlushStandardOutput(std::cout);
  }

  /// Sees the processes that this one has started to their end.
  absl::Status CollectNodes(const absl::Status& run) {
    return launcher_.Shutdown(absl::IsUnavailable(run) ? kFailedGrace : kGrace);
  }

  /// One line for people, as docs/operations.md gives its form: lines of several hosts can be sorted by time. On a
  /// terminal it takes the place of the progress line, which may be another process's.
  std::string Line(const std::string& message) const {
    const absl::Time now = absl::FromUnixMillis(environment_.clock->WallMillis());
    return absl::StrCat(isatty(STDERR_FILENO) == 1 ? kClearLine : "",
                        absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", now, absl::UTCTimeZone()), " ", HostName(), " ",
                        program_->name(), ": rank ", options_->cluster.rank.value_or(0), ": ", message, "\n");
  }
  void Tell(const std::string& message) const { std::cerr << Line(message); }

 private:
  absl::Status CheckEnd() {
    if (interrupt_->Poll()) {
      return absl::CancelledError(interrupt_->Describe());
    }
    return launcher_.PollExited();
  }

  /// Says what interrupted the run. A launcher's child is interrupted by the launcher's end, which is no wish of the
  /// user.
  absl::Status Explain(const absl::Status& status) {
    if (!absl::IsCancelled(status) || !interrupt_.has_value() || !interrupt_->Poll()) {
      return status;
    }
    if (interrupt_->ParentGone()) {
      return absl::UnavailableError(
          absl::StrCat("process ", interrupt_->parent(), ", which started this node, was lost"));
    }
    return rdma::IsInterrupted(status) ? absl::CancelledError(interrupt_->Describe()) : status;
  }

  /// Called by another thread when this process knows that the run has failed, or was interrupted, and does not come to
  /// its end. Returns only if it goes on: true if no such call has to come again.
  bool EndAtOnce(const absl::Status& failure) {
    using Results = NodeSession::Results;
    NodeSession* const session = session_.load();
    Results results = session == nullptr ? Results::kDropped : session->GiveUp(/*while_naming=*/false);
    for (int i = 0; i < kMostBusyPolls && results == Results::kNaming; ++i) {
      host_.Sleep(kBusyPollInterval);
      results = session->GiveUp(/*while_naming=*/i == kMostBusyPolls - 1);
    }
    if (results == Results::kCommitting) {
      return false;  // main learns from the control plane what has become of the results
    }
    if (results == Results::kFinal && !rdma::IsInterrupted(failure)) {
      return true;  // main may take its time for the table and the report
    }
    launcher_.KillAll();
    ExitCode exit_code = ExitCodeOf(failure);
    std::string words;
    const absl::Status said = CatchExhaustion([&] {
      const absl::Status explained = Explain(failure);
      exit_code = ExitCodeOf(explained);
      const absl::Status busy(explained.code(),
                              absl::StrCat(results == Results::kFinal ? "the results are complete, but " : "",
                                           std::string(explained.message()), " (ended at once: it was busy)"));
      words = Line(std::string(session == nullptr ? busy.message() : session->AddPublished(busy).message()));
      return absl::OkStatus();
    });
    WriteLastWords(said.ok() ? std::string_view(words) : kFixedLastWords);
    if (results == Results::kGivenUp) {
      RetractForASecond(*session);
    }
    const bool is_wrong = session != nullptr && session->verification() == Verification::kFailed;
    _exit(static_cast<int>(is_wrong ? ExitCode::kWrongResult : exit_code));
  }

  static void WriteLastWords(std::string_view words) {
    pollfd ready{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};  // it may be what the process waits for
    if (poll(&ready, 1, kLastWordsMillis) == 1) {
      (void)!write(STDERR_FILENO, words.data(), words.size());
    }
  }

  /// Removes the files of results that were given up, in another thread: it may hang if the disk does not answer. The
  /// process ends after a second at most.
  void RetractForASecond(NodeSession& session) {
    const auto retract = [this, &session] {
      session.Retract();
      session.Retract();  // main may have named one more file meanwhile
      has_retracted_ = true;
    };
    const absl::Status started = CatchExhaustion([&retract] {
      std::thread(retract).detach();
      return absl::OkStatus();
    });
    if (!started.ok()) {
      retract();
    }
    for (int i = 0; i < kMostBusyPolls && !has_retracted_; ++i) {
      host_.Sleep(kBusyPollInterval);
    }
  }

  absl::StatusOr<rdma::Hello> MakeHello() const {
    absl::StatusOr<std::string> host = rdma::ThisHostId();
    if (!host.ok()) {
      return host.status();
    }
    rdma::Hello hello;
    hello.program = program_->name();
    hello.commit = std::string(Commit());
    hello.rank = NodeId{options_->cluster.rank.value_or(0)};
    hello.nodes = options_->cluster.nodes;
    hello.executors_per_node = options_->cluster.executors;
    hello.host_id = *std::move(host);
    hello.pid = getpid();
    hello.settings = flags_->Settings();
    return hello;
  }

  /// Brings the nodes together: starts the others, if this process is to, and waits for everybody.
  absl::StatusOr<std::unique_ptr<rdma::ControlPlane>> Meet(int argc, const char* const* argv) {
    const absl::StatusOr<rdma::Hello> hello = MakeHello();
    if (!hello.ok()) {
      return hello.status();
    }
    const ClusterOptions& cluster = options_->cluster;
    const absl::StatusOr<rdma::Secret> secret = ChooseSecret(cluster, environment_.random);
    if (!secret.ok()) {
      return secret.status();
    }
    const rdma::BootstrapOptions bootstrap{
        .secret = *secret,
        .random = environment_.random,
        .join_timeout = cluster.join_timeout,
        .peer_timeout = cluster.peer_timeout,
        .interrupt_fd = interrupt_->fd(),
        .watch = [this] { return launcher_.PollExited(); },
        .log = [this](const std::string& text) { Tell(text); },
        .overdue = [this](const absl::Status& failure) { return EndAtOnce(failure); }};
    if (absl::Status status = rdma::CheckHmac(); !status.ok()) {
      return status;
    }
    if (cluster.nodes == 1) {
      return rdma::ControlPlane::Alone(*hello, environment_.run_token, bootstrap, *environment_.clock);
    }
    if (absl::Status status = rdma::CheckFrameSeal(); !status.ok()) {
      return status;
    }
    if (Value(hello->rank) != 0) {
      return rdma::ControlPlane::Join(cluster.coordinator, *hello, bootstrap, *environment_.clock);
    }
    absl::StatusOr<rdma::Listener> listener = Listen();
    if (!listener.ok()) {
      return listener.status();
    }
    if (!cluster.rank) {
      if (absl::Status status =
              launcher_.Start(argc, argv, cluster.nodes, listener->address(), {{kSecretVariable, secret->text()}});
          !status.ok()) {
        return status;
      }
    }
    return rdma::ControlPlane::Coordinate(*std::move(listener), *hello, environment_.run_token, bootstrap,
                                          *environment_.clock);
  }

  absl::StatusOr<rdma::Listener> Listen() {
    const ClusterOptions& cluster = options_->cluster;
    rdma::HostPort where{.host = "127.0.0.1", .port = 0};
    if (!cluster.coordinator.empty()) {
      const auto coordinator = rdma::ParseHostPort(cluster.coordinator);
      if (!coordinator.ok()) {
        return coordinator.status();
      }
      where = *coordinator;
    }
    if (!cluster.bind.empty()) {
      const auto bind = rdma::ParseHostMaybePort(cluster.bind);
      if (!bind.ok()) {
        return bind.status();
      }
      where = {.host = bind->host, .port = bind->port == 0 ? where.port : bind->port};
    }
    const absl::StatusOr<std::vector<rdma::SocketAddress>> addresses = rdma::ResolveAddress(where.host, where.port);
    if (!addresses.ok()) {
      return addresses.status();
    }
    if (!cluster.rank || !rdma::IsLoopbackHereAlone(where.host, *addresses)) {
      return rdma::Listener::Bind(where.host, where.port);
    }
    Tell(absl::StrCat("listens at all addresses of this host, since ", where.host, " is ",
                      rdma::FormatAddress(addresses->front()),
                      " here (see /etc/hosts), where no other host comes; --bind=ADDRESS chooses one"));
    return rdma::Listener::BindToAll(where.host, where.port);
  }

  QueryProgram* program_;
  const EngineOptions* options_;
  const FlagSet* flags_;
  RunEnvironment environment_;
  ProcessHost host_{[this](const std::string& text) { Tell(text); }};
  Launcher launcher_;
  std::optional<Interrupt> interrupt_;
  std::atomic<NodeSession*> session_{nullptr};
  std::atomic<bool> has_retracted_{false};  // the thread that ends the process
  bool found_wrong_result_ = false;
};

}  // namespace

int RunProgram(int argc, const char* const* argv, QueryProgram& program, const RunEnvironment& environment) {
  PrepareStandardStreams();
  FlagSet flags({.program = program.name(),
                 .summary = program.summary(),
                 .version = std::string(Version()),
                 .commit = std::string(Commit())});
  EngineOptions options;
  program.RegisterFlags(flags);
  RegisterEngineFlags(flags, options, {.has_check = program.check() != nullptr, .has_loop = program.has_loop()});
  flags.AddCheck([&options] { return CheckBatchTask(options.cluster, std::getenv); });
  if (const std::optional<int> exit_code = flags.Parse(argc, argv, std::cout, std::cerr)) {
    return ExitCodeAfterOutput(program.name(), *exit_code, static_cast<int>(ExitCode::kFailed));
  }
  // A launcher's child was started as /proc/self/exe, and ps and top would show it as "exe".
  (void)::prctl(PR_SET_NAME, std::filesystem::path(argv[0]).filename().c_str());
  Process process(program, options, flags, environment);
  absl::Status status =
      CatchExhaustion([&] { return options.output.explain ? process.PrintPlan() : process.Run(argc, argv); });
  const absl::Status others = process.CollectNodes(status);
  if (!status.ok()) {
    process.Tell(std::string(MessageOf(status)));
  } else {
    process.TellOfLateLoss(others);
  }
  return static_cast<int>(process.found_wrong_result() ? ExitCode::kWrongResult : ExitCodeOf(status));
}

}  // namespace glaive::engine
