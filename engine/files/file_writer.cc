#include "engine/files/file_writer.h"

#include <utility>

#include "engine/base/cpu_pinning.h"
#include "rdma/base/check.h"

namespace glaive::engine {

FileWriter::FileWriter(WholeFile file, FileClaims* claims)
    : file_(std::move(file)), claims_(claims), thread_([this] { ThreadMain(); }) {}

FileWriter::~FileWriter() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void FileWriter::Start(std::string& bytes, const Behind& behind) {
  GLAIVE_CHECK(Idle(), "a buffer was handed over while another is being written");
  bytes_.swap(bytes);
  behind_ = behind;
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
    const bool is_last = behind_.is_last;
    status_.Update(WriteBytes());
    bytes_.clear();
    idle_.store(true, std::memory_order_release);  // from here on all but what the lock guards is the caller's
    if (is_last) {
      return;
    }
    lock.lock();
  }
}

absl::Status FileWriter::WriteBytes() {
  absl::Status status = file_.Write(bytes_, [this] { return CheckGoesOn(); });
  if (status.ok() && behind_.publish.has_value()) {
    status = Publish(*behind_.publish);
  }
  return status.ok() && behind_.is_last ? file_.Sync() : status;
}

absl::Status FileWriter::CheckGoesOn() {
  const std::lock_guard lock(mutex_);
  return stop_ ? absl::CancelledError("the run has ended while nobody reads from its pipe") : absl::OkStatus();
}

absl::Status FileWriter::Publish(const Completeness& complete) {
  if (file_.is_stream()) {
    return absl::OkStatus();  // its reader has all that was written
  }
  absl::Status status = file_.CheckName();  // else the progress file may be another run's
  if (status.ok()) {
    status = WriteProgress(file_.target(), file_.inode(), complete);  // first: a result without it is a whole one
  }
  if (status.ok()) {
    status = file_.Publish(complete.bytes);
  }
  if (status.ok() && claims_ != nullptr) {
    claims_->SetPublished(file_.target(), complete);
  }
  return status;
}

absl::Status FileWriter::Commit() {
  absl::Status status = file_.Commit();
  return status.ok() && !file_.is_stream() ? RemoveProgress(file_.target()) : status;  // also of a run that was killed
}

}  // namespace glaive::engine
