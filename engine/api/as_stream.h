// AsStream: one of the streams that Union, Zip and joins take: a stream, or a join without Keep, whose results are one.
//
//   static_assert(kAreStreams<A, B> || kIsAnyRefused<A, B>, "glaive: ...");
//   if constexpr (kAreStreams<A, B>) { ... AsStream(std::move(a)) ... } else { return WrongOrder{}; }
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include "engine/api/stream.h"
#include "engine/api/wrong_order.h"

namespace glaive::engine {

/// What joins inherit whose results are a stream. Their AsStream() && makes it.
struct JoinWithResults {};

template <typename S>
inline constexpr bool kIsStream = std::derived_from<S, JoinWithResults>;
template <typename Origin, typename Chain>
inline constexpr bool kIsStream<Stream<Origin, Chain>> = true;

template <typename... S>
inline constexpr bool kAreStreams = (kIsStream<S> && ...);
/// Whether one of them was refused before: it adds no error.
template <typename... S>
inline constexpr bool kIsAnyRefused = (std::is_same_v<S, WrongOrder> || ...);

template <typename S>
auto AsStream(S stream) {
  if constexpr (std::derived_from<S, JoinWithResults>) {
    return std::move(stream).AsStream();
  } else {
    return stream;
  }
}

}  // namespace glaive::engine
