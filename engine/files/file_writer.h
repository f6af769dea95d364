// FileWriter: writes a WholeFile on another thread, its own or one that several files share (writer_thread.h), so that
// an executor's thread never waits for a disk.
//
// Used by one thread at a time, which hands over one buffer at a time and asks now and then whether it has been
// written: so at most one buffer is on its way. Idle costs one load.
//
//   FileWriter writer(*std::move(file));
//   if (writer.Idle()) writer.Start(buffer, {});   ... buffer is empty, and can be filled meanwhile
//   ... when Idle again: writer.status() says how it went
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"

#include "engine/files/completeness.h"
#include "engine/files/file_claims.h"
#include "engine/files/whole_file.h"
#include "engine/files/writer_thread.h"

namespace glaive::engine {

class FileWriter final : private WriterThread::Work {
 public:
  /// The steps that follow the writing of a buffer.
  struct Behind {
    std::optional<Completeness> publish = std::nullopt;  ///< the file is published so far
    bool is_last = false;                                ///< it is synced
  };

  /// `claims`, if not null, is told what is published, and outlives the writer. `thread` writes the file; null: one
  /// that is started for it.
  explicit FileWriter(WholeFile file, FileClaims* claims = nullptr, std::shared_ptr<WriterThread> thread = nullptr);
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;
  /// Waits for the buffer that is being written; of a pipe whose reader stalls, the rest is dropped. Without a Commit
  /// before, the file is gone, or has what is published.
  ~FileWriter() override;

  /// Whether nothing is being written. The calls below need it.
  bool Idle() const { return idle_.load(std::memory_order_acquire); }
  /// Starts to write `bytes`, which is empty afterwards and keeps a capacity.
  void Start(std::string& bytes, const Behind& behind);
  /// Says that no buffer follows. A thread without other files ends, so that none stays for the rest of the process.
  void ReleaseThread();
  /// The first error so far.
  const absl::Status& status() const { return status_; }
  const WholeFile& file() const { return file_; }
  /// Gives the file its name, unless it has it. It is complete then.
  absl::Status Commit();

 private:
  void Run() override;
  absl::Status WriteBytes();
  absl::Status Publish(const Completeness& complete);
  /// Cancelled once the destructor waits for the thread.
  absl::Status CheckGoesOn() const;

  WholeFile file_;
  FileClaims* claims_;
  std::atomic<bool> idle_{true};  // stored with release when all up to status_ is the caller's again
  std::string bytes_;
  Behind behind_;
  absl::Status status_;
  std::atomic<bool> stop_{false};  // relaxed: it carries no data
  std::shared_ptr<WriterThread> thread_;
};

}  // namespace glaive::engine
