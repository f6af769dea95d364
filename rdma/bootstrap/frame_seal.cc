#include "rdma/bootstrap/frame_seal.h"

#include <openssl/evp.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"

#include "rdma/base/check.h"

namespace glaive::rdma {
namespace {

using CipherNonce = std::array<std::uint8_t, 12>;

struct CipherDeleter {
  void operator()(EVP_CIPHER* cipher) const { ::EVP_CIPHER_free(cipher); }
  void operator()(EVP_CIPHER_CTX* context) const { ::EVP_CIPHER_CTX_free(context); }
};
using CipherContext = std::unique_ptr<EVP_CIPHER_CTX, CipherDeleter>;

unsigned char* Bytes(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }
const unsigned char* Bytes(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

CipherNonce NonceOf(std::uint64_t number) {
  CipherNonce nonce{};
  for (std::size_t i = 0; i < sizeof(number); ++i) nonce[i] = static_cast<std::uint8_t>(number >> (8 * i));
  return nonce;
}

// Ready for the record of that number; none where OpenSSL has no AES-256-GCM.
CipherContext MakeContext(const Digest& key, std::uint64_t number, bool encrypt) {
  const std::unique_ptr<EVP_CIPHER, CipherDeleter> cipher(::EVP_CIPHER_fetch(nullptr, "AES-256-GCM", nullptr));
  CipherContext context(cipher == nullptr ? nullptr : ::EVP_CIPHER_CTX_new());
  const CipherNonce nonce = NonceOf(number);
  const bool good = context != nullptr && ::EVP_CipherInit_ex2(context.get(), cipher.get(), key.data(), nonce.data(),
                                                               encrypt ? 1 : 0, nullptr) == 1;
  return good ? std::move(context) : nullptr;
}

// `to` is null for bytes that are authenticated alone.
bool Update(EVP_CIPHER_CTX* context, unsigned char* to, std::string_view from) {
  int done = 0;
  return ::EVP_CipherUpdate(context, to, &done, Bytes(from), static_cast<int>(from.size())) == 1 &&
         static_cast<std::size_t>(done) == from.size();
}

bool Finish(EVP_CIPHER_CTX* context) {
  std::array<unsigned char, kRecordTagBytes> nothing{};  // a stream cipher has no rest
  int done = 0;
  return ::EVP_CipherFinal_ex(context, nothing.data(), &done) == 1;
}

std::string PrefixOf(std::size_t text_bytes) {
  std::string prefix;
  for (std::size_t i = 0; i < kRecordPrefixBytes; ++i)
    prefix.push_back(static_cast<char>((text_bytes >> (8 * i)) & 0xff));
  return prefix;
}

// None where OpenSSL cannot make it.
std::optional<std::string> TrySeal(const Digest& key, std::uint64_t number, std::string_view text) {
  const CipherContext context = MakeContext(key, number, /*encrypt=*/true);
  std::string record = PrefixOf(text.size());
  const std::string prefix = record;
  record.resize(kRecordPrefixBytes + text.size() + kRecordTagBytes);
  unsigned char* const ciphertext = Bytes(record) + kRecordPrefixBytes;
  const bool good = context != nullptr && Update(context.get(), nullptr, prefix) &&
                    Update(context.get(), ciphertext, text) && Finish(context.get()) &&
                    ::EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_GET_TAG, static_cast<int>(kRecordTagBytes),
                                          ciphertext + text.size()) == 1;
  return good ? std::optional(std::move(record)) : std::nullopt;
}

}  // namespace

absl::Status CheckFrameSeal() {
  return TrySeal(Digest{}, 0, "x").has_value()
             ? absl::OkStatus()
             : absl::FailedPreconditionError(
                   "OpenSSL has no AES-256-GCM, by which nodes encrypt what they tell each other: its configuration "
                   "(openssl.cnf, OPENSSL_CONF) must activate the default provider, or one that has it");
}

std::string FrameSeal::Seal(std::string_view text) {
  GLAIVE_CHECK(!text.empty() && text.size() <= kMaxRecordBytes, "a record of ", text.size(), " bytes");
  GLAIVE_CHECK(next_ != std::numeric_limits<std::uint64_t>::max(), "a connection has used up its nonces");
  std::optional<std::string> record = TrySeal(key_, next_, text);
  GLAIVE_CHECK(record.has_value(), "OpenSSL has no AES-256-GCM");
  ++next_;
  return *std::move(record);
}

std::optional<std::string> FrameSeal::Open(std::string_view record) {
  constexpr std::size_t kOverhead = kRecordPrefixBytes + kRecordTagBytes;
  if (record.size() <= kOverhead || next_ == std::numeric_limits<std::uint64_t>::max()) return std::nullopt;
  const std::string_view prefix = record.substr(0, kRecordPrefixBytes);
  const std::string_view ciphertext = record.substr(kRecordPrefixBytes, record.size() - kOverhead);
  std::string tag(record.substr(record.size() - kRecordTagBytes));
  const CipherContext context = MakeContext(key_, next_, /*encrypt=*/false);
  GLAIVE_CHECK(context != nullptr, "OpenSSL has no AES-256-GCM");
  std::string text(ciphertext.size(), '\0');
  const bool good =
      ::EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_SET_TAG, static_cast<int>(kRecordTagBytes), Bytes(tag)) == 1 &&
      Update(context.get(), nullptr, prefix) && Update(context.get(), Bytes(text), ciphertext) && Finish(context.get());
  if (!good) return std::nullopt;
  ++next_;
  return text;
}

}  // namespace glaive::rdma
