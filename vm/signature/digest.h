// The digest of the file of weights of a module (vm/format/binary/weights.h).
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "scopevm/status.h"

namespace scopevm::signature {

// BLAKE2b with 256 bits of a sequence of pieces, as `b2sum -l 256` prints it. A signature of a
// module covers the digest, and thereby the weights. Thread-safe. Errors: kNotFound (libsodium is
// not installed).
Result<std::array<uint8_t, 32>> digest_of(std::span<const std::span<const uint8_t>> pieces);

}  // namespace scopevm::signature
