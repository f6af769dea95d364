// kAddressSanitizer, kThreadSanitizer: the sanitizer with which the program is compiled. GCC tells it by macros, clang
// by __has_feature.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define GLAIVE_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GLAIVE_ADDRESS_SANITIZER 1
#endif
#endif

#if defined(__SANITIZE_THREAD__)
#define GLAIVE_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define GLAIVE_THREAD_SANITIZER 1
#endif
#endif

namespace glaive {

#if defined(GLAIVE_ADDRESS_SANITIZER)
inline constexpr bool kAddressSanitizer = true;
#else
inline constexpr bool kAddressSanitizer = false;
#endif
#if defined(GLAIVE_THREAD_SANITIZER)
inline constexpr bool kThreadSanitizer = true;
#else
inline constexpr bool kThreadSanitizer = false;
#endif
/// Code of a sanitizer takes some ten times as long.
inline constexpr bool kSanitized = kAddressSanitizer || kThreadSanitizer;

}  // namespace glaive
