#include "engine/files/result_part.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstring>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace glaive::engine {
namespace {

constexpr std::string_view kOf = "-of-";

bool ToNumber(std::string_view digits, std::uint32_t& number) {
  return absl::SimpleAtoi(absl::string_view(digits.data(), digits.size()), &number);
}

}  // namespace

std::string PartPrefix(const std::string& output) { return absl::StrCat(output, ".part-"); }

std::string PartPath(const std::string& output, ExecutorId executor, std::uint32_t executor_count) {
  if (executor_count == 1) return output;
  return absl::StrFormat("%s%03u%s%03u", PartPrefix(output), Value(executor), kOf, executor_count);
}

std::uint32_t ExecutorCountOf(std::string_view part, const std::string& output) {
  const std::string prefix = PartPrefix(output);
  if (!part.starts_with(prefix)) {
    return 0;
  }
  part.remove_prefix(prefix.size());
  const std::size_t of = part.find(kOf);
  std::uint32_t executor = 0;
  std::uint32_t count = 0;
  return of != std::string_view::npos && ToNumber(part.substr(0, of), executor) &&
                 ToNumber(part.substr(of + kOf.size()), count)
             ? count
             : 0;
}

std::string PathOf(const ResultPart& part, std::uint32_t executor_count) {
  const std::string name = part.inside.empty() ? part.output : absl::StrCat(part.output, "/", part.inside);
  return PartPath(name, ExecutorId{part.executor}, executor_count);
}

bool LeadsInside(std::string_view path) {
  while (true) {
    const std::string_view name = path.substr(0, path.find('/'));
    if (name.empty() || name == "." || name == ".." || name.find('\0') != std::string_view::npos) {
      return false;
    }
    if (name.size() == path.size()) {
      return true;
    }
    path.remove_prefix(name.size() + 1);
  }
}

bool IsPart(const ResultPart& part, const struct stat& file) {
  return S_ISREG(file.st_mode) && file.st_ino == part.inode && static_cast<std::uint64_t>(file.st_size) == part.bytes;
}

void RemovePart(const ResultPart& part, const std::string& path) {
  struct stat there{};
  if (lstat(path.c_str(), &there) == 0 && IsPart(part, there)) {
    unlink(path.c_str());
  }
  std::array<char, PATH_MAX> folder{};
  if (path.size() < folder.size()) {
    std::ranges::copy(path, folder.begin());
    for (auto left = std::ranges::count(part.inside, '/'); left > 0; --left) {
      *std::strrchr(folder.data(), '/') = '\0';
      rmdir(folder.data());  // fails if files are in it
    }
  }
}

}  // namespace glaive::engine
