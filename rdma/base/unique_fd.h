// UniqueFd: a file descriptor with one owner, closed when the owner goes. Not thread-safe.
//
//   UniqueFd fd(open(path, O_RDWR | O_CLOEXEC));
//   if (!fd.valid()) return absl::ErrnoToStatus(errno, path);
#pragma once

#include <unistd.h>

#include <utility>

namespace glaive {

/// Move-only; a negative number owns nothing.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) {
      Reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  ~UniqueFd() { Reset(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }

  /// Closes it now.
  void Reset() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_ = -1;
};

}  // namespace glaive
