// FileShare: the part of a file that one executor reads: all of it, or some of its stretches.
//
//   | 0 | 1 | 2 | 0 | 1 | 2 | 0 |      three executors share a file, in stretches of up to 4 MiB
//
// The stretches are dealt out in turn, so executors that share a file are at about the same place of it. They are at
// about the same event time, too, where stretches cover little of it. A line belongs to the stretch in which it begins.
// A small file has one stretch for each share.
//
//   const FileShare share{.file = listed, .share = 1, .shares = 3};
//   const FileStretch stretch = NextStretch(share, /*from=*/0);  // the bytes [4 MiB, 8 MiB)
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/source/input_file.h"

namespace glaive::engine {

struct FileShare {
  ListedFile file;
  std::uint32_t share = 0;  // which one
  std::uint32_t shares = 1;
};

/// Bytes of a file.
struct FileStretch {
  std::uint64_t begin;
  std::uint64_t end;
};

inline constexpr std::uint64_t kMostStretchBytes = std::uint64_t{4} << 20;

/// The first stretch of the share that ends behind `from`. It may begin before `from`, or behind the file's end: then
/// there is none.
inline FileStretch NextStretch(const FileShare& share, std::uint64_t from) {
  const std::uint64_t even = share.file.bytes / share.shares + 1;
  const std::uint64_t bytes = std::min(kMostStretchBytes, even);
  const std::uint64_t at = from / bytes;
  const std::uint64_t next = at + (share.share + share.shares - at % share.shares) % share.shares;
  return {.begin = next * bytes, .end = (next + 1) * bytes};
}

/// All of some files.
inline std::vector<FileShare> WholeFiles(const std::vector<ListedFile>& files) {
  std::vector<FileShare> shares;
  shares.reserve(files.size());
  for (const ListedFile& file : files) {
    shares.push_back({.file = file});
  }
  return shares;
}

}  // namespace glaive::engine
