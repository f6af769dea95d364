#include "state/log/value_texts.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>

namespace glaive::state {
namespace {

constexpr std::size_t kLeastBlock = 512;
constexpr std::size_t kMostBlock = std::size_t{256} << 10;

// Size classes: 16, 24, 32 … 64, then 80, 96, 112, 128, 160 … A free place has an address in it.
constexpr std::size_t kLeastSize = 16;
constexpr std::size_t kStep = 8;
constexpr std::size_t kMostInSteps = 64;
constexpr std::size_t kClassesInSteps = (kMostInSteps - kLeastSize) / kStep + 1;
constexpr std::size_t kClassesOfDoubling = 4;
static_assert(Text::kMostInline < kLeastSize && sizeof(char*) <= kLeastSize);

/// The class of the smallest places that have room for so many bytes.
constexpr std::size_t ClassFor(std::size_t bytes) {
  if (bytes <= kMostInSteps) {
    return (std::max(bytes, kLeastSize) - kLeastSize + kStep - 1) / kStep;
  }
  const auto power = static_cast<std::size_t>(std::bit_width(bytes - 1)) - 1;  // 2^power < bytes
  const std::size_t part = (std::size_t{1} << power) / kClassesOfDoubling;
  const std::size_t parts = (bytes - (std::size_t{1} << power) + part - 1) / part;
  return kClassesInSteps + (power - std::countr_zero(kMostInSteps)) * kClassesOfDoubling + parts - 1;
}

constexpr std::size_t SizeOf(std::size_t size_class) {
  if (size_class < kClassesInSteps) {
    return kLeastSize + size_class * kStep;
  }
  const std::size_t behind = size_class - kClassesInSteps;
  const std::size_t power = std::countr_zero(kMostInSteps) + behind / kClassesOfDoubling;
  return (std::size_t{1} << power) / kClassesOfDoubling * (kClassesOfDoubling + behind % kClassesOfDoubling + 1);
}
static_assert(SizeOf(ClassFor(13)) == 16 && SizeOf(ClassFor(17)) == 24 && SizeOf(ClassFor(64)) == 64);
static_assert(SizeOf(ClassFor(65)) == 80 && SizeOf(ClassFor(128)) == 128 && SizeOf(ClassFor(129)) == 160);
static_assert(SizeOf(ClassFor(Text::kMostBytes)) == Text::kMostBytes + 1);

}  // namespace

void TextPlaces::Free(char* place, std::size_t size_class) {
  if (size_class >= free_.size()) {
    free_.resize(size_class + 1, nullptr);
  }
  std::memcpy(place, static_cast<const void*>(&free_[size_class]), sizeof(char*));
  free_[size_class] = place;
}

absl::StatusOr<char*> TextPlaces::Take(StateMemory& memory, std::size_t bytes) {
  const std::size_t size_class = ClassFor(bytes);
  if (size_class < free_.size() && free_[size_class] != nullptr) {
    char* const place = free_[size_class];
    std::memcpy(static_cast<void*>(&free_[size_class]), place, sizeof(char*));
    return place;
  }
  const std::size_t size = SizeOf(size_class);
  if (left_ < size) {
    if (absl::Status status = AddBlock(memory, size); !status.ok()) {
      return status;
    }
  }
  char* const place = next_;
  next_ += size;
  left_ -= size;
  return place;
}

absl::Status TextPlaces::AddBlock(StateMemory& memory, std::size_t bytes) {
  const std::size_t grown = std::clamp(2 * size_bytes_, kLeastBlock, kMostBlock);
  const absl::StatusOr<Block> block = memory.Acquire(std::max(grown, bytes), Contents::kAny);
  if (!block.ok()) {
    return block.status();
  }
  // What is left of the last block becomes free places.
  while (left_ >= kLeastSize) {
    const std::size_t above = ClassFor(left_);
    const std::size_t size_class = SizeOf(above) > left_ ? above - 1 : above;
    Free(next_, size_class);
    next_ += SizeOf(size_class);
    left_ -= SizeOf(size_class);
  }
  blocks_.push_back(*block);
  size_bytes_ += block->size_bytes;
  next_ = reinterpret_cast<char*>(block->data);
  left_ = block->size_bytes;
  return absl::OkStatus();
}

absl::Status TextPlaces::FindOrCopy(StateMemory& memory, Text& text) {
  const auto found = std::ranges::find_if(had_, [&](const Text& had) { return IsSame(had, text); });
  if (found != had_.end()) {
    Match(static_cast<std::size_t>(found - had_.begin()));
    return absl::OkStatus();
  }
  const std::string_view bytes = text.view();
  const absl::StatusOr<char*> place = Take(memory, bytes.size());
  if (!place.ok()) {
    text = Text();
    return place.status();
  }
  std::memcpy(*place, bytes.data(), bytes.size());
  text = Text(std::string_view(*place, bytes.size()));
  return absl::OkStatus();
}

void TextPlaces::DropUnmatched() {
  for (const Text& text : had_) {
    if (!text.empty()) {
      dropped_.push_back(text);
    }
  }
}

void TextPlaces::FreeDropped() {
  for (const Text& text : dropped_) {
    Free(const_cast<char*>(text.view().data()), ClassFor(text.size()));
  }
  dropped_.clear();
}

void TextPlaces::Release(StateMemory& memory) {
  for (const Block& block : blocks_) {
    memory.Release(block, Contents::kAny);
  }
  *this = TextPlaces();
}

}  // namespace glaive::state
