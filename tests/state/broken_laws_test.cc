// Each check of ExpectCrdtLaws can fail, and is needed: for each of them there is a value that it alone refuses.
//
// The checks differ in how much they put together. A value is folded from at most kMostInputs inputs. Law 4 adds one
// input, law 1 merges two values, law 2 three, and parts are merged up to four times. Most values here are wrong only
// from such a size on.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include "tests/state/crdt_laws.h"

namespace glaive::state {
namespace {

/// Checks the laws, and expects failures, all of which have `message`.
template <CrdtValue V>
void ExpectOnlyFailure(const char* message) {
  constexpr std::uint64_t kSeed = 13;
  testing::TestPartResultArray failures;
  {
    const testing::ScopedFakeTestPartResultReporter reporter(
        testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &failures);
    ExpectCrdtLaws<V>(kSeed, RandomInteger<std::uint8_t>);
  }
  EXPECT_GT(failures.size(), 0) << "no check refuses it";
  for (int i = 0; i < failures.size() && !testing::Test::HasFailure(); ++i) {
    EXPECT_NE(std::strstr(failures.GetTestPartResult(i).message(), message), nullptr)
        << failures.GetTestPartResult(i).message();
    EXPECT_NE(std::strstr(failures.GetTestPartResult(i).message(), "seed 13"), nullptr);
  }
}

/// Keeps its inputs in order. The order matters to == only where there are more than kMostInputs.
struct InOrder {
  using Input = std::uint8_t;
  void Update(Input input) { inputs[count++] = input; }
  void Merge(const InOrder& other) {
    std::copy_n(other.inputs.begin(), other.count, inputs.begin() + count);
    count = static_cast<std::uint8_t>(count + other.count);
  }
  std::uint8_t Result() const { return count; }
  friend bool operator==(const InOrder& a, const InOrder& b) {
    const auto end_of_a = a.inputs.begin() + a.count;
    const auto end_of_b = b.inputs.begin() + b.count;
    return a.count <= kMostInputs ? std::is_permutation(a.inputs.begin(), end_of_a, b.inputs.begin(), end_of_b)
                                  : std::equal(a.inputs.begin(), end_of_a, b.inputs.begin(), end_of_b);
  }

  std::array<std::uint8_t, 4 * kMostInputs> inputs{};
  std::uint8_t count = 0;
};

TEST(BrokenLaws, MergingThatIsNotCommutativeIsRefused) { ExpectOnlyFailure<InOrder>("1: merging is not commutative"); }

/// Counts the merges of two values of more than half of kMostInputs each.
struct CountsLargeMerges {
  using Input = std::uint8_t;
  void Update(Input /*input*/) { ++count; }
  void Merge(const CountsLargeMerges& other) {
    large += other.large + (count > kMostInputs / 2 && other.count > kMostInputs / 2 ? 1 : 0);
    count += other.count;
  }
  std::uint64_t Result() const { return count; }
  friend bool operator==(const CountsLargeMerges&, const CountsLargeMerges&) = default;

  std::uint64_t count = 0;
  std::uint64_t large = 0;
};

TEST(BrokenLaws, MergingThatIsNotAssociativeIsRefused) {
  ExpectOnlyFailure<CountsLargeMerges>("2: merging is not associative");
}

/// Remembers whether it was merged with a new value.
struct RemembersNewValues {
  using Input = std::uint8_t;
  void Update(Input /*input*/) { ++count; }
  void Merge(const RemembersNewValues& other) {
    met_new = met_new || other.met_new || count == 0 || other.count == 0;
    count += other.count;
  }
  std::uint64_t Result() const { return count; }
  friend bool operator==(const RemembersNewValues&, const RemembersNewValues&) = default;

  std::uint64_t count = 0;
  bool met_new = false;
};

TEST(BrokenLaws, ANewValueThatIsNotNeutralIsRefused) {
  ExpectOnlyFailure<RemembersNewValues>("3: a new value is not neutral");
}

/// Counts the records of updates up to kMostInputs, and those of merges without a limit.
struct StopsCounting {
  using Input = std::uint8_t;
  void Update(Input /*input*/) { count += count < kMostInputs ? 1 : 0; }
  void Merge(const StopsCounting& other) { count += other.count; }
  std::uint64_t Result() const { return count; }
  friend bool operator==(const StopsCounting&, const StopsCounting&) = default;

