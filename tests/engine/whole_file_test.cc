#include "engine/files/whole_file.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/files/file_writer.h"
#include "rdma/base/unique_fd.h"
#include "rdma/base/watch.h"
#include "tests/engine/temporary_folder.h"
#include "tests/engine/text_files.h"
#include "tests/rdma/same_text.h"

namespace glaive::engine {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class WholeFileTest : public ::testing::Test {
 protected:
  std::string Path(const std::string& name) const { return folder_.path() / name; }
  std::string Text(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(Path(name)).rdbuf();
    return text.str();
  }
  std::vector<std::string> Names() const {
    std::vector<std::string> names = NamesIn(folder_.path()).value();
    std::sort(names.begin(), names.end());
    return names;
  }
  /// The name under which this process writes `name` first.
  static std::string Temporary(const std::string& name, int number = 0) {
    return absl::StrCat(".", name, ".", getpid(), "-", number, ".tmp");
  }

  TemporaryFolder folder_;
};

absl::Status WriteWholeFile(const std::string& path, std::string_view bytes) {
  absl::StatusOr<WholeFile> file = WholeFile::Create(path);
  return file.ok() ? file->WriteAndCommit(bytes) : file.status();
}

TEST_F(WholeFileTest, AFileHasItsNameAfterCommitAndReplacesTheOneBefore) {
  WriteText(Path("o"), "an older and longer text");
  {
    absl::StatusOr<WholeFile> file = WholeFile::Create(Path("o"));
    ASSERT_TRUE(file.ok()) << file.status();
    ASSERT_TRUE(file->Write("new").ok());
    EXPECT_EQ(file->bytes(), 3U);
    EXPECT_EQ(Text("o"), "an older and longer text");
    EXPECT_THAT(Names(), ElementsAre(Temporary("o"), "o"));
    ASSERT_TRUE(file->Commit().ok());
  }
  EXPECT_EQ(Text("o"), "new");
  EXPECT_THAT(Names(), ElementsAre("o"));
}

TEST_F(WholeFileTest, WithoutCommitNothingIsLeft) {
  ASSERT_TRUE(WholeFile::Create(Path("o"))->Write("half").ok());
  EXPECT_THAT(Names(), ElementsAre());
}

TEST_F(WholeFileTest, WhatLiesUnderTheTemporaryNameIsNeitherWrittenNorRemoved) {
  WriteText(Path("victim"), "precious");
  fs::create_symlink("victim", Path(Temporary("o")));
  fs::create_hard_link(Path("victim"), Path(Temporary("o", 1)));
  WriteText(Path("o.tmp"), "a file of somebody's");
  ASSERT_TRUE(WriteWholeFile(Path("o"), "new").ok());
  EXPECT_EQ(Text("o"), "new");
  EXPECT_EQ(Text("victim"), "precious");
  EXPECT_EQ(Text("o.tmp"), "a file of somebody's");
  EXPECT_TRUE(fs::is_symlink(Path(Temporary("o"))));
  EXPECT_THAT(Names(), ElementsAre(Temporary("o"), Temporary("o", 1), "o", "o.tmp", "victim"));
}

TEST_F(WholeFileTest, AFileThatIsBeingWrittenIsRefusedToOthersAndStaysWhole) {
  absl::StatusOr<WholeFile> first = WholeFile::Create(Path("o"));
  ASSERT_TRUE(first->Write("first").ok());
  const absl::Status second = WholeFile::Create(Path("o")).status();
  EXPECT_EQ(second.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(second.message(), AllOf(HasSubstr("this run writes it already"), HasSubstr(Temporary("o"))));
  ASSERT_TRUE(first->Commit().ok());
  EXPECT_EQ(Text("o"), "first");
  EXPECT_THAT(Names(), ElementsAre("o"));
  {
    const WholeFile ended = *std::move(first);
  }
  ASSERT_TRUE(WriteWholeFile(Path("o"), "third").ok()) << "its end lets others write";
  EXPECT_EQ(Text("o"), "third");
}

TEST_F(WholeFileTest, AFileThatHasComeUnderTheNameMeanwhileStays) {
  for (const bool was_there : {false, true}) {
    if (was_there) WriteText(Path("o"), "old");
    absl::StatusOr<WholeFile> file = WholeFile::Create(Path("o"));
    ASSERT_TRUE(file.ok()) << file.status();
    WriteText(Path("another"), "another's");
    fs::rename(Path("another"), Path("o"));
    EXPECT_THAT(file->Commit().message(), HasSubstr("another program has written a file of this name"));
    EXPECT_EQ(Text("o"), "another's");
    fs::remove(Path("o"));
  }
}

TEST_F(WholeFileTest, AFileThatIsGoneMeanwhileIsNoHindrance) {
  WriteText(Path("o"), "old");
  absl::StatusOr<WholeFile> file = WholeFile::Create(Path("o"));
  ASSERT_TRUE(file.ok() && file->Write("new").ok()) << file.status();
  fs::remove(Path("o"));
  ASSERT_TRUE(file->Commit().ok());
  EXPECT_EQ(Text("o"), "new");
}

TEST_F(WholeFileTest, ACommittedFileIsItsRunsUntilTheRunEnds) {
  {
    absl::StatusOr<WholeFile> first = WholeFile::Create(Path("o"));
    ASSERT_TRUE(first.ok() && first->Commit().ok()) << first.status();
    EXPECT_THAT(WholeFile::Create(Path("o")).status().message(), HasSubstr("another run writes it"));
  }
  EXPECT_TRUE(WholeFile::Create(Path("o")).ok());
}

TEST_F(WholeFileTest, ATemporaryFileThatThisUserCannotReadIsRefusedAsWhatItIs) {
  WriteText(Path(".o.1-0.tmp"), "half");
  fs::permissions(Path(".o.1-0.tmp"), fs::perms::none);
  fs::permissions(folder_.path(), fs::perms::all);
  const bool is_root = geteuid() == 0;  // who reads everything
  constexpr uid_t kNobody = 65534;
  ASSERT_TRUE(!is_root || seteuid(kNobody) == 0);
  const absl::Status refused = WholeFile::Create(Path("o")).status();
  ASSERT_TRUE(!is_root || seteuid(0) == 0);
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(refused.message(), AllOf(HasSubstr("this user cannot read " + Path(".o.1-0.tmp")),
                                       HasSubstr("has left it behind when it was killed"),
                                       ::testing::Not(HasSubstr("another run writes it"))));
  EXPECT_THAT(Names(), ElementsAre(".o.1-0.tmp"));
}

TEST_F(WholeFileTest, WhatAKilledProcessHasLeftIsNoHindranceAndStays) {
  WriteText(Path(".o.1-0.tmp"), "half");
  ASSERT_TRUE(WriteWholeFile(Path("o"), "new").ok());
  EXPECT_EQ(Text(".o.1-0.tmp"), "half");
}

TEST_F(WholeFileTest, AFileThatTookTheTemporaryNameIsNeitherCommittedNorRemoved) {
  {
    absl::StatusOr<WholeFile> file = WholeFile::Create(Path("o"));
    fs::rename(WriteText(Path("other"), "somebody's"), file->temporary());
    EXPECT_THAT(file->Commit().message(), HasSubstr("was replaced by another"));
  }
  EXPECT_EQ(Text(Temporary("o")), "somebody's");
}

TEST_F(WholeFileTest, ATemporaryFileThatIsGoneIsNoResult) {
  absl::StatusOr<WholeFile> file = WholeFile::Create(Path("o"));
  fs::remove(file->temporary());
  EXPECT_THAT(file->Commit().message(), HasSubstr("was removed"));
  EXPECT_THAT(Names(), ElementsAre());
}

TEST_F(WholeFileTest, ALinkIsFollowedAndStays) {
  fs::create_directory(Path("data"));
  WriteText(Path("data/target"), "old");
  fs::create_symlink("data/target", Path("link"));
  fs::create_symlink("data/absent", Path("dangling"));
  fs::create_symlink(Path("link"), Path("link_to_link"));
  ASSERT_TRUE(WriteWholeFile(Path("link_to_link"), "new").ok());
  ASSERT_TRUE(WriteWholeFile(Path("dangling"), "first").ok());
  EXPECT_EQ(Text("data/target"), "new");
  EXPECT_EQ(Text("data/absent"), "first");
  for (const char* link : {"link", "dangling", "link_to_link"}) {
    EXPECT_TRUE(fs::is_symlink(Path(link))) << link;
  }
}

TEST_F(WholeFileTest, WhereAFileIsWantedALinkIsRefused) {
  fs::create_symlink("data/absent", Path("link"));
  EXPECT_THAT(WholeFile::CreateFile(Path("link")).status().message(), HasSubstr("what lies there is no file"));
}

TEST_F(WholeFileTest, ADeviceIsWrittenAndStaysADevice) {
  ASSERT_TRUE(WriteWholeFile("/dev/null", "text").ok());
  struct stat there{};
  ASSERT_EQ(stat("/dev/null", &there), 0);
  EXPECT_TRUE(S_ISCHR(there.st_mode));
  EXPECT_THAT(WriteWholeFile("/dev/full", "text").message(), HasSubstr("cannot write /dev/full: No space left"));
}

TEST_F(WholeFileTest, APipeIsWrittenToItsReader) {
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  const std::string text(1 << 20, 'x');  // more than a pipe holds
  std::string got;
  const UniqueFd hold(open(Path("pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));  // so that there is a reader
  absl::StatusOr<WholeFile> file = WholeFile::Create(Path("pipe"));
  ASSERT_TRUE(file.ok()) << file.status();
  std::thread reader([&] { got = Text("pipe"); });
  EXPECT_TRUE(file->WriteAndCommit(text).ok());
  reader.join();  // it has seen the end, though the WholeFile is still there
  EXPECT_TRUE(SameText(got, text));
  EXPECT_TRUE(fs::is_fifo(Path("pipe")));
}

TEST_F(WholeFileTest, APipeThatNobodyReadsIsRefused) {
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  EXPECT_THAT(WholeFile::Create(Path("pipe")).status().message(), HasSubstr("no process reads from this pipe"));
}

TEST_F(WholeFileTest, AWaitForThePipesReaderEndsWithASignal) {
  sigset_t signals;
  sigset_t before;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  ASSERT_EQ(pthread_sigmask(SIG_BLOCK, &signals, &before), 0);
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  const UniqueFd reader(open(Path("pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));  // and reads nothing
  absl::StatusOr<WholeFile> file = WholeFile::Create(Path("pipe"));
  ASSERT_TRUE(file.ok()) << file.status();
  raise(SIGTERM);
  EXPECT_EQ(file->Write(std::string(1 << 20, 'x')).code(), absl::StatusCode::kCancelled);
  int signal = 0;
  ASSERT_EQ(sigwait(&signals, &signal), 0);
  ASSERT_EQ(pthread_sigmask(SIG_SETMASK, &before, nullptr), 0);
}

TEST_F(WholeFileTest, AWaitForThePipesReaderEndsWhenTheWatchSaysSo) {
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  const UniqueFd reader(open(Path("pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));  // and reads nothing
  absl::StatusOr<WholeFile> file = WholeFile::Create(Path("pipe"));
  ASSERT_TRUE(file.ok()) << file.status();
  int asked = 0;
  const Watch second = [&asked] { return ++asked < 2 ? absl::OkStatus() : absl::AbortedError("enough"); };
  EXPECT_EQ(file->Write(std::string(1 << 20, 'x'), second), absl::AbortedError("enough"));
  EXPECT_GE(file->bytes(), std::uint64_t{PIPE_BUF}) << "as much as the pipe takes";
}

TEST_F(WholeFileTest, AWriterEndsThoughNobodyReadsFromItsPipe) {
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  const UniqueFd reader(open(Path("pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  absl::StatusOr<WholeFile> file = WholeFile::Create(Path("pipe"));
  ASSERT_TRUE(file.ok()) << file.status();
  std::string bytes(1 << 20, 'x');
  {
    FileWriter writer(*std::move(file));
    writer.Start(bytes, {});
    EXPECT_FALSE(writer.Idle());
  }  // its end waits for no reader
  std::array<char, 1> byte{};
  EXPECT_EQ(read(reader.get(), byte.data(), byte.size()), 1) << "the pipe has what it had room for";
}

TEST_F(WholeFileTest, WhatIsNeitherFileNorStreamIsRefused) {
  EXPECT_THAT(WholeFile::Create(folder_.path()).status().message(), HasSubstr("this is a folder"));
  EXPECT_THAT(WholeFile::Create(Path("no/such")).status().message(), HasSubstr("No such file or directory"));
}

TEST_F(WholeFileTest, AFileHasTheModeThatTheUmaskAllows) {
  const mode_t before = umask(027);
  ASSERT_TRUE(WriteWholeFile(Path("o"), "").ok());
  umask(before);
  struct stat there{};
  ASSERT_EQ(stat(Path("o").c_str(), &there), 0);
  EXPECT_EQ(there.st_mode & 0777U, 0640U);
}

TEST(NameBehind, IsThatOfATemporaryFileAlone) {
  EXPECT_EQ(NameBehind(".o.csv.4711-0.tmp"), "o.csv");
  for (const char* name : {"o.csv", "o.csv.4711-0.tmp", ".o.csv.tmp", ".o.csv.4711.tmp", ".o.csv.4711-.tmp",
                           ".o.csv.-1.tmp", ".o.csv.a-1.tmp", ".o.csv.1-2-3.tmp", ".tmp", ""}) {
    EXPECT_EQ(NameBehind(name), "") << name;
  }
}

}  // namespace
}  // namespace glaive::engine
