#include "engine/files/file_writer.h"

#include <utility>

#include "rdma/base/check.h"

namespace glaive::engine {

FileWriter::FileWriter(WholeFile file, FileClaims* claims, std::shared_ptr<WriterThread> thread)
    : file_(std::move(file)),
      claims_(claims),
      thread_(thread != nullptr ? std::move(thread) : std::make_shared<WriterThread>()) {}

FileWriter::~FileWriter() {
  stop_.store(true, std::memory_order_relaxed);
  ReleaseThread();
}

void FileWriter::ReleaseThread() {
  if (thread_ != nullptr) {
    thread_->WaitFor(*this);
    thread_.reset();
  }
}

void FileWriter::Start(std::string& bytes, const Behind& behind) {
  GLAIVE_CHECK(Idle(), "a buffer was handed over while another is being written");
  GLAIVE_CHECK(thread_ != nullptr, "a buffer was handed over after the thread was released");
  bytes_.swap(bytes);
  behind_ = behind;
  idle_.store(false, std::memory_order_relaxed);
  thread_->Start(*this);
}

void FileWriter::Run() {
  status_.Update(WriteBytes());
  bytes_.clear();
  idle_.store(true, std::memory_order_release);  // from here on all is the caller's again
}

absl::Status FileWriter::WriteBytes() {
  absl::Status status = file_.Write(bytes_, [this] { return CheckGoesOn(); });
  if (status.ok() && behind_.publish.has_value()) {
    status = Publish(*behind_.publish);
  }
  return status.ok() && behind_.is_last ? file_.Sync() : status;
}

absl::Status FileWriter::CheckGoesOn() const {
  return stop_.load(std::memory_order_relaxed)
             ? absl::CancelledError("the run has ended while nobody reads from its pipe")
             : absl::OkStatus();
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