  std::uint64_t count = 0;
};

TEST(BrokenLaws, AnUpdateThatIsNotAMergeIsRefused) { ExpectOnlyFailure<StopsCounting>("4: an update is not a merge"); }

/// Loses its count at the third merge; its form does not.
struct WearsOut {
  using Input = std::uint8_t;
  void Update(Input /*input*/) { ++count; }
  void Merge(const WearsOut& other) {
    merges += other.merges + 1;
    count = merges < 3 ? count + other.count : 0;
  }
  std::uint64_t Result() const { return 0; }
  friend bool operator==(const WearsOut& a, const WearsOut& b) { return a.count == b.count; }

  std::uint64_t count = 0;
  std::uint64_t merges = 0;
};

enum class Loss : std::uint8_t { kOfForms, kOfValues };

/// A count that is right, with a form that takes another form, or a value, for one record.
template <Loss kLoss>
struct LossyInForms {
  using Input = std::uint8_t;
  void Update(Input /*input*/) { ++count; }
  void Merge(const LossyInForms& other) { count += other.count; }
  std::uint64_t Result() const { return count; }
  friend bool operator==(const LossyInForms&, const LossyInForms&) = default;

  std::uint64_t count = 0;
};

/// Shows how often it was merged, but two values are equal whatever they show.
struct ShowsMerges {
  using Input = std::uint8_t;
  void Update(Input /*input*/) { ++count; }
  void Merge(const ShowsMerges& other) {
    merges += other.merges + 1;
    count += other.count;
  }
  std::uint64_t Result() const { return merges; }
  friend bool operator==(const ShowsMerges& a, const ShowsMerges& b) { return a.count == b.count; }

  std::uint64_t count = 0;
  std::uint64_t merges = 0;
};

TEST(BrokenLaws, PartsWithAnotherResultAreRefused) {
  ExpectOnlyFailure<ShowsMerges>("parts do not have the sequential result");
}

}  // namespace

/// A count, which no merge loses.
template <>
class CompactForm<WearsOut> {
 public:
  bool TryUpdate(std::uint8_t /*input*/) {
    ++count_;
    return true;
  }
  bool TryMerge(const WearsOut& value) {
    count_ += value.count;
    return true;
  }
  bool TryMerge(const CompactForm& other) {
    count_ += other.count_;
    return true;
  }
  WearsOut Expanded() const { return {.count = count_}; }

 private:
  std::uint64_t count_ = 0;
};

template <Loss kLoss>
class CompactForm<LossyInForms<kLoss>> {
 public:
  bool TryUpdate(std::uint8_t /*input*/) {
    ++count_;
    return true;
  }
  bool TryMerge(const LossyInForms<kLoss>& value) {
    count_ += kLoss == Loss::kOfValues ? 1 : value.count;
    return true;
  }
  bool TryMerge(const CompactForm& other) {
    count_ += kLoss == Loss::kOfForms ? 1 : other.count_;
    return true;
  }
  LossyInForms<kLoss> Expanded() const { return {.count = count_}; }

 private:
  std::uint64_t count_ = 0;
};

namespace {

TEST(BrokenLaws, PartsThatDoNotMergeToTheSequentialValueAreRefused) {
  ExpectOnlyFailure<WearsOut>("parts do not merge to the sequential value");
}

TEST(BrokenLaws, FormsThatDoNotMergeToTheSequentialValueAreRefused) {
  ExpectOnlyFailure<LossyInForms<Loss::kOfForms>>("compact forms do not merge to the sequential value");
}

TEST(BrokenLaws, ANewFormThatIsNotNeutralIsRefused) {
  ExpectOnlyFailure<LossyInForms<Loss::kOfValues>>("3: a new value is not neutral in a compact form");
}

}  // namespace
}  // namespace glaive::state
