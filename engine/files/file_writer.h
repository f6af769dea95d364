// FileWriter: writes a WholeFile on a thread of its own, so that an executor's thread never waits for a disk.
//
// Used by one thread at a time, which hands over one buffer at a time and asks now and then whether it has been
// written: so at most one buffer is on its way. The thread takes a lock twice a buffer; Idle costs one load.
//
//   FileWriter writer(*std::move(file));
//   if (writer.Idle()) writer.Start(buffer, /*is_last=*/false);   ... buffer is empty, and can be filled meanwhile
//   ... when Idle again: writer.status() says how it went
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "absl/status/status.h"

#include "engine/files/whole_file.h"

namespace glaive::engine {

class FileWriter {
 public:
  /// Starts the thread.
  explicit FileWriter(WholeFile file);
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;
  /// Waits for the buffer that is being written. Without a Commit before, the file is gone.
  ~FileWriter();

  /// Whether nothing is being written. The calls below need it.
  bool Idle() const { return idle_.load(std::memory_order_acquire); }
  /// Starts to write `bytes`, which is empty afterwards and keeps a capacity. Behind the last ones the file is synced
  /// and the thread ends.
  void Start(std::string& bytes, bool is_last);
  /// The first error so far.
  const absl::Status& status() const { return status_; }
  const WholeFile& file() const { return file_; }
  /// Gives the file its name.
  absl::Status Commit() { return file_.Commit(); }

 private:
  void ThreadMain();

  WholeFile file_;
  std::atomic<bool> idle_{true};  // stored with release when file_, bytes_ and status_ are the caller's again
  std::string bytes_;
  bool is_last_ = false;
  absl::Status status_;

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  bool has_work_ = false;
  bool stop_ = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace glaive::engine
