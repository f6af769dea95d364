// A comparison of long texts names the first difference, and stays short.

#include "tests/rdma/same_text.h"

#include <string>

#include <gtest/gtest.h>

namespace glaive {
namespace {

TEST(SameText, IsFoundInEqualTextsAlone) {
  EXPECT_TRUE(SameText("", ""));
  EXPECT_TRUE(SameText("some text", "some text"));
  EXPECT_STREQ(SameText("some text", "some test").message(),
               "9 bytes, 9 expected; they differ from byte 7 on: \"some text\", not \"some test\"");
}

TEST(SameText, NamesTheByteWhereOneTextEnds) {
  EXPECT_STREQ(SameText("some", "some text").message(),
               "4 bytes, 9 expected; they differ from byte 4 on: \"some\", not \"some text\"");
  EXPECT_STREQ(SameText("some text", "").message(),
               "9 bytes, 0 expected; they differ from byte 0 on: \"some text\", not \"\"");
}

TEST(SameText, PrintsAPartOfLongOnes) {
  const std::string expected(1 << 20, 'x');
  std::string found = expected;
  found[1000] = 'y';
  const std::string message = SameText(found, expected).message();
  EXPECT_LT(message.size(), 300U);
  EXPECT_NE(message.find("byte 1000 on: \"xxxxxxxxxxxxxxxxxxxxyxxx"), std::string::npos) << message;
}

}  // namespace
}  // namespace glaive
