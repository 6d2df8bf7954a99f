// Parses and prints the files of minisign; see encoding.h.
#include "vm/signature/encoding.h"

#include <algorithm>

namespace scopevm::signature {
namespace {

Status malformed(std::string_view what) {
  return {StatusCode::kInvalidArgument, "malformed " + std::string(what)};
}

// The lines of a text, without their ends.
std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

template <typename T>
bool decode(const Sodium& sodium, std::string_view line, T& value) {
  size_t size = 0;
  const int failure = sodium.sodium_base642bin(reinterpret_cast<unsigned char*>(&value),
                                               sizeof value, line.data(), line.size(), nullptr,
                                               &size, nullptr, sodium_base64_VARIANT_ORIGINAL);
  return failure == 0 && size == sizeof value;
}

// Decodes the line of base64 of a key.
template <typename T>
bool decode_key(const Sodium& sodium, std::string_view text, T& key) {
  const std::vector<std::string_view> lines = lines_of(text);
  const bool has_comment = lines.size() == 2 && lines[0].starts_with(kComment);
  if (lines.size() != 1 && !has_comment) return false;
  return decode(sodium, lines.back(), key) && key.algorithm == kEd25519;
}

}  // namespace

Digest digest_of(const Sodium& sodium, std::span<const uint8_t> file) {
  Digest digest;
  sodium.crypto_generichash(digest.data(), digest.size(), file.data(), file.size(), nullptr, 0);
  return digest;
}

std::array<uint8_t, 32> checksum_of(const Sodium& sodium, const SecretKey& key) {
  std::vector<uint8_t> bytes(key.algorithm.begin(), key.algorithm.end());
  bytes.insert(bytes.end(), key.id.begin(), key.id.end());
  bytes.insert(bytes.end(), key.key.begin(), key.key.end());
  std::array<uint8_t, 32> checksum;
  sodium.crypto_generichash(checksum.data(), checksum.size(), bytes.data(), bytes.size(), nullptr,
                            0);
  sodium.sodium_memzero(bytes.data(), bytes.size());
  return checksum;
}

std::vector<uint8_t> signed_comment(const SignatureFile& file) {
  std::vector<uint8_t> bytes(file.signature.signature.begin(), file.signature.signature.end());
  bytes.insert(bytes.end(), file.trusted_comment.begin(), file.trusted_comment.end());
  return bytes;
}

std::string text_of(const KeyId& id) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string text;
  for (auto byte = id.rbegin(); byte != id.rend(); ++byte) {
    text += kDigits[*byte / 16];
    text += kDigits[*byte % 16];
  }
  return text;
}

Result<PublicKey> parse_public_key(const Sodium& sodium, std::string_view text) {
  PublicKey key;
  if (!decode_key(sodium, text, key)) return malformed("public key");
  return key;
}

Result<SecretKey> parse_secret_key(const Sodium& sodium, std::string_view text) {
  SecretKey key;
  if (!decode_key(sodium, text, key)) return malformed("secret key");
  if (key.encryption != kUnencrypted)
    return Status(StatusCode::kInvalidArgument,
                  "the secret key is encrypted with a password; sign with minisign, or use a key "
                  "of scopevm sign --new-key");
  // minisign stores no checksum in a key without a password.
  const bool has_checksum = key.checksum != decltype(key.checksum){};
  if (has_checksum && key.checksum != checksum_of(sodium, key))
    return Status(StatusCode::kInvalidArgument, "secret key: checksum mismatch");
  return key;
}

Result<SignatureFile> parse_signature(const Sodium& sodium, std::string_view text) {
  const std::vector<std::string_view> lines = lines_of(text);
  SignatureFile file;
  if (lines.size() != 4 || !lines[0].starts_with(kComment) ||
      !lines[2].starts_with(kTrustedComment) || !decode(sodium, lines[1], file.signature) ||
      !decode(sodium, lines[3], file.comment_signature))
    return malformed("signature");
  file.trusted_comment = lines[2].substr(kTrustedComment.size());
  if (file.signature.algorithm == kEd25519)
    return Status(StatusCode::kInvalidArgument,
                  "the signature is not of a digest; sign with minisign 0.10 or later");
  if (file.signature.algorithm != kEd25519OfDigest) return malformed("signature");
  return file;
}

std::string print(const Sodium& sodium, const SignatureFile& file) {
  return std::string(kComment) + "signature of a scopevm module\n" +
         encode(sodium, file.signature) + "\n" + std::string(kTrustedComment) +
         file.trusted_comment + "\n" + encode(sodium, file.comment_signature) + "\n";
}

}  // namespace scopevm::signature
