// WrongOrder: what makes a query whose steps are out of order fail to compile with one readable line.
//
// Each step of a query returns a type that has the steps that may come next. For the steps that may not, that type has
// functions whose static_assert says what is missing. They return a WrongOrder, which takes any further step, so that
// the compiler stops at the first mistake instead of listing its consequences.
#pragma once

#include <type_traits>

namespace glaive::engine {

/// False, but only once a template is instantiated with T.
template <typename T>
inline constexpr bool kNever = !std::is_same_v<T, T>;

/// What a step that may not come returns.
struct WrongOrder {
  template <typename T>
  WrongOrder Filter(const T&) const {
    return {};
  }
  template <typename T>
  WrongOrder Map(const T&) const {
    return {};
  }
  template <typename T>
  WrongOrder FilterMap(const T&) const {
    return {};
  }
  template <typename T>
  WrongOrder KeyBy(const T&) const {
    return {};
  }
  template <typename T>
  WrongOrder Window(const T&) const {
    return {};
  }
  template <typename T>
  WrongOrder AllowedLateness(const T&) const {
    return {};
  }
  template <typename T>
  WrongOrder LateTo(const T&) const {
    return {};
  }
  template <typename T>
  WrongOrder Aggregate(const T&) const {
    return {};
  }
  template <typename T>
  WrongOrder To(const T&) const {
    return {};
  }
};

}  // namespace glaive::engine

/// Defines the step `name` of a type where it may not come: compiling it fails with `message`.
#define GLAIVE_WRONG_ORDER(name, message)                       \
  template <typename Argument>                                  \
  ::glaive::engine::WrongOrder name(const Argument&) const {    \
    static_assert(::glaive::engine::kNever<Argument>, message); \
    return {};                                                  \
  }
