#include "rdma/bootstrap/run_key.h"

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace glaive::rdma {
namespace {

template <std::unsigned_integral Number>
std::array<std::uint8_t, sizeof(Number)> LittleEndian(Number number) {
  std::array<std::uint8_t, sizeof(Number)> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(number >> (8 * i));
  return bytes;
}

// Labels of different uses differ, none begins another, and what follows has a fixed length.
Digest OfPair(const RunKey& key, std::string_view label, ExecutorId from, ExecutorId to) {
  return HmacSha256(key, {label, AsText(LittleEndian(Value(from))), AsText(LittleEndian(Value(to)))});
}

template <std::unsigned_integral Number>
Number FirstBits(const Digest& digest) {
  Number number = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i) number |= Number{digest[i]} << (8 * i);
  return number;
}

}  // namespace

RunKey DeriveRunKey(const Secret& secret, std::uint64_t run_token) {
  return HmacSha256(secret.bytes(), {"glaive run key", AsText(LittleEndian(run_token))});
}

RunKey PartKey(const RunKey& key, std::uint32_t number) {
  return HmacSha256(key, {"glaive part key", AsText(LittleEndian(number))});
}

std::uint64_t ConnectToken(const RunKey& key, ExecutorId from, ExecutorId to) {
  return FirstBits<std::uint64_t>(OfPair(key, "glaive connect token", from, to));
}

std::uint32_t RingToken(const RunKey& key, ExecutorId source, ExecutorId destination) {
  return FirstBits<std::uint32_t>(OfPair(key, "glaive ring token", source, destination));
}

}  // namespace glaive::rdma
