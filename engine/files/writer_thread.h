// WriterThread: a thread that writes the buffers of files, so that an executor's thread never waits for a disk. A file
// has one of its own, or shares it with others of its executor (file_writer.h).
//
// Buffers are written in the order in which they are handed over. A file hands over one at a time, so a thread has at
// most as many as it has files. Takes a lock twice a buffer.
//
//   auto thread = std::make_shared<WriterThread>();
//   thread->Start(work);      // work.Run() is called there
//   thread->WaitFor(work);    // until it has been
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace glaive::engine {

class WriterThread {
 public:
  /// What a file has to do.
  class Work {
   public:
    virtual ~Work() = default;
    virtual void Run() = 0;
  };

  WriterThread();
  WriterThread(const WriterThread&) = delete;
  WriterThread& operator=(const WriterThread&) = delete;
  /// Nothing may be left to do.
  ~WriterThread();

  /// Has `work` run once. It outlives that: WaitFor.
  void Start(Work& work);
  /// Returns once `work` neither waits nor runs.
  void WaitFor(const Work& work);

 private:
  void ThreadMain();

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::deque<Work*> waiting_;  // the first one runs
  bool stop_ = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace glaive::engine
