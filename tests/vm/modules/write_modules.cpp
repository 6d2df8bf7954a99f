// Writes modules of test_modules.h to a folder, for the tests of the C API and the installed
// package.
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "tests/vm/modules/test_modules.h"

namespace {

bool write(const std::string& path, const scopevm::format::ModuleContents& contents) {
  const std::vector<uint8_t> bytes = scopevm::test::file_of(contents);
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  return file.good();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string folder = argv[1];
  scopevm::format::ModuleContents emulated = scopevm::test::sum_contents();
  for (scopevm::format::PoolDecl& pool : emulated.pools)
    pool.speed.read_bytes_per_second = pool.speed.write_bytes_per_second = 1e9;
  return write(folder + "/sum.bc", scopevm::test::sum_contents()) &&
                 write(folder + "/emulated.bc", emulated) &&
                 write(folder + "/external.bc", scopevm::test::external_contents()) &&
                 write(folder + "/sequence.bc", scopevm::test::sequence_contents()) &&
                 write(folder + "/string_sequence.bc",
                       scopevm::test::sequence_contents(scopevm::DType::kStr)) &&
                 write(folder + "/upper.bc", scopevm::test::upper_contents())
             ? 0
             : 1;
}
