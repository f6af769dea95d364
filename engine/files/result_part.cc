#include "engine/files/result_part.h"

#include <unistd.h>

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

bool IsPart(const ResultPart& part, const struct stat& file) {
  return S_ISREG(file.st_mode) && file.st_ino == part.inode && static_cast<std::uint64_t>(file.st_size) == part.bytes;
}

void RemovePart(const ResultPart& part, const std::string& path) {
  struct stat there{};
  if (lstat(path.c_str(), &there) == 0 && IsPart(part, there)) {
    unlink(path.c_str());
  }
}

}  // namespace glaive::engine
