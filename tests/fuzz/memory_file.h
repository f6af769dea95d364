// MemoryFile: a file with given content that lies in memory and has a path, for readers of files; and gzip files that
// are cut into members.
//
// A reader of a gzip file gets the text of one member at a time. So members cut a text into pieces of any length.
//
//   const MemoryFile file(GzipMembers("a\nb\n", lengths));  // {1, 2}: a member for "a", for "\nb", for "\n"
//   absl::StatusOr<ListedFile> listed = ListFile(file.path());
#pragma once

#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "rdma/base/unique_fd.h"
#include "tests/fuzz/require.h"

namespace glaive {

class MemoryFile {
 public:
  explicit MemoryFile(std::string_view content) : fd_(::memfd_create("fuzz", MFD_CLOEXEC)) {
    Require(fd_.valid(), "the system makes a file in memory");
    while (!content.empty()) {
      const ssize_t count = ::write(fd_.get(), content.data(), content.size());
      Require(count > 0, "the system writes a file in memory");
      content.remove_prefix(static_cast<std::size_t>(count));
    }
    path_ = "/proc/self/fd/" + std::to_string(fd_.get());
  }

  const std::string& path() const { return path_; }

 private:
  UniqueFd fd_;
  std::string path_;
};

/// A gzip file and each of its members begin with it.
inline constexpr std::string_view kGzipMagic = "\x1f\x8b";

/// Appends a number of `bytes` bytes, the lowest first.
inline void AppendLittleEndian(std::string& out, std::uint64_t number, int bytes) {
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<char>(number >> (8 * i) & 0xff));
}

/// One member of a gzip file (RFC 1952) that stores the text as it is.
inline std::string GzipMember(std::string_view text) {
  constexpr std::size_t kMostOfABlock = 65535;
  std::string member("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
  std::string_view rest = text;
  do {
    const std::string_view block = rest.substr(0, kMostOfABlock);
    rest.remove_prefix(block.size());
    member.push_back(rest.empty() ? '\1' : '\0');
    AppendLittleEndian(member, block.size(), 2);
    AppendLittleEndian(member, ~block.size(), 2);
    member.append(block);
  } while (!rest.empty());
  const auto* const bytes = reinterpret_cast<const Bytef*>(text.data());
  AppendLittleEndian(member, ::crc32(0, bytes, static_cast<uInt>(text.size())), 4);
  AppendLittleEndian(member, text.size(), 4);
  return member;
}

/// The text as a gzip file. `lengths` are the lengths of its last members, from the end on; the first member has the
/// rest. A length of 0 makes a member without text, with some zeros behind it.
inline std::string GzipMembers(std::string_view text, std::span<const std::uint8_t> lengths) {
  std::string tail;
  for (const std::uint8_t length : lengths) {
    const std::size_t taken = std::min<std::size_t>(length, text.size());
    tail.insert(0, GzipMember(text.substr(text.size() - taken)) + std::string(taken == 0 ? 3 : 0, '\0'));
    text.remove_suffix(taken);
  }
  return GzipMember(text) + tail;
}

}  // namespace glaive
