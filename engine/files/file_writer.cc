#include "engine/files/file_writer.h"

#include <utility>

#include "engine/base/cpu_pinning.h"
#include "rdma/base/check.h"

namespace glaive::engine {

FileWriter::FileWriter(WholeFile file) : file_(std::move(file)), thread_([this] { ThreadMain(); }) {}

FileWriter::~FileWriter() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void FileWriter::Start(std::string& bytes, bool is_last) {
  GLAIVE_CHECK(Idle(), "a buffer was handed over while another is being written");
  bytes_.swap(bytes);
  is_last_ = is_last;
  idle_.store(false, std::memory_order_relaxed);
  {
    const std::lock_guard lock(mutex_);
    has_work_ = true;
  }
  changed_.notify_one();
}

void FileWriter::ThreadMain() {
  UnpinThisThread();  // it would share the executor's processor, whose thread has started it
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return has_work_ || stop_; });
    if (!has_work_) {
      return;
    }
    has_work_ = false;
    lock.unlock();
    const bool is_last = is_last_;
    status_.Update(file_.Write(bytes_));
    if (is_last && status_.ok()) {
      status_ = file_.Sync();
    }
    bytes_.clear();
    idle_.store(true, std::memory_order_release);  // from here on all but what the lock guards is the caller's
    if (is_last) {
      return;
    }
    lock.lock();
  }
}

}  // namespace glaive::engine
