// How GoogleTest prints described records: by the names of their members, and not as bytes.
//
//   struct Visit { std::int64_t time_ms; Text url; };
//   GLAIVE_RECORD(Visit, time_ms, url)
//
//   EXPECT_EQ(visit, (Visit{7, "/a"}));   // prints {time_ms: 7, url: "/a"}
//
// GoogleTest would look for a PrintTo in the record's own namespace, which mostly is an unnamed one of a test. So this
// is a specialization of the template that looks for it. A record with an operator<< is printed by that.
#pragma once

#include <concepts>
#include <ostream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "state/record/record.h"
#include "state/record/text.h"

namespace glaive {

/// A described struct that says no other way to print it.
template <typename R>
concept PrintedByDescription = Described<R> && !requires(std::ostream& out, const R& record) { out << record; };

}  // namespace glaive

namespace testing::internal {

template <glaive::PrintedByDescription R>
class UniversalPrinter<R> {
 public:
  static void Print(const R& record, std::ostream* out) {
    std::string_view before = "{";
    glaive::ForEachField(record, [&]<typename M>(std::string_view name, const M& member) {
      *out << before << name << ": ";
      if constexpr (std::same_as<M, glaive::Text>) {
        UniversalPrint(std::string(member.view()), out);
      } else {
        UniversalPrint(member, out);
      }
      before = ", ";
    });
    *out << "}";
  }
};

}  // namespace testing::internal
