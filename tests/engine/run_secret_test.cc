#include "engine/cluster/run_secret.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/engine/temporary_folder.h"

namespace glaive::engine {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

void FillWithSevens(std::span<std::uint8_t> out) { std::fill(out.begin(), out.end(), std::uint8_t{7}); }

class RunSecretTest : public ::testing::Test {
 protected:
  void SetUp() override { ::unsetenv(kSecretVariable); }
  void TearDown() override { ::unsetenv(kSecretVariable); }

  std::string Write(const std::string& text, fs::perms perms = fs::perms::owner_read) const {
    const fs::path path = folder_.path() / "run.secret";
    std::ofstream(path) << text;
    fs::permissions(path, perms);
    return path.string();
  }

  static ClusterOptions ByHand(std::uint32_t nodes) {
    ClusterOptions cluster;
    cluster.nodes = nodes;
    cluster.rank = 0;
    return cluster;
  }

  static std::string TextOfFile(const std::string& path) {
    ClusterOptions cluster;
    cluster.nodes = 2;
    cluster.secret_file = path;
    return TextOf(cluster);
  }

  static std::string TextOf(const ClusterOptions& cluster) {
    const absl::StatusOr<rdma::Secret> secret = ChooseSecret(cluster, FillWithSevens);
    return secret.ok() ? secret->text() : "no secret: " + std::string(secret.status().message());
  }

  TemporaryFolder folder_;
};

constexpr char kFileText[] = "the text of the file, long enough";
constexpr char kVariableText[] = "the text of the variable, long enough";

TEST_F(RunSecretTest, TheFileGoesBeforeTheVariableAndThatBeforeANewOne) {
  ClusterOptions cluster;
  cluster.nodes = 2;
  EXPECT_THAT(TextOf(cluster), HasSubstr("07070707"));
  ::setenv(kSecretVariable, kVariableText, 1);
  EXPECT_EQ(TextOf(cluster), kVariableText);
  cluster.secret_file = Write(std::string(kFileText) + "\n");
  EXPECT_EQ(TextOf(cluster), kFileText);
}

TEST_F(RunSecretTest, NodesThatAreStartedByHandNeedOne) {
  EXPECT_THAT(TextOf(ByHand(2)), HasSubstr("give every rank --secret-file"));
  EXPECT_THAT(TextOf(ByHand(1)), HasSubstr("07070707")) << "there is nobody else";
}

TEST_F(RunSecretTest, AFileThatOthersMayReadIsRefused) {
  for (const fs::perms others : {fs::perms::group_read, fs::perms::others_read, fs::perms::group_write}) {
    EXPECT_THAT(TextOfFile(Write(kFileText, fs::perms::owner_all | others)), HasSubstr("chmod 600"));
  }
}

TEST_F(RunSecretTest, WhatIsNoSecretIsRefusedByName) {
  EXPECT_THAT(TextOfFile("/no/such/file"), HasSubstr("--secret-file=/no/such/file: No such file"));
  EXPECT_THAT(TextOfFile(folder_.path().string()), HasSubstr("it is no regular file"));
  EXPECT_THAT(TextOfFile(Write("short")), HasSubstr("run.secret: a secret of 5 characters can be guessed"));
  fs::remove(folder_.path() / "run.secret");
  EXPECT_THAT(TextOfFile(Write(std::string(5000, 'x'))), HasSubstr("more than 4096 bytes"));
  ::setenv(kSecretVariable, "short", 1);
  EXPECT_THAT(TextOf(ByHand(2)), HasSubstr("GLAIVE_SECRET: a secret of 5 characters"));
  EXPECT_THAT(TextOf(ByHand(1)), HasSubstr("07070707")) << "nobody asks for it";
  ::setenv(kSecretVariable, "", 1);
  EXPECT_THAT(TextOf(ByHand(2)), HasSubstr("give every rank --secret-file")) << "an empty one is none";
}

}  // namespace
}  // namespace glaive::engine
