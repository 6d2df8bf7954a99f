// Checks Ed25519 signatures of BLAKE2b digests; see verify.h.
#include "vm/signature/verify.h"

#include <algorithm>
#include <vector>

#include "vm/signature/encoding.h"

namespace scopevm::signature {
namespace {

bool is_signed_by(const Sodium& sodium, const PublicKey& key, const SignatureBytes& signature,
                  std::span<const uint8_t> bytes) {
  return sodium.crypto_sign_verify_detached(signature.data(), bytes.data(), bytes.size(),
                                            key.key.data()) == 0;
}

Result<std::vector<PublicKey>> parse_keys(const Sodium& sodium,
                                          std::span<const std::string> public_keys) {
  std::vector<PublicKey> keys;
  for (const std::string& text : public_keys) {
    SCOPEVM_ASSIGN_OR_RETURN(keys.emplace_back(), parse_public_key(sodium, text));
  }
  return keys;
}

}  // namespace

Status verify(std::span<const uint8_t> file, std::string_view signature,
              std::span<const std::string> public_keys) {
  SCOPEVM_ASSIGN_OR_RETURN(const Sodium* const sodium, signature::sodium());
  SCOPEVM_ASSIGN_OR_RETURN(std::vector<PublicKey> keys, parse_keys(*sodium, public_keys));
  SCOPEVM_ASSIGN_OR_RETURN(const SignatureFile parsed, parse_signature(*sodium, signature));
  const KeyId& id = parsed.signature.id;
  // Several keys can have one id, because it is not derived from the key.
  std::erase_if(keys, [&](const PublicKey& key) { return key.id != id; });
  if (keys.empty())
    return {StatusCode::kInvalidModel,
            "the signature is by key " + text_of(id) + ", which is not one of the public keys"};
  const Digest digest = digest_of(*sodium, file);
  const auto key = std::ranges::find_if(keys, [&](const PublicKey& key) {
    return is_signed_by(*sodium, key, parsed.signature.signature, digest);
  });
  if (key == keys.end())
    return {StatusCode::kInvalidModel, "the signature does not match the module"};
  if (!is_signed_by(*sodium, *key, parsed.comment_signature, signed_comment(parsed)))
    return {StatusCode::kInvalidModel, "the trusted comment of the signature does not match it"};
  return {};
}

Status check_public_key(std::string_view text) {
  SCOPEVM_ASSIGN_OR_RETURN(const Sodium* const sodium, signature::sodium());
  return parse_public_key(*sodium, text).status();
}

}  // namespace scopevm::signature
