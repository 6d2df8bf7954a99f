// Access to the ONNX inputs and attributes of a node, and its errors; see node.h. build.cpp has the
// builders of graph ops.
#include "compiler/import/node/node.h"

#include "compiler/graph/type_rule.h"
#include "compiler/import/builder/constants.h"
#include "compiler/import/node/import_state.h"

namespace scopevm::compiler::frontend {

using graph::TensorType;

Node::Node(ImportState& state, const onnx::NodeProto& proto, int opset)
    : state_(state), proto_(proto), opset_(opset) {}

// --- ONNX inputs and attributes. ----------------------------------------------------------------

bool Node::has_input(size_t i) const {
  return i < input_count() && !proto_.input(static_cast<int>(i)).empty();
}

bool Node::wants_output(size_t i) const {
  return i < output_count() && !proto_.output(static_cast<int>(i)).empty();
}

Value Node::input(size_t i) {
  if (!has_input(i)) return fail("input " + llvm::Twine(i) + " is missing");
  Value found = state_.scope.find(proto_.input(static_cast<int>(i)));
  if (found && mlir::isa<TensorType>(found.getType())) return found;
  return fail("input " + llvm::Twine(i) + " is not a tensor");
}

Value Node::any_input(size_t i) {
  if (!has_input(i)) return fail("input " + llvm::Twine(i) + " is missing");
  return state_.scope.find(proto_.input(static_cast<int>(i)));
}

Value Node::input_or(size_t i, Value other) { return has_input(i) ? input(i) : other; }

llvm::SmallVector<Value> Node::inputs() {
  llvm::SmallVector<Value> all;
  if (input_count() == 0) fail("the node has no inputs, expected at least 1");
  for (size_t i = 0; i < input_count(); ++i) all.push_back(input(i));
  return all;
}

const SmallType* Node::small_type(size_t i) const {
  return has_input(i) ? state_.scope.small_type(proto_.input(static_cast<int>(i))) : nullptr;
}

bool Node::is_state(size_t i) { return has_input(i) && state_.states.contains(input(i)); }

const SmallType* Node::small_result(size_t output, Value value) const {
  if (small_results_) return output < small_results_->size() ? (*small_results_)[output] : nullptr;
  for (size_t i = 0; i < input_count(); ++i)
    if (const SmallType* type = small_type(i))
      return mlir::isa<TensorType>(value.getType()) && dtype(value) == type->carrier ? type
                                                                                     : nullptr;
  return nullptr;
}

const onnx::AttributeProto* Node::find(llvm::StringRef name) const {
  for (const onnx::AttributeProto& attribute : proto_.attribute())
    if (attribute.name() == name) return &attribute;
  return nullptr;
}

const onnx::AttributeProto* Node::attribute(llvm::StringRef name,
                                            onnx::AttributeProto::AttributeType type) {
  const onnx::AttributeProto* found = find(name);
  if (!found || found->type() == type) return found;
  // Old files omit the attribute type.
  if (found->type() == onnx::AttributeProto::UNDEFINED) return found;
  fail("attribute \"" + name + "\" is " + onnx::AttributeProto::AttributeType_Name(found->type()) +
       ", expected " + onnx::AttributeProto::AttributeType_Name(type));
  return nullptr;
}

int64_t Node::integer(llvm::StringRef name, int64_t otherwise) {
  const onnx::AttributeProto* found = attribute(name, onnx::AttributeProto::INT);
  return found ? found->i() : otherwise;
}

int64_t Node::integer(llvm::StringRef name) {
  if (!find(name)) fail("attribute \"" + name + "\" is missing");
  return integer(name, 0);
}

bool Node::flag(llvm::StringRef name, bool otherwise) {
  const int64_t value = integer(name, otherwise);
  if (value != 0 && value != 1)
    fail("attribute \"" + name + "\" is " + llvm::Twine(value) + ", expected 0 or 1");
  return value == 1;
}

float Node::number(llvm::StringRef name, float otherwise) {
  const onnx::AttributeProto* found = attribute(name, onnx::AttributeProto::FLOAT);
  return found ? found->f() : otherwise;
}

std::string Node::text(llvm::StringRef name, llvm::StringRef otherwise) {
  const onnx::AttributeProto* found = attribute(name, onnx::AttributeProto::STRING);
  return found ? found->s() : otherwise.str();
}

Ints Node::integers(llvm::StringRef name, Ints otherwise) {
  const onnx::AttributeProto* found = attribute(name, onnx::AttributeProto::INTS);
  if (!found) return otherwise;
  return Ints(found->ints().begin(), found->ints().end());
}

llvm::SmallVector<float> Node::numbers(llvm::StringRef name) {
  const onnx::AttributeProto* found = attribute(name, onnx::AttributeProto::FLOATS);
  if (!found) return {};
  return llvm::SmallVector<float>(found->floats().begin(), found->floats().end());
}

std::vector<std::string> Node::strings(llvm::StringRef name) {
  const onnx::AttributeProto* found = attribute(name, onnx::AttributeProto::STRINGS);
  if (!found) return {};
  return {found->strings().begin(), found->strings().end()};
}

const onnx::GraphProto* Node::graph(llvm::StringRef name) {
  const onnx::AttributeProto* found = attribute(name, onnx::AttributeProto::GRAPH);
  if (!found) fail("attribute \"" + name + "\" is missing");
  return found ? &found->g() : nullptr;
}

// --- Types. -------------------------------------------------------------------------------------

TensorType Node::type(Value value) const {
  if (value) return mlir::cast<TensorType>(value.getType());
  // A value is null after an error. Handlers may read its type without a check.
  return TensorType::get(builder().getContext(), DType::kF32, llvm::ArrayRef<DimExpr>());
}

DimExpr Node::dim(Value value, int64_t axis) {
  if (axis >= 0 && axis < rank(value)) return type(value).getDim(axis);
  fail("expected rank " + llvm::Twine(axis < 0 ? rank(value) - axis : axis + 1) +
       " or more, given " + graph::text_of(type(value)));
  return 1;
}

int64_t Node::axis(int64_t axis, int64_t rank) {
  if (axis >= -rank && axis < rank) return axis < 0 ? axis + rank : axis;
  if (rank == 0)
    fail("axis " + llvm::Twine(axis) + " is out of range: a scalar has no axes");
  else
    fail("axis " + llvm::Twine(axis) + " is out of range [-" + llvm::Twine(rank) + ", " +
         llvm::Twine(rank) + ") for rank " + llvm::Twine(rank));
  return 0;
}

Ints Node::axes(Ints axes, int64_t rank) {
  for (int64_t& entry : axes) entry = axis(entry, rank);
  if (has_failed()) return {};
  llvm::sort(axes);
  if (auto twice = std::adjacent_find(axes.begin(), axes.end()); twice != axes.end())
    return fail("axis " + llvm::Twine(*twice) + " is given twice"), Ints();
  return axes;
}

// --- Compile-time contents. ---------------------------------------------------------------------

std::string Node::input_name(Value value) const {
  for (int i = 0; i < proto_.input_size(); ++i)
    if (!proto_.input(i).empty() && state_.scope.find(proto_.input(i)) == value)
      return "input " + std::to_string(i) + " \"" + proto_.input(i) + "\"";
  return "the value";
}

bool Node::is_known(Value value) { return value && builder().known(value); }

bool Node::is_known(Value value, int64_t number) {
  const auto* elements = builder().known(value);
  return elements && elements->size() == 1 && elements->front().is_constant(number);
}

llvm::SmallVector<Node::SignedDim> Node::signed_dims_of(Value value, llvm::StringRef what,
                                                        Sign sign) {
  // Longer tensors are treated as data, not as shapes.
  constexpr int64_t kMostElements = 64;
  llvm::SmallVector<SignedDim> dims;
  if (!value || has_failed()) return dims;
  if (const auto* known = builder().known(value)) {
    for (DimExpr dim : *known) dims.push_back({dim, 0});
    return dims;
  }
  std::optional<int64_t> count = element_count(shape(value)).as_constant();
  if (rank(value) > 1 || !count || *count > kMostElements || is_float(dtype(value)) ||
      dtype(value) == DType::kStr) {
    unsupported(what + " is data-dependent: " + input_name(value) + " is " +
                graph::text_of(type(value)) +
                ", expected integers of rank 0 or 1 with a constant size of at most " +
                llvm::Twine(kMostElements));
    return dims;
  }
  // A size from outside of a loop is the same in all iterations. It is checked in the loop, which
  // may have no iteration.
  const bool is_checked = sign == Sign::kSize && builder().is_outside(value) &&
                          !builder().has_read(value, /*is_signed=*/false);
  const bool is_signed = sign == Sign::kAny || is_checked;
  graph::ReadDimsOp read = builder().read_dims(value, *count, is_signed);
  for (llvm::StringRef symbol : read.getSymbols().getAsValueRange<mlir::StringAttr>()) {
    const DimExpr negative = is_signed ? DimExpr::symbol(symbol.str() + ".neg") : DimExpr(0);
    if (is_checked)
      require_equal(negative, 0, (what + " has the element -{0}, expected at least 0").str());
    dims.push_back({DimExpr::symbol(symbol.str()), is_checked ? DimExpr(0) : negative});
  }
  return dims;
}

Dims Node::dims_of(Value value, llvm::StringRef what, Sign sign) {
  Dims dims;
  for (SignedDim dim : signed_dims_of(value, what, sign))
    dims.push_back(dim.positive - dim.negative);
  return dims;
}

Ints Node::integers_of(Value value, llvm::StringRef what) {
  Ints numbers;
  if (value && !is_known(value))
    return unsupported(what + " is data-dependent: " + input_name(value) +
                       " must be known at compile time"),
           numbers;
  for (DimExpr dim : dims_of(value, what)) {
    if (!dim.is_constant())
      return unsupported(what + " is " + dim.str() + ", expected a constant number"), Ints();
    numbers.push_back(*dim.as_constant());
  }
  return numbers;
}

llvm::SmallVector<float> Node::numbers_of(Value value, llvm::StringRef what) {
  if (!value) return {};
  auto op = value.getDefiningOp<graph::ConstantOp>();
  if (!op || (dtype(value) != DType::kF32 && dtype(value) != DType::kF64)) {
    unsupported(what + " is data-dependent: " + input_name(value) +
                " must be known at compile time");
    return {};
  }
  return float_elements(op);
}

// --- Errors. ------------------------------------------------------------------------------------

std::nullptr_t Node::fail(const llvm::Twine& message) {
  if (!has_failed()) status_ = Status(StatusCode::kInvalidModel, message.str());
  return nullptr;
}

std::nullptr_t Node::unsupported(const llvm::Twine& message) {
  if (!has_failed()) status_ = Status(StatusCode::kUnsupported, message.str());
  return nullptr;
}

std::nullptr_t Node::fail(Status status) {
  if (!has_failed()) status_ = std::move(status);
  return nullptr;
}

}  // namespace scopevm::compiler::frontend
