// Makes keys and signs module files.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "scopevm/status.h"

namespace scopevm::signature {

// The texts of the files of a new pair of keys. The secret key is not encrypted.
struct KeyPair {
  std::string public_key;
  std::string secret_key;
};

// Errors: kNotFound (libsodium is not installed).
Result<KeyPair> make_key_pair();

// Returns the text of a signature file. Equal arguments give equal texts. The trusted comment is
// signed, too. Errors: kInvalidArgument (a malformed or encrypted key, or a comment of several
// lines), kNotFound (libsodium is not installed).
Result<std::string> sign(std::span<const uint8_t> file, std::string_view secret_key,
                         std::string_view trusted_comment);

}  // namespace scopevm::signature
