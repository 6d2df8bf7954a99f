// Reads version 1 of the .npy format: magic number, version, header length, a Python dictionary,
// elements. Does not check the version or the member `fortran_order`.
#include "tests/models/npy_file.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

namespace scopevm {

Tensor read_floats(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (bytes.size() < 10 || bytes.compare(1, 5, "NUMPY") != 0) {
    ADD_FAILURE() << path << ": not an npy file";
    return {};
  }
  size_t header_end = 10 + static_cast<unsigned char>(bytes[8]) +
                      256 * static_cast<size_t>(static_cast<unsigned char>(bytes[9]));
  std::string header = bytes.substr(10, header_end - 10);
  EXPECT_NE(header.find("'<f4'"), std::string::npos) << path;
  std::vector<int64_t> dims;
  size_t at = header.find("'shape': (") + std::strlen("'shape': (");
  while (at < header.size() && header[at] != ')') {
    char* end = nullptr;
    dims.push_back(std::strtoll(header.c_str() + at, &end, 10));
    at = static_cast<size_t>(end - header.c_str());
    while (header[at] == ',' || header[at] == ' ') ++at;
  }
  Result<Tensor> tensor = Tensor::allocate(DType::kF32, dims);
  if (!tensor.ok() || header_end + static_cast<size_t>(tensor->bytes()) != bytes.size()) {
    ADD_FAILURE() << path << ": size does not fit the shape";
    return {};
  }
  std::memcpy(tensor->data(), bytes.data() + header_end, static_cast<size_t>(tensor->bytes()));
  return *std::move(tensor);
}

}  // namespace scopevm
