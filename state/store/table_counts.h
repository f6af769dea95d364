// TableCounts: how often the tables of slices have changed how they work. The thresholds are in log/state_thresholds.h.
//
//   TableCounts total;
//   total += table.counts();
#pragma once

#include <cstdint>

namespace glaive::state {

struct TableCounts {
  std::uint64_t index_growths = 0;       // times an index was enlarged
  std::uint64_t slot_slices = 0;         // slices that opened with slots
  std::uint64_t slot_moves = 0;          // logs that were moved to slots
  std::uint64_t unfit_slots = 0;         // slices whose slots refused too many records, so that later ones have a log
  std::uint64_t slot_overflows = 0;      // entries of slices with slots that went to the log
  std::uint64_t replaced_forms = 0;      // times a slot's form went to the log, and the slot began anew
  std::uint64_t prefetched_entries = 0;  // updated in slots or logs that were prefetched for a run of entries
  std::uint64_t folded_ahead = 0;        // records folded into prefetched slots in the loop of the pipeline
  std::uint64_t split_slices = 0;        // of joins, whose tuples were split

  TableCounts& operator+=(const TableCounts& other) {
    index_growths += other.index_growths;
    slot_slices += other.slot_slices;
    slot_moves += other.slot_moves;
    unfit_slots += other.unfit_slots;
    slot_overflows += other.slot_overflows;
    replaced_forms += other.replaced_forms;
    prefetched_entries += other.prefetched_entries;
    folded_ahead += other.folded_ahead;
    split_slices += other.split_slices;
    return *this;
  }
};

}  // namespace glaive::state
