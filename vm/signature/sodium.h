// The functions of libsodium, loaded when they are first needed: no program of this project links
// libsodium (docs/decisions/0021-signatures.md). Only the files of this folder include this header.
#pragma once

#include <sodium.h>

#include "scopevm/status.h"

#define SCOPEVM_SODIUM_FUNCTIONS(F) \
  F(sodium_init)                    \
  F(sodium_memzero)                 \
  F(sodium_bin2base64)              \
  F(sodium_base642bin)              \
  F(randombytes_buf)                \
  F(crypto_generichash)             \
  F(crypto_generichash_init)        \
  F(crypto_generichash_update)      \
  F(crypto_generichash_final)       \
  F(crypto_sign_keypair)            \
  F(crypto_sign_detached)           \
  F(crypto_sign_verify_detached)

namespace scopevm::signature {

struct Sodium {
#define SCOPEVM_SODIUM_POINTER(name) decltype(&::name) name = nullptr;
  SCOPEVM_SODIUM_FUNCTIONS(SCOPEVM_SODIUM_POINTER)
#undef SCOPEVM_SODIUM_POINTER
};

// Returns the initialised library. Thread-safe. Errors: kNotFound (the library is not installed),
// kInternal (it cannot be initialised).
Result<const Sodium*> sodium();

}  // namespace scopevm::signature
