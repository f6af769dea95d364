#include "engine/fiber/fiber.h"

#include <cstddef>
#include <cstdlib>
#include <exception>
#include <utility>

#include "rdma/base/check.h"
#include "rdma/base/exhaustion.h"

namespace glaive::engine {

Fiber::Fiber(Stack stack, std::size_t top_offset, std::string name, FiberKind kind, std::function<void(Fiber&)> body)
    : kind_(kind),
      context_(std::move(stack), top_offset, [this] { RunBody(); }),
      name_(std::move(name)),
      body_(std::move(body)) {}

void Fiber::RefuseToSuspend() const {
  GLAIVE_CHECK(state_ != State::kUnwinding, "fiber ", name_, " suspends while it is being unwound");
  GLAIVE_CHECK(state_ == State::kRunning, "fiber ", name_, " was suspended from outside its own body");
  std::abort();
}

void Fiber::RunBody() {
  if (state_ == State::kUnwinding) {
    return;  // cancelled before its first turn
  }
  try {
    failure_ = CatchExhaustion([this] {
      body_(*this);
      return absl::OkStatus();
    });
  } catch (const ForcedUnwind&) {
    throw;
  } catch (const std::exception& error) {
    GLAIVE_CHECK(false, "fiber ", name_, " ended with an exception: ", error.what());
  } catch (...) {
    GLAIVE_CHECK(false, "fiber ", name_, " ended with an exception of unknown type");
  }
  GLAIVE_CHECK(state_ == State::kRunning, "fiber ", name_, " caught its own unwinding and went on");
}

}  // namespace glaive::engine
