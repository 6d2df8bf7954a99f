#include "tools/serve/model/batch_axes.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "runtime/name_text.h"
#include "runtime/quoted.h"
#include "tools/serve/protocol/invalid.h"

namespace scopevm::serve {
namespace {

// Whether the formula of a dim contains the name.
bool has_name(std::string_view formula, const std::string& name) {
  while (!formula.empty()) {
    const std::optional<std::string> quoted = runtime::take_quoted_name(formula);
    const size_t size = quoted ? 0 : runtime::identifier_size(formula);
    if ((quoted && *quoted == name) || (size > 0 && formula.substr(0, size) == name)) return true;
    if (!quoted) formula.remove_prefix(std::max<size_t>(size, 1));
  }
  return false;
}

Result<int64_t> axis_in(const TensorSignature& tensor, const std::string& dim) {
  const bool is_whole_bytes = tensor.kind == ValueKind::kTensor && tensor.dtype != DType::kStr &&
                              elements_per_byte(tensor.dtype) == 1;
  const auto count = std::ranges::count_if(
      tensor.dims, [&](const std::string& formula) { return has_name(formula, dim); });
  const auto found = std::ranges::find(tensor.dims, runtime::name_text(dim));
  if (!is_whole_bytes || count > 1 || (count == 1 && found == tensor.dims.end()))
    return invalid("\"batch\": " + runtime::quoted(tensor.name) +
                   ": expected a tensor of numbers with at most one dim " + runtime::quoted(dim));
  return count == 0 ? BatchAxes::kNone : found - tensor.dims.begin();
}

Result<std::string> dim_of(const Signature& signature, const BatchConfig& config) {
  std::vector<std::string> proved;
  for (const DimensionSignature& dimension : signature.dimensions)
    if (dimension.is_batch) proved.push_back(dimension.name);
  if (config.dim.empty()) {
    if (proved.size() == 1) return proved.front();
    return invalid(proved.empty()
                       ? "\"batch\": the module has no batch dim"
                       : "\"batch\": the module has several batch dims: expected \"dim\"");
  }
  const bool is_dimension = std::ranges::any_of(
      signature.dimensions,
      [&](const DimensionSignature& dimension) { return dimension.name == config.dim; });
  if (!is_dimension)
    return invalid("\"batch\": the module has no dimension " + runtime::quoted(config.dim));
  if (!config.is_asserted && std::ranges::find(proved, config.dim) == proved.end())
    return invalid("\"batch\": " + runtime::quoted(config.dim) +
                   " is not a batch dim of the module; \"asserted\" permits it");
  return config.dim;
}

// Copies blocks of `bytes` from each `from_stride` to each `to_stride` bytes.
void copy_blocks(const char* from, int64_t from_stride, char* to, int64_t to_stride, int64_t bytes,
                 int64_t count) {
  if (bytes == 0) return;
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(to + i * to_stride, from + i * from_stride, static_cast<size_t>(bytes));
}

// The numbers of blocks before and the bytes of an element of the axis.
struct Layout {
  Layout(const Tensor& tensor, int64_t axis) : bytes(byte_size(tensor.dtype())) {
    const std::span<const int64_t> dims = tensor.dims();
    for (const int64_t dim : dims.first(static_cast<size_t>(axis))) blocks *= dim;
    for (const int64_t dim : dims.subspan(static_cast<size_t>(axis) + 1)) bytes *= dim;
  }
  int64_t blocks = 1;
  int64_t bytes;
};

}  // namespace

Result<BatchAxes> batch_axes(const Signature& signature, const BatchConfig& config) {
  BatchAxes axes;
  SCOPEVM_ASSIGN_OR_RETURN(axes.dim, dim_of(signature, config));
  for (const TensorSignature& input : signature.inputs) {
    SCOPEVM_ASSIGN_OR_RETURN(axes.inputs.emplace_back(), axis_in(input, axes.dim));
  }
  for (const TensorSignature& output : signature.outputs) {
    SCOPEVM_ASSIGN_OR_RETURN(axes.outputs.emplace_back(), axis_in(output, axes.dim));
  }
  return axes;
}

std::optional<int64_t> rows_in(std::span<const Tensor> inputs, const BatchAxes& axes) {
  std::optional<int64_t> rows;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const int64_t axis = axes.inputs[i];
    if (axis == BatchAxes::kNone) continue;
    if (axis >= inputs[i].rank()) return std::nullopt;
    const int64_t size = inputs[i].dims()[static_cast<size_t>(axis)];
    if (rows.value_or(size) != size) return std::nullopt;
    rows = size;
  }
  return rows;
}

bool can_join(std::span<const Tensor> a, std::span<const Tensor> b, const BatchAxes& axes) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].rank() != b[i].rank()) return false;
    for (size_t axis = 0; axis < a[i].dims().size(); ++axis)
      if (static_cast<int64_t>(axis) != axes.inputs[i] && a[i].dims()[axis] != b[i].dims()[axis])
        return false;
    if (axes.inputs[i] == BatchAxes::kNone && a[i].bytes() > 0 &&
        std::memcmp(a[i].data(), b[i].data(), static_cast<size_t>(a[i].bytes())) != 0)
      return false;
  }
  return true;
}

Result<Tensor> concatenated(std::span<const Tensor> tensors, int64_t axis) {
  const Tensor& first = tensors.front();
  if (axis == BatchAxes::kNone) return first;
  std::vector<int64_t> dims(first.dims().begin(), first.dims().end());
  int64_t& rows = dims[static_cast<size_t>(axis)];
  rows = 0;
  for (const Tensor& tensor : tensors) rows += tensor.dims()[static_cast<size_t>(axis)];
  SCOPEVM_ASSIGN_OR_RETURN(Tensor all, Tensor::allocate(first.dtype(), dims));
  const Layout layout(all, axis);
  char* to = static_cast<char*>(all.data());
  for (const Tensor& tensor : tensors) {
    const int64_t bytes = tensor.dims()[static_cast<size_t>(axis)] * layout.bytes;
    copy_blocks(static_cast<const char*>(tensor.data()), bytes, to, rows * layout.bytes, bytes,
                layout.blocks);
    to += bytes;
  }
  return all;
}

Result<Tensor> rows_of(const Tensor& tensor, int64_t axis, int64_t first, int64_t count) {
  if (axis == BatchAxes::kNone) return tensor;
  std::vector<int64_t> dims(tensor.dims().begin(), tensor.dims().end());
  const int64_t rows = std::exchange(dims[static_cast<size_t>(axis)], count);
  const Layout layout(tensor, axis);
  const char* const from = static_cast<const char*>(tensor.data()) + first * layout.bytes;
  if (layout.blocks == 1)
    return Tensor::borrow(static_cast<const void*>(from), tensor.dtype(), dims);
  SCOPEVM_ASSIGN_OR_RETURN(Tensor part, Tensor::allocate(tensor.dtype(), dims));
  copy_blocks(from, rows * layout.bytes, static_cast<char*>(part.data()), count * layout.bytes,
              count * layout.bytes, layout.blocks);
  return part;
}

}  // namespace scopevm::serve
