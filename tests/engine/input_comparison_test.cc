#include "engine/cluster/input_comparison.h"

#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace glaive::engine {
namespace {

using ::testing::HasSubstr;

std::vector<ComparedInput> Inputs() { return {{"in/a", "12 bytes"}, {"in/b", "0 bytes"}, {"ads", "3 ads"}}; }

/// What is said of three nodes, of which the last has other inputs.
absl::Status Compare(const std::vector<ComparedInput>& last) {
  return FindDifference(std::vector<std::string>{EncodeInputs(Inputs()), EncodeInputs(Inputs()), EncodeInputs(last)});
}

TEST(FindDifference, IsContentWithTheSameInputsInAnyOrder) {
  EXPECT_EQ(Compare(Inputs()), absl::OkStatus());
  EXPECT_EQ(Compare({Inputs()[2], Inputs()[0], Inputs()[1]}), absl::OkStatus());
}

TEST(FindDifference, NamesWhatDiffersAndTheRankAndBothContents) {
  const absl::Status other = Compare({Inputs()[0], {"in/b", "7 bytes"}, Inputs()[2]});
  EXPECT_TRUE(absl::IsFailedPrecondition(other));
  EXPECT_THAT(other.message(), HasSubstr("of 'in/b', rank 0 has 0 bytes and rank 2 has 7 bytes; give every node"));
  EXPECT_THAT(Compare({Inputs()[0], Inputs()[2]}).message(),
              HasSubstr("of 'in/b', rank 0 has 0 bytes and rank 2 does not have it"));
  EXPECT_THAT(Compare({Inputs()[0], {"in/aa", "7 bytes"}, Inputs()[1], Inputs()[2]}).message(),
              HasSubstr("of 'in/aa', rank 0 does not have it and rank 2 has 7 bytes"));
  EXPECT_THAT(Compare({Inputs()[0], Inputs()[1], Inputs()[2], {"in/c", "7 bytes"}}).message(),
              HasSubstr("of 'in/c', rank 0 does not have it and rank 2 has 7 bytes"));
}

TEST(FindDifference, RefusesWhatIsNoListOfInputs) {
  const std::string good = EncodeInputs(Inputs());
  EXPECT_TRUE(absl::IsInternal(FindDifference(std::vector<std::string>{good, good.substr(0, good.size() - 1)})));
  EXPECT_TRUE(absl::IsInternal(FindDifference(std::vector<std::string>{good, std::string("name\0", 5)})));
  std::mt19937_64 random(3);
  for (int i = 0; i < 1000; ++i) {
    std::string noise(random() % 40, '\0');
    for (char& c : noise) {
      c = static_cast<char>(random() % 3);
    }
    EXPECT_FALSE(FindDifference(std::vector<std::string>{good, noise}).ok());
  }
}

}  // namespace
}  // namespace glaive::engine
