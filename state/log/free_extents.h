// FreeExtents: the free pieces of a StateMemory. Neighbours are merged, whatever blocks they were. A request takes the
// smallest piece that it fits, and leaves the rest of it.
//
// Pieces differ in their content (Holds). Neighbours of different content stay apart, so that zeroed memory stays
// zeroed, until only both together are large enough.
//
// Costs: a few steps in balanced trees for each operation; TakeAcross walks all pieces.
//
//   FreeExtents free;
//   free.Put(region, Holds::kFresh);
//   std::optional<Block> block = free.Take(4096, Holds::kFresh);
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace glaive::state {

/// A piece of memory on a 64-byte boundary.
struct Block {
  std::byte* data = nullptr;
  std::size_t size_bytes = 0;
};

/// What a free piece holds.
enum class Holds : std::uint8_t {
  kAnything,  // what its last user left, and nobody waits for zeros
  kDirt,      // what its last user left, to be zeroed
  kZeros,     // zeros, where there were other things before
  kFresh,     // zeros that the system gave
};

class FreeExtents {
 public:
  /// Adds a piece, and merges it with its neighbours of the same kind.
  void Put(Block block, Holds holds);

  /// A block of this size, from the smallest piece of a kind that is large enough.
  std::optional<Block> Take(std::size_t size_bytes, Holds holds);
  /// A block of this size out of neighbouring pieces of any kinds. It holds anything.
  std::optional<Block> TakeAcross(std::size_t size_bytes);
  /// Up to `max_bytes` of the largest piece of a kind.
  std::optional<Block> TakeSome(std::size_t max_bytes, Holds holds);
  /// Whether all of `block` is free; if it is, takes it.
  bool TakeWhole(const Block& block);

  /// Whether there is a piece of a kind.
  bool has(Holds holds) const { return !sizes_[static_cast<std::size_t>(holds)].empty(); }
  /// Of all pieces.
  std::uint64_t bytes() const { return bytes_; }

 private:
  struct Extent {
    std::size_t size_bytes;
    Holds holds;
  };
  using Extents = std::map<std::byte*, Extent>;

  static constexpr std::size_t kKinds = 4;

  auto& SizesOf(Holds holds) { return sizes_[static_cast<std::size_t>(holds)]; }
  void Add(std::byte* data, Extent extent);
  Extents::iterator Remove(Extents::iterator extent);
  /// Takes `block`, which lies in free pieces from `first` on, out of them.
  void Cut(Extents::iterator first, const Block& block);

  Extents extents_;
  std::array<std::set<std::pair<std::size_t, std::byte*>>, kKinds> sizes_;  // the same, by kind and size
  std::uint64_t bytes_ = 0;
};

}  // namespace glaive::state
