// A key with a text: how much each customer has spent on each product of orders.csv.
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

struct Purchase {
  std::uint64_t customer;
  glaive::Text product;
  friend bool operator==(const Purchase&, const Purchase&) = default;
};
GLAIVE_RECORD(Purchase, customer, product)

absl::StatusOr<std::unique_ptr<Query>> Spending(const Results& results) {
  const auto files = FindInputFiles("orders.csv");
  if (!files.ok()) {
    return files.status();
  }
  return From(CsvFile<Order>(*files))
      .KeyBy([](const Order& order) { return Purchase{order.customer, order.product}; })
      .Aggregate(Sum{&Order::amount})
      .To(results);
}

int main(int argc, char** argv) { return Main(argc, argv, Spending); }
