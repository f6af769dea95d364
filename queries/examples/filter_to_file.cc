// Reads orders.csv, and writes the large orders to a file: --output=large.csv.
#include <cstdint>
#include <memory>

#include <absl/status/statusor.h>

#include <glaive/engine/api/stream.h>
#include <glaive/engine/cluster/main.h>
#include <glaive/engine/source/csv_file.h>

using namespace glaive::engine;

struct Order {
  std::int64_t time_ms;
  std::uint64_t customer;
  glaive::Text product;
  std::uint32_t amount;
};
GLAIVE_RECORD(Order, time_ms, customer, product, amount)

absl::StatusOr<std::unique_ptr<Query>> LargeOrders(const Results& results) {
  const auto files = FindInputFiles("orders.csv");
  if (!files.ok()) {
    return files.status();
  }
  return From(CsvFile<Order>(*files)).Filter([](const Order& order) { return order.amount >= 100; }).To(results);
}

int main(int argc, char** argv) { return Main(argc, argv, LargeOrders); }
