// Builds a Space: classifies each operand's motion per dim, then merges dims.
#include "compiler/kernels/elementwise/space.h"

#include <algorithm>

#include "compiler/kernels/builder/kernel_builder.h"

namespace scopevm::compiler::kernels {
namespace {

// The number of simple operations per task. A task takes several microseconds. That is much longer
// than the overhead of oneTBB: 0.3 us for a loop of two tasks.
constexpr int64_t kTaskOperations = 1 << 15;

std::vector<AxisAccess> access_of(llvm::ArrayRef<DimExpr> dims, llvm::ArrayRef<DimExpr> shape) {
  std::vector<AxisAccess> axes(dims.size());
  DimExpr stride = 1;
  for (size_t back = 1; back <= dims.size(); ++back) {
    size_t axis = dims.size() - back;
    if (back > shape.size() || shape[shape.size() - back].is_constant(1)) {
      axes[axis] = {Motion::kBroadcast, 0};
      continue;
    }
    DimExpr dim = shape[shape.size() - back];
    if (dim == dims[axis])
      axes[axis] = {Motion::kFull, stride};
    else
      // The operand's dim is 1 or equals the dim of the space. For dim 1, the factor is 0, which
      // gives the stride of a broadcast. For larger dims, the factor is 1. For dim 0, the space is
      // empty and the stride is not used.
      axes[axis] = {Motion::kUnknown, stride * min(dim - 1, 1)};
    stride = stride * dim;
  }
  return axes;
}

bool joinable(const Space& space, size_t inner) {
  if (space.tags[inner - 1] != space.tags[inner]) return false;
  return std::all_of(space.operands.begin(), space.operands.end(), [&](const auto& axes) {
    return axes[inner].motion == axes[inner - 1].motion && axes[inner].motion != Motion::kUnknown;
  });
}

}  // namespace

bool Space::is_linear(size_t operand) const {
  return std::all_of(operands[operand].begin(), operands[operand].end(),
                     [](const AxisAccess& axis) { return axis.motion == Motion::kFull; });
}

void Space::require_inner(int tag) {
  if (!tags.empty() && tags.back() == tag) return;
  dims.push_back(1);
  tags.push_back(tag);
  for (auto& axes : operands) axes.push_back({Motion::kBroadcast, 0});
}

Space make_space(llvm::ArrayRef<DimExpr> dims, llvm::ArrayRef<int> tags,
                 llvm::ArrayRef<llvm::ArrayRef<DimExpr>> shapes) {
  Space all;
  all.dims.assign(dims.begin(), dims.end());
  all.tags.assign(tags.begin(), tags.end());
  for (llvm::ArrayRef<DimExpr> shape : shapes) all.operands.push_back(access_of(dims, shape));
  Space space;
  space.operands.resize(shapes.size());
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis].is_constant(1)) continue;
    space.dims.push_back(dims[axis]);
    space.tags.push_back(tags[axis]);
    for (size_t i = 0; i < shapes.size(); ++i) space.operands[i].push_back(all.operands[i][axis]);
    size_t last = space.dims.size() - 1;
    if (last == 0 || !joinable(space, last)) continue;
    space.dims[last - 1] = space.dims[last - 1] * space.dims[last];
    space.dims.pop_back();
    space.tags.pop_back();
    for (auto& axes : space.operands) {
      // A step along the merged dim has the stride of the inner dim.
      axes[last - 1].stride = axes[last].stride;
      axes.pop_back();
    }
  }
  if (space.dims.empty()) space.require_inner(tags.empty() ? 0 : tags.back());
  return space;
}

DimExpr grain_of_operations(DimExpr elements, int64_t cost) {
  int64_t operations = std::max<int64_t>(kTaskOperations / std::max<int64_t>(cost, 1), 1);
  return grain_of(operations, elements);
}

}  // namespace scopevm::compiler::kernels
