#include "tests/property/check/divide.h"

#include <algorithm>

namespace scopevm::compiler::property {
namespace {

// Elements [first, first + count) along the axis with the dim. An array without it is whole.
Array rows_of(const Array& array, const TensorSignature& type, const std::string& dim,
              int64_t first, int64_t count) {
  const auto found = std::ranges::find(type.dims, dim);
  if (found == type.dims.end()) return array;
  const auto axis = static_cast<size_t>(found - type.dims.begin());
  std::vector<int64_t> dims = array.dims;
  dims[axis] = count;
  Array part = make_array(array.dtype, dims);
  size_t position = 0;
  for_each_index(dims, [&](Index index) {
    index[axis] += first;
    part.elements[position++] = array.elements[static_cast<size_t>(offset_of(array.dims, index))];
  });
  return part;
}

Expectation part_of(const Expectation& whole, const Signature& signature, const std::string& dim,
                    int64_t first, int64_t count) {
  Expectation part;
  part.request.symbols = whole.request.symbols;
  part.request.symbols[dim] = count;
  for (size_t i = 0; i < whole.request.inputs.size(); ++i)
    part.request.inputs.push_back(
        rows_of(whole.request.inputs[i], signature.inputs[i], dim, first, count));
  for (size_t i = 0; i < whole.results.size(); ++i)
    part.results.push_back(rows_of(whole.results[i], signature.outputs[i], dim, first, count));
  return part;
}

}  // namespace

std::vector<Expectation> parts_of(const Expectation& whole, const Signature& signature) {
  std::vector<Expectation> parts;
  for (const DimensionSignature& dimension : signature.dimensions) {
    const int64_t rows = whole.request.symbols.at(dimension.name);
    if (!dimension.is_batch || rows < 2) continue;
    const int64_t first = (rows + 1) / 3;
    parts.push_back(part_of(whole, signature, dimension.name, 0, first));
    parts.push_back(part_of(whole, signature, dimension.name, first, rows - first));
  }
  return parts;
}

}  // namespace scopevm::compiler::property
