#include "bench/channel/fabric_case.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

#include "bench/common/await_all_ends.h"
#include "bench/common/or_die.h"
#include "rdma/base/watch.h"

namespace glaive::bench {
namespace {

using rdma::ControlPlane;
using rdma::VerbsDevice;

struct Announcement {
  Step step = Step::kLeave;
  std::uint64_t number = 0;
};

// The receiver's word is everyone's.
Announcement Announce(ControlPlane& plane, const Announcement& mine) {
  const std::vector<std::string> all =
      OrDie(plane.AllGather("step", absl::StrCat(static_cast<unsigned>(mine.step), " ", mine.number)));
  const std::vector<std::string> words = absl::StrSplit(all.front(), ' ');
  unsigned step = 0;
  Announcement announced;
  if (words.size() != 2 || !absl::SimpleAtoi(words[0], &step) || step > static_cast<unsigned>(Step::kLeave) ||
      !absl::SimpleAtoi(words[1], &announced.number)) {
    OrDie(absl::InvalidArgumentError(absl::StrCat("the receiver announces '", all.front(), "', which is no step")));
  }
  announced.step = static_cast<Step>(step);
  return announced;
}

}  // namespace

// One end of a case.
class FabricEnd {
 public:
  FabricEnd(ControlPlane& plane, const rdma::DeviceChoice& device, const ChannelCase& shape)
      : plane_(plane), shape_(shape), device_(OrDie(VerbsDevice::Open(device))) {
    meshes_ = PrepareMeshes(shape_, ExecutorId{Value(plane.rank())}, plane.run_key(), device_);
    ConnectMeshes(shape_, OrDie(plane.AllGather("descriptors", DescribeMeshes(meshes_))), meshes_);
    OrDie(AwaitAllEnds(plane, [this] { return PollMeshes(meshes_); }));
    counters_ = Read();
  }

  bool receives() const { return Value(plane_.rank()) == 0; }

  // The longest time of all ends.
  double Do(Step step, std::uint64_t number) {
    const double seconds = receives() ? Receive(step, number) : Send(step, number);
    plane_.WatchAlso([this] { return PollChannels(meshes_); });  // a count of credits may have to be repeated
    const std::vector<std::string> all = OrDie(plane_.AllGather("seconds", absl::StrCat(seconds)));
    plane_.WatchAlso(GoOn);
    double longest = 0;
    for (const std::string& text : all) {
      double each = 0;
      if (!absl::SimpleAtod(text, &each)) OrDie(absl::InvalidArgumentError("an end reports no time"));
      longest = std::max(longest, each);
    }
    return longest;
  }

  DeviceCounters CountersSince() {
    const DeviceCounters now = Read();
    const std::string host = plane_.members()[Value(plane_.rank())].host_id;
    const EndCounters mine{.device = absl::StrCat(host, "/", device_->info().device),
                           .changes = ChangesSince(counters_, now)};
    counters_ = now;
    std::vector<EndCounters> ends;
    for (const std::string& text : OrDie(plane_.AllGather("counters", mine.Encode()))) {
      ends.push_back(OrDie(EndCounters::Decode(text)));
    }
    return Collect(ends);
  }

 private:
  double Receive(Step step, std::uint64_t number) {
    ReceivingEnd end(shape_, meshes_);
    if (step == Step::kEcho) {
      end.Echo(number);
    } else {
      end.Receive(number * shape_.senders);
    }
    sum_ = sum_ + end.sum();
    return 0;
  }

  double Send(Step step, std::uint64_t number) {
    SendingEnd end(shape_, meshes_);
    if (step == Step::kSend) return end.Send(number);
    return ExecutorId{Value(plane_.rank())} == kFirstSender ? end.Echo(number) : 0;
  }

  DeviceCounters Read() const { return ReadDeviceCounters(device_->info().device, device_->info().port); }

  ControlPlane& plane_;
  ChannelCase shape_;
  std::shared_ptr<VerbsDevice> device_;
  Meshes meshes_;
  DeviceCounters counters_;
  volatile std::uint64_t sum_ = 0;  // keeps the reading alive
};

FabricCase::FabricCase(ControlPlane& plane, const rdma::DeviceChoice& device, std::span<const ChannelCase> cases,
                       std::size_t index)
    : plane_(plane) {
  Announce(plane_, {.step = Step::kBeginCase, .number = index});
  end_ = std::make_unique<FabricEnd>(plane_, device, cases[index]);
}

FabricCase::~FabricCase() { Announce(plane_, {.step = Step::kEndCase}); }

double FabricCase::Time(Step step, std::uint64_t messages) {
  Announce(plane_, {.step = step, .number = messages});
  return end_->Do(step, messages);
}

DeviceCounters FabricCase::CountersSince() {
  Announce(plane_, {.step = Step::kCount});
  return end_->CountersSince();
}

void FollowReceiver(ControlPlane& plane, const rdma::DeviceChoice& device, std::span<const ChannelCase> cases) {
  std::unique_ptr<FabricEnd> end;
  while (true) {
    const Announcement announced = Announce(plane, {});
    if (announced.step == Step::kLeave) return;
    if (announced.step == Step::kBeginCase && announced.number < cases.size()) {
      end = std::make_unique<FabricEnd>(plane, device, cases[announced.number]);
    } else if (end == nullptr) {
      OrDie(absl::InvalidArgumentError("the receiver announces a step of no case"));
    } else if (announced.step == Step::kEndCase) {
      end.reset();
    } else if (announced.step == Step::kCount) {
      end->CountersSince();
    } else {
      end->Do(announced.step, announced.number);
    }
  }
}

void LeaveSenders(ControlPlane& plane) { Announce(plane, {.step = Step::kLeave}); }

}  // namespace glaive::bench
