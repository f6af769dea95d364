// SellerGenerator: sellers whose ids are drawn uniformly from 1 .. the options' number of keys, so a seller may
// register again; see queries/common/generator.h. The options' distribution of keys is that of the other side of a
// join: it is not read.
#pragma once

#include <cstdint>

#include "queries/common/generator.h"
#include "queries/nexmark/seller.h"

namespace glaive::queries::nexmark {

class SellerGenerator final : public DrawnGenerator<Seller, 3> {
 public:
  /// `options` must be valid.
  explicit SellerGenerator(const InputOptions& options);

 private:
  Seller Make(std::int64_t event_time_ms, const Draws& draw) const override;
};

}  // namespace glaive::queries::nexmark
