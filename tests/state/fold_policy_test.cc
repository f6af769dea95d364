#include "state/store/fold_policy.h"

#include <cstdint>

#include <gtest/gtest.h>

namespace glaive::state {
namespace {

constexpr FoldOptions kOptions{.trial_records = 1000, .trials_between = 3, .records_per_saved = 4};

TEST(FoldPolicy, FoldsAtFirst) { EXPECT_TRUE(FoldPolicy(kOptions).folds()); }

TEST(FoldPolicy, NeverFoldsIfItMustNot) {
  FoldPolicy policy({.folds = false, .trial_records = 1000, .trials_between = 3});
  for (int trial = 0; trial < 10; ++trial) {
    EXPECT_FALSE(policy.folds()) << "trial " << trial;
    policy.OnAppended(1000);
  }
  EXPECT_EQ(policy.appended_records(), 10'000U);
  EXPECT_EQ(policy.switches(), 0U);
}

TEST(FoldPolicy, GoesOnWhileOneRecordInSoManyIsSaved) {
  FoldPolicy policy(kOptions);
  for (int trial = 0; trial < 10; ++trial) {
    policy.OnFolded(1000, 750);
    EXPECT_TRUE(policy.folds()) << "trial " << trial;
  }
  policy.OnFolded(1000, 751);
  EXPECT_FALSE(policy.folds());
  EXPECT_EQ(policy.switches(), 1U);
}

TEST(FoldPolicy, DecidesWhenATrialIsOverAndNotBefore) {
  FoldPolicy policy(kOptions);
  policy.OnFolded(600, 600);
  policy.OnFolded(399, 399);
  EXPECT_TRUE(policy.folds());
  policy.OnFolded(1, 1);
  EXPECT_FALSE(policy.folds());
}

TEST(FoldPolicy, JudgesEachTrialByItself) {
  FoldPolicy policy(kOptions);
  policy.OnFolded(1000, 0);
  policy.OnFolded(1000, 1000);
  EXPECT_FALSE(policy.folds()) << "of both together, half were saved";
}

TEST(FoldPolicy, RecordsThatFoundNoPlaceAreNotSaved) {
  FoldPolicy policy(kOptions);
  policy.OnFolded(400, 100);
  policy.OnRefused(600);
  EXPECT_TRUE(policy.folds()) << "300 of 1000 are saved";
  policy.OnReadOut();
  policy.OnFolded(600, 460);
  policy.OnRefused(400);
  EXPECT_FALSE(policy.folds()) << "140 of 1000";
}

TEST(FoldPolicy, RecordsThatAFolderHasTakenAreSaved) {
  FoldPolicy policy(kOptions);
  policy.OnFolded(250, 0);
  policy.OnFolded(750, 750);
  EXPECT_TRUE(policy.folds());
}

TEST(FoldPolicy, RecordsOfOtherSlicesSayNothing) {
  FoldPolicy policy(kOptions);
  policy.OnSetAside(1'000'000);
  EXPECT_TRUE(policy.folds());
  policy.OnFolded(1000, 700);
  EXPECT_TRUE(policy.folds());
}

TEST(FoldPolicy, TriesAgainAfterAWhile) {
  FoldPolicy policy(kOptions);
  policy.OnFolded(1000, 1000);
  policy.OnAppended(2999);
  EXPECT_FALSE(policy.folds());
  policy.OnAppended(1);
  EXPECT_TRUE(policy.folds());
  EXPECT_EQ(policy.switches(), 2U);
  policy.OnFolded(999, 999);
  EXPECT_TRUE(policy.folds()) << "a whole trial";
  policy.OnFolded(1, 1);
  EXPECT_FALSE(policy.folds());
  policy.OnAppended(3000);
  policy.OnFolded(1000, 0);
  EXPECT_TRUE(policy.folds()) << "inputs change";
  EXPECT_EQ(policy.switches(), 4U);
}

TEST(FoldPolicy, CountsWhatWasFoldedAndWhatWasNot) {
  FoldPolicy policy(kOptions);
  policy.OnFolded(10, 4);
  policy.OnRefused(20);
  policy.OnSetAside(300);
  EXPECT_EQ(policy.folded_records(), 10U);
  EXPECT_EQ(policy.appended_records(), 320U);
  policy.OnFolded(1000, 1000);
  policy.OnAppended(4000);
  EXPECT_EQ(policy.folded_records(), 1010U);
  EXPECT_EQ(policy.appended_records(), 4320U);
}

// Of 100 new keys each recurs nine times while the combiner fills. Then come others.
TEST(FoldPolicy, AFullCombinerOfOldKeysGivesWayToNewOnes) {
  FoldPolicy policy(kOptions);
  policy.OnFolded(900, 100);
  policy.OnFolded(60, 0);
  policy.OnRefused(64);
  EXPECT_FALSE(policy.prefers_new_keys()) << "fewer than an eighth of a trial since it is full";
  policy.OnRefused(61);
  EXPECT_TRUE(policy.prefers_new_keys());
  EXPECT_EQ(policy.renewals(), 1U);
  policy.OnRefused(1000);
  EXPECT_TRUE(policy.folds()) << "newer keys may recur as the old ones did";
  EXPECT_EQ(policy.renewals(), 1U) << "it has not been read out";
  policy.OnReadOut();
  EXPECT_FALSE(policy.prefers_new_keys());
}

// A full combiner has the frequent keys, so it saves more than one that fills.
TEST(FoldPolicy, AFullCombinerStaysWhileItsKeysComeAsOften) {
  FoldPolicy policy(kOptions);
  policy.OnFolded(500, 250);
  for (int step = 0; step < 1000; ++step) {
    policy.OnRefused(10);
    policy.OnFolded(15, 0);
    EXPECT_FALSE(policy.prefers_new_keys()) << "six in ten are saved, and were five in ten, step " << step;
  }
  EXPECT_EQ(policy.renewals(), 0U);
  policy.OnRefused(125);
  EXPECT_TRUE(policy.prefers_new_keys());
}

TEST(FoldPolicy, AFullCombinerThatSavedTooLittleAsItFilledIsNotRenewed) {
  FoldPolicy policy(kOptions);
  policy.OnFolded(500, 400);
  policy.OnRefused(500);
  EXPECT_FALSE(policy.prefers_new_keys());
  EXPECT_FALSE(policy.folds());
}

// What a store says in one breath: some were folded, and that decides; the rest were refused.
TEST(FoldPolicy, WhatIsRefusedAsFoldingIsSwitchedOffDoesNotShortenTheWhile) {
  FoldPolicy policy(kOptions);
  policy.OnFolded(1000, 1000);
  policy.OnRefused(500);
  EXPECT_FALSE(policy.folds());
  policy.OnAppended(2499);
  EXPECT_FALSE(policy.folds());
}

}  // namespace
}  // namespace glaive::state
