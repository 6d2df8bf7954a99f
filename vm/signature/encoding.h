// The files of keys and signatures: those of minisign (https://jedisct1.github.io/minisign/). Each
// value is a line of base64, which follows a line of comment.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scopevm/status.h"
#include "vm/signature/sodium.h"

namespace scopevm::signature {

using KeyId = std::array<uint8_t, 8>;
using Digest = std::array<uint8_t, 64>;          // BLAKE2b
using SignatureBytes = std::array<uint8_t, 64>;  // Ed25519
using Algorithm = std::array<char, 2>;

inline constexpr Algorithm kEd25519 = {'E', 'd'};          // of keys
inline constexpr Algorithm kEd25519OfDigest = {'E', 'D'};  // of signatures: signs the Digest
inline constexpr Algorithm kBlake2b = {'B', '2'};
inline constexpr Algorithm kUnencrypted = {0, 0};

// The bytes of each line of base64. All members are arrays of bytes, so there is no padding.
struct PublicKey {
  Algorithm algorithm = kEd25519;
  KeyId id = {};
  std::array<uint8_t, 32> key = {};
};
static_assert(sizeof(PublicKey) == 42);

struct SecretKey {
  Algorithm algorithm = kEd25519;
  Algorithm encryption = kUnencrypted;
  Algorithm checksum_algorithm = kBlake2b;
  std::array<uint8_t, 48> encryption_parameters = {};
  KeyId id = {};
  std::array<uint8_t, 64> key = {};
  std::array<uint8_t, 32> checksum = {};  // of algorithm, id and key; or 0
};
static_assert(sizeof(SecretKey) == 158);

struct Signature {
  Algorithm algorithm = kEd25519OfDigest;
  KeyId id = {};
  SignatureBytes signature = {};
};
static_assert(sizeof(Signature) == 74);

// A file of a signature.
struct SignatureFile {
  Signature signature;
  std::string trusted_comment;            // one line
  SignatureBytes comment_signature = {};  // of signature.signature and the trusted comment
};

inline constexpr std::string_view kComment = "untrusted comment: ";
inline constexpr std::string_view kTrustedComment = "trusted comment: ";

Digest digest_of(const Sodium& sodium, std::span<const uint8_t> file);
std::array<uint8_t, 32> checksum_of(const Sodium& sodium, const SecretKey& key);
// The bytes that SignatureFile::comment_signature signs.
std::vector<uint8_t> signed_comment(const SignatureFile& file);

// "8B3A5C0F12345678", as minisign prints it.
std::string text_of(const KeyId& id);

// The line of base64 of a value.
template <typename T>
std::string encode(const Sodium& sodium, const T& value) {
  std::string text(sodium_base64_ENCODED_LEN(sizeof value, sodium_base64_VARIANT_ORIGINAL), '\0');
  sodium.sodium_bin2base64(text.data(), text.size(), reinterpret_cast<const unsigned char*>(&value),
                           sizeof value, sodium_base64_VARIANT_ORIGINAL);
  text.pop_back();  // the terminator
  return text;
}

// Parse the text of a file. A public key can also be the line of base64 alone. Errors:
// kInvalidArgument.
Result<PublicKey> parse_public_key(const Sodium& sodium, std::string_view text);
Result<SecretKey> parse_secret_key(const Sodium& sodium, std::string_view text);
Result<SignatureFile> parse_signature(const Sodium& sodium, std::string_view text);
std::string print(const Sodium& sodium, const SignatureFile& file);

}  // namespace scopevm::signature
