// Checks the signature of a module file.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "scopevm/status.h"

namespace scopevm::signature {

// The file of a module's signature is that of the module with this suffix.
inline constexpr char kSuffix[] = ".sig";

// Succeeds if one of the public keys has signed the file. `signature` and `public_keys` are the
// texts of files of minisign. Thread-safe. Errors: kInvalidModel (the signature is by another key,
// or of another file), kInvalidArgument (a malformed key or signature), kNotFound (libsodium is not
// installed).
Status verify(std::span<const uint8_t> file, std::string_view signature,
              std::span<const std::string> public_keys);

// Checks the text of the file of a public key. Errors: kInvalidArgument (a malformed key),
// kNotFound (libsodium is not installed).
Status check_public_key(std::string_view text);

}  // namespace scopevm::signature
