#include "engine/files/writer_thread.h"

#include <algorithm>

#include "engine/base/cpu_pinning.h"
#include "rdma/base/check.h"

namespace glaive::engine {

WriterThread::WriterThread() : thread_([this] { ThreadMain(); }) {}

WriterThread::~WriterThread() {
  {
    const std::lock_guard lock(mutex_);
    GLAIVE_CHECK(waiting_.empty(), waiting_.size(), " files were not written");
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void WriterThread::Start(Work& work) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(&work);
  }
  changed_.notify_all();
}

void WriterThread::WaitFor(const Work& work) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return std::ranges::find(waiting_, &work) == waiting_.end(); });
}

void WriterThread::ThreadMain() {
  UnpinThisThread();  // it would share the executor's processor, whose thread has started it
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return !waiting_.empty() || stop_; });
    if (waiting_.empty()) {
      return;
    }
    Work& work = *waiting_.front();
    lock.unlock();
    work.Run();
    lock.lock();
    waiting_.pop_front();
    changed_.notify_all();
  }
}

}  // namespace glaive::engine
