// XXH3 by the xxHash library. Only this file includes it.
#include "vm/format/binary/checksum.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace scopevm::format {

uint64_t checksum(const void* bytes, size_t size) {
  return size == 0 ? XXH3_64bits("", 0) : XXH3_64bits(bytes, size);
}

StreamingChecksum::StreamingChecksum() : state_(XXH3_createState()) {
  XXH3_64bits_reset(static_cast<XXH3_state_t*>(state_));
}
StreamingChecksum::~StreamingChecksum() { XXH3_freeState(static_cast<XXH3_state_t*>(state_)); }

void StreamingChecksum::add(const void* bytes, size_t size) {
  if (size != 0) XXH3_64bits_update(static_cast<XXH3_state_t*>(state_), bytes, size);
}

uint64_t StreamingChecksum::value() const {
  return XXH3_64bits_digest(static_cast<const XXH3_state_t*>(state_));
}

Digest digest(const void* bytes, size_t size) {
  const XXH128_hash_t hash = size == 0 ? XXH3_128bits("", 0) : XXH3_128bits(bytes, size);
  return {hash.low64, hash.high64};
}

StreamingDigest::StreamingDigest() : state_(XXH3_createState()) {
  XXH3_128bits_reset(static_cast<XXH3_state_t*>(state_));
}
StreamingDigest::~StreamingDigest() { XXH3_freeState(static_cast<XXH3_state_t*>(state_)); }

void StreamingDigest::add(const void* bytes, size_t size) {
  if (size != 0) XXH3_128bits_update(static_cast<XXH3_state_t*>(state_), bytes, size);
}

Digest StreamingDigest::value() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(static_cast<const XXH3_state_t*>(state_));
  return {hash.low64, hash.high64};
}

}  // namespace scopevm::format
