// From one format to another: orders.csv as lines of JSON, orders.jsonl.
#include <cstdint>
#include <memory>

#include <absl/status/statusor.h>

#include <glaive/engine/api/stream.h>
#include <glaive/engine/cluster/main.h>
#include <glaive/engine/sink/json_lines.h>
#include <glaive/engine/source/csv_file.h>

using namespace glaive::engine;

struct Order {
  std::int64_t time_ms;
  std::uint64_t customer;
  glaive::Text product;
  std::uint32_t amount;
};
GLAIVE_RECORD(Order, time_ms, customer, product, amount)

absl::StatusOr<std::unique_ptr<Query>> Convert(const Results&) {
  const auto files = FindInputFiles("orders.csv");
  if (!files.ok()) {
    return files.status();
  }
  return From(CsvFile<Order>(*files)).To(JsonLines{"orders.jsonl"});
}

int main(int argc, char** argv) { return Main(argc, argv, Convert); }
