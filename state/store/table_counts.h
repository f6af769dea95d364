// TableCounts: how often tables of slices have grown, moved to cells, prefetched and so on. The thresholds are in
// log/state_thresholds.h.
//
//   TableCounts total;
//   total += table.counts();
#pragma once

#include <cstdint>

namespace glaive::state {

struct TableCounts {
  std::uint64_t index_growths = 0;       // times an index was enlarged
  std::uint64_t index_touches = 0;       // groups of updates that gave a growing index pages, before entries moved
  std::uint64_t cell_slices = 0;         // slices that opened with cells
  std::uint64_t cell_moves = 0;          // logs that were moved to cells
  std::uint64_t unfit_cells = 0;         // slices whose cells refused too many records, so that later ones have a log
  std::uint64_t cell_overflows = 0;      // entries of slices with cells that went to the log
  std::uint64_t replaced_forms = 0;      // times a cell's form went to the log, and the cell began anew
  std::uint64_t prefetched_entries = 0;  // updated in cells or logs that were prefetched for a run of entries
  std::uint64_t folded_ahead = 0;        // records folded into prefetched cells in the loop of the pipeline
  std::uint64_t split_slices = 0;        // of joins, whose tuples were split

  TableCounts& operator+=(const TableCounts& other) {
    index_growths += other.index_growths;
    index_touches += other.index_touches;
    cell_slices += other.cell_slices;
    cell_moves += other.cell_moves;
    unfit_cells += other.unfit_cells;
    cell_overflows += other.cell_overflows;
    replaced_forms += other.replaced_forms;
    prefetched_entries += other.prefetched_entries;
    folded_ahead += other.folded_ahead;
    split_slices += other.split_slices;
    return *this;
  }
};

}  // namespace glaive::state
