// A sink of one's own: it adds rows up, and prints the sum once all executors of the run have succeeded.
#include <cstdint>
#include <iostream>
#include <memory>
#include <span>

#include <absl/status/status.h>

#include <glaive/engine/api/generated.h>
#include <glaive/engine/cluster/main.h>

using namespace glaive::engine;

/// Each executor has one.
class SumSink final : public Sink<std::uint64_t> {
 public:
  absl::Status Write(std::span<const std::uint64_t> rows) override {
    for (const std::uint64_t row : rows) {
      sum_ += row;
    }
    return absl::OkStatus();
  }
  absl::Status Commit() override {
    std::cout << "the sum is " << sum_ << "\n";
    return absl::OkStatus();
  }

 private:
  std::uint64_t sum_ = 0;
};

struct PrintSum {
  template <typename Row>
  SinkFactory<Row> Factory() const {
    return [](const SinkContext&) { return std::make_unique<SumSink>(); };
  }
};

std::unique_ptr<Query> AddUp(const Results&) { return FromRange(1, 101).To(PrintSum{}); }
int main(int argc, char** argv) { return Main(argc, argv, AddUp); }
