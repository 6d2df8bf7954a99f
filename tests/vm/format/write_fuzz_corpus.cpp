// Writes the seed corpus of the reader's fuzz target into a folder, one file per input.
#include <cstdio>
#include <fstream>
#include <string>

#include "tests/vm/format/fuzz_corpus.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: write_fuzz_corpus FOLDER\n");
    return 2;
  }
  int number = 0;
  for (const std::vector<uint8_t>& input : scopevm::format::fuzz_corpus()) {
    std::ofstream out(std::string(argv[1]) + "/sample_" + std::to_string(number++),
                      std::ios::binary);
    out.write(reinterpret_cast<const char*>(input.data()),
              static_cast<std::streamsize>(input.size()));
    if (!out) return 1;
  }
  return 0;
}
