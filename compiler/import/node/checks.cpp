// Checks of inputs and attributes; see checks.h.
#include "compiler/import/node/checks.h"

#include "compiler/graph/type_rule.h"

namespace scopevm::compiler::frontend {

Value shaped(Node& n, Value x, llvm::StringRef what, const Dims& dims) {
  if (!x || n.has_failed()) return {};
  bool fits = n.rank(x) == static_cast<int64_t>(dims.size());
  for (size_t axis = 0; fits && axis < dims.size(); ++axis) {
    const DimExpr dim = n.shape(x)[axis];
    // Dims with a constant difference other than 0 are never equal. Other dims are compared in each
    // call.
    fits = dim == dims[axis] || !(dim - dims[axis]).is_constant();
  }
  if (fits) return n.reshape(x, dims);
  return n.fail(what + " is " + graph::text_of(n.type(x)) + ", expected " +
                graph::text_of(n.type(x).withShape(dims))),
         Value();
}

Value shaped_input(Node& n, size_t i, llvm::StringRef what, const Dims& dims) {
  return n.has_input(i) ? shaped(n, n.input(i), what, dims) : Value();
}

bool check_dtype(Node& n, Value x, llvm::StringRef what, std::initializer_list<DType> expected) {
  if (n.has_failed()) return false;
  if (llvm::is_contained(expected, n.dtype(x))) return true;
  std::string names;
  for (const DType dtype : expected)
    names += (names.empty() ? "" : " or ") + std::string(scopevm::name(dtype));
  n.fail(what + " is " + graph::text_of(n.type(x)) + ", expected element type " + names);
  return false;
}

bool check_rank(Node& n, Value x, llvm::StringRef what, int64_t least, int64_t most) {
  if (n.has_failed()) return false;
  if (n.rank(x) >= least && n.rank(x) <= most) return true;
  const std::string range =
      std::to_string(least) + (most == least ? "" : " to " + std::to_string(most));
  n.fail(what + " is " + graph::text_of(n.type(x)) + ", expected rank " + range);
  return false;
}

std::nullptr_t missing_attribute(Node& n, llvm::StringRef name) {
  return n.fail("attribute \"" + name + "\" is missing");
}

int64_t integer_within(Node& n, llvm::StringRef name, int64_t otherwise, int64_t least,
                       int64_t most) {
  const int64_t value = n.integer(name, otherwise);
  if (value >= least && value <= most) return value;
  n.fail(name + " is " + llvm::Twine(value) + ", expected " + llvm::Twine(least) + " to " +
         llvm::Twine(most));
  return least;
}

int64_t required_within(Node& n, llvm::StringRef name, int64_t least, int64_t most) {
  if (!n.has_attribute(name)) missing_attribute(n, name);
  return integer_within(n, name, least, least, most);
}

Value to_channels_first(Node& n, Value x) {
  return n.rank(x) < 3 ? x : n.move_axis(x, n.rank(x) - 1, 1);
}

Value to_channels_last(Node& n, Value x) {
  return n.rank(x) < 3 ? x : n.move_axis(x, 1, n.rank(x) - 1);
}

}  // namespace scopevm::compiler::frontend
