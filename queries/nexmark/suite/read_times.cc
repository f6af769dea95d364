#include "queries/nexmark/suite/read_times.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace glaive::queries::nexmark::suite {
namespace {

class ReadTimesSink final : public engine::Sink<ReadBid> {
 public:
  /// `times` may be null: another executor retains them.
  explicit ReadTimesSink(std::shared_ptr<ReadTimes> times) : times_(std::move(times)) {}

  absl::Status Write(std::span<const ReadBid> bids) override {
    return times_ == nullptr ? absl::OkStatus() : times_->Add(bids);
  }

 private:
  std::shared_ptr<ReadTimes> times_;
};

}  // namespace

absl::Status ReadTimes::Add(std::span<const ReadBid> bids) {
  if (bids.size() > most_bids_ - bids_.size()) {
    return absl::ResourceExhaustedError(absl::StrCat("--verify holds the times of up to ", most_bids_,
                                                     " bids, and there are more: verify a shorter stream"));
  }
  bids_.insert(bids_.end(), bids.begin(), bids.end());
  return absl::OkStatus();
}

engine::SinkFactory<ReadBid> RetainReadTimes::OpenSink(std::shared_ptr<ReadTimes> times) {
  return [times = std::move(times)](
             const engine::SinkContext& context) -> absl::StatusOr<std::unique_ptr<engine::Sink<ReadBid>>> {
    return std::make_unique<ReadTimesSink>(context.executor == times->retainer() ? times : nullptr);
  };
}

}  // namespace glaive::queries::nexmark::suite
