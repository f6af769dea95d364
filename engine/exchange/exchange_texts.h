// The texts of records that come in messages of an exchange.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "rdma/base/ids.h"
#include "state/record/record.h"
#include "state/record/text_wire.h"

namespace glaive::engine {

/// Makes the texts of a message's records refer to `bytes`, which the message carries. DataLoss if a peer has sent
/// others. Does nothing for records without texts.
template <typename Item>
absl::Status UnpackTexts(ExecutorId receiver, ExecutorId sender, std::span<Item> records,
                         std::span<const std::byte> bytes) {
  if constexpr (kHasText<Item>) {
    state::TextUnpacker texts(bytes);
    const bool are_right = std::ranges::all_of(records, [&](Item& record) { return texts.Unpack(record); });
    if (!are_right || !texts.empty()) {
      return absl::DataLossError(absl::StrCat("executor ", Value(receiver), " refuses records of executor ",
                                              Value(sender), ": their texts are not those that the message carries"));
    }
  }
  return absl::OkStatus();
}

}  // namespace glaive::engine
