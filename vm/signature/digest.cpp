// Computes BLAKE2b with libsodium; see digest.h.
#include "vm/signature/digest.h"

#include "vm/signature/sodium.h"

namespace scopevm::signature {

Result<std::array<uint8_t, 32>> digest_of(std::span<const std::span<const uint8_t>> pieces) {
  SCOPEVM_ASSIGN_OR_RETURN(const Sodium* const sodium, signature::sodium());
  std::array<uint8_t, 32> digest;
  crypto_generichash_state state;
  sodium->crypto_generichash_init(&state, nullptr, 0, digest.size());
  for (const std::span<const uint8_t> piece : pieces)
    sodium->crypto_generichash_update(&state, piece.data(), piece.size());
  sodium->crypto_generichash_final(&state, digest.data(), digest.size());
  return digest;
}

}  // namespace scopevm::signature
