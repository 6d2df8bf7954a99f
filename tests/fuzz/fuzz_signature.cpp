// Fuzz target: the text of a signature or of a public key -> verify(). No text may crash it, and
// none is accepted.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "tests/vm/signature/minisign_files.h"
#include "vm/signature/verify.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace scopevm::signature;
  constexpr std::string_view kFile = "another module";  // not the file that kSignature signs
  const std::span file(reinterpret_cast<const uint8_t*>(kFile.data()), kFile.size());
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::string key = kPublicKey;
  if (verify(file, text, {&key, 1}).ok()) std::abort();
  if (verify(file, kSignature, {&text, 1}).ok()) std::abort();
  return 0;
}
