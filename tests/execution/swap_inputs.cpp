// Prints the first recording with the inputs of the second one: a recording whose replay differs.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <vector>

#include "tools/execution/recording.h"

namespace {

scopevm::Result<scopevm::tool::Recording> read(const char* path) {
  std::ifstream in(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
  return scopevm::tool::read_recording(
      {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  auto first = read(argv[1]), second = read(argv[2]);
  if (!first.ok() || !second.ok()) return 1;
  first->inputs = second->inputs;
  const std::vector<uint8_t> bytes = scopevm::tool::write_recording(*first);
  std::fwrite(bytes.data(), 1, bytes.size(), stdout);
}
