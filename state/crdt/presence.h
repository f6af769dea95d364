// PresenceValue: an empty value, for entries whose being there says that there was a record.
#pragma once

#include "state/crdt/crdt.h"

namespace glaive::state {

struct PresenceValue {
  using Input = Nothing;

  void Update(Nothing) {}
  void Merge(const PresenceValue&) {}
  bool Result() const { return true; }

  friend bool operator==(const PresenceValue&, const PresenceValue&) = default;
};

static_assert(CrdtValue<PresenceValue>);

}  // namespace glaive::state
