#include "rdma/base/exhaustion.h"

#include <cerrno>
#include <cstddef>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace glaive {
namespace {

using ::testing::HasSubstr;

template <typename Exception>
absl::Status CatchOf(const Exception& exception) {
  return CatchExhaustion([&]() -> absl::Status { throw exception; });
}

std::system_error NoThread() {
  return std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
}

std::string Line(absl::string_view message) { return absl::StrCat(program_invocation_short_name, ": ", message); }

TEST(CatchExhaustion, WhatIsReturnedPasses) {
  EXPECT_EQ(CatchExhaustion([] { return absl::OkStatus(); }), absl::OkStatus());
  EXPECT_EQ(CatchExhaustion([] { return absl::NotFoundError("it"); }), absl::NotFoundError("it"));
}

TEST(CatchExhaustion, MemoryAndThreadsThatCannotBeHadAreErrorsWithTheRemedy) {
  for (const absl::Status& status :
       {CatchOf(std::bad_alloc()), CatchOf(std::length_error("reserve")), CatchExhaustion([] {
          std::vector<std::byte>().reserve(static_cast<std::size_t>(-1));
          return absl::OkStatus();
        })}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
    EXPECT_THAT(status.message(), HasSubstr("out of memory"));
    EXPECT_THAT(status.message(), HasSubstr("ulimit -v"));
  }
  EXPECT_THAT(CatchOf(NoThread()).message(), HasSubstr("cannot start a thread: raise ulimit -u"));
  EXPECT_THAT(CatchOf(std::system_error(std::make_error_code(std::errc::too_many_files_open))).message(),
              HasSubstr("look at ulimit -a"));
}

TEST(MessageOf, IsThatOfMissingMemoryWhereThereWasNoneForAMessage) {
  EXPECT_EQ(MessageOf(absl::ResourceExhaustedError("too many files")), "too many files");
  EXPECT_EQ(MessageOf(absl::NotFoundError("")), "");
  EXPECT_EQ(MessageOf(absl::ResourceExhaustedError("")), CatchOf(std::bad_alloc()).message());
}

TEST(CatchExhaustion, OtherExceptionsAreDefectsAndPass) {
  EXPECT_THROW((void)CatchOf(std::out_of_range("place 7")), std::out_of_range);
}

TEST(ErrorText, NamesTheLimitThatIsTheCauseAndElseTheGivenRemedy) {
  EXPECT_EQ(ErrorText(EMFILE, "mount it"), "Too many open files; raise ulimit -n");
  EXPECT_EQ(ErrorText(EFBIG), "File too large; raise ulimit -f, or use a file system for larger files");
  EXPECT_EQ(ErrorText(ENOENT, "mount it"), "No such file or directory; mount it");
  EXPECT_EQ(ErrorText(ENOENT), "No such file or directory");
}

TEST(RunMain, ReturnsTheExitCodeOr1WithALine) {
  EXPECT_EQ(RunMain([] { return 7; }), 7);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(RunMain([]() -> int { throw std::bad_alloc(); }), 1);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr(Line("out of memory")));
}

TEST(RunMainDeathTest, WhatNoThreadCatchesEndsTheProcessWithALine) {
  const auto main_with_thread = [](auto throw_it) {
    return RunMain([&] {
      std::thread(throw_it).join();
      return 0;
    });
  };
  EXPECT_EXIT(main_with_thread([] { throw std::bad_alloc(); }), ::testing::ExitedWithCode(1), Line("out of memory"));
  EXPECT_DEATH(main_with_thread([] { throw std::out_of_range("place 7"); }), Line("place 7"));
}

}  // namespace
}  // namespace glaive
