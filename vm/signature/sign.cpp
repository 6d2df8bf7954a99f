// Makes Ed25519 keys and signatures of BLAKE2b digests; see sign.h.
#include "vm/signature/sign.h"

#include "vm/signature/encoding.h"

namespace scopevm::signature {
namespace {

SignatureBytes sign_bytes(const Sodium& sodium, const SecretKey& key,
                          std::span<const uint8_t> bytes) {
  SignatureBytes signature;
  sodium.crypto_sign_detached(signature.data(), nullptr, bytes.data(), bytes.size(),
                              key.key.data());
  return signature;
}

}  // namespace

Result<KeyPair> make_key_pair() {
  SCOPEVM_ASSIGN_OR_RETURN(const Sodium* const sodium, signature::sodium());
  PublicKey public_key;
  SecretKey secret_key;
  sodium->randombytes_buf(secret_key.id.data(), secret_key.id.size());
  public_key.id = secret_key.id;
  sodium->crypto_sign_keypair(public_key.key.data(), secret_key.key.data());
  secret_key.checksum = checksum_of(*sodium, secret_key);
  const std::string id = text_of(public_key.id);
  KeyPair pair{std::string(kComment) + "scopevm public key " + id + "\n" +
                   encode(*sodium, public_key) + "\n",
               std::string(kComment) + "scopevm secret key " + id + "\n" +
                   encode(*sodium, secret_key) + "\n"};
  sodium->sodium_memzero(&secret_key, sizeof secret_key);
  return pair;
}

Result<std::string> sign(std::span<const uint8_t> file, std::string_view secret_key,
                         std::string_view trusted_comment) {
  if (trusted_comment.find_first_of("\r\n") != std::string_view::npos)
    return Status(StatusCode::kInvalidArgument, "a trusted comment has one line");
  SCOPEVM_ASSIGN_OR_RETURN(const Sodium* const sodium, signature::sodium());
  SCOPEVM_ASSIGN_OR_RETURN(SecretKey key, parse_secret_key(*sodium, secret_key));
  SignatureFile made;
  made.signature.id = key.id;
  made.signature.signature = sign_bytes(*sodium, key, digest_of(*sodium, file));
  made.trusted_comment = trusted_comment;
  made.comment_signature = sign_bytes(*sodium, key, signed_comment(made));
  sodium->sodium_memzero(&key, sizeof key);
  return print(*sodium, made);
}

}  // namespace scopevm::signature
