// The builders of graph ops that the handlers of nodes use; see node.h.
#include "compiler/graph/type_rule.h"
#include "compiler/import/builder/constants.h"
#include "compiler/import/node/import_state.h"
#include "compiler/import/node/node.h"

namespace scopevm::compiler::frontend {

using graph::TensorType;

GraphBuilder& Node::builder() const { return state_.builder; }

const std::string& Node::path() const { return state_.path; }

BranchChoices& Node::choices() { return state_.choices; }
bool Node::float_products() const { return state_.float_products; }

const ScaledSums* Node::product_of(Value value) const {
  const auto found = state_.products.find(value);
  return found == state_.products.end() ? nullptr : &found->second;
}

void Node::set_product(Value value, const ScaledSums& product) {
  if (value) state_.products[value] = product;
}

Result<llvm::SmallVector<Value>> Node::import_subgraph(const onnx::GraphProto& graph,
                                                       llvm::ArrayRef<Value> inputs) {
  SCOPEVM_ASSIGN_OR_RETURN(SubgraphOutputs outputs, state_.import_subgraph(graph, {inputs, {}}));
  return std::move(outputs.values);
}

Result<llvm::SmallVector<Value>> Node::import_body(const onnx::GraphProto& graph,
                                                   llvm::ArrayRef<Value> inputs,
                                                   Positions positions) {
  SmallTypes types(positions.first_graph_input, nullptr);
  for (size_t i = positions.first_input; types.size() < inputs.size(); ++i)
    types.push_back(small_type(i));
  SCOPEVM_ASSIGN_OR_RETURN(SubgraphOutputs outputs, state_.import_subgraph(graph, {inputs, types}));
  set_small_results(llvm::ArrayRef(outputs.small_types)
                        .drop_front(std::min(positions.first_output, outputs.small_types.size())));
  return std::move(outputs.values);
}

mlir::NamedAttribute Node::attr(llvm::StringRef name, mlir::Attribute value) {
  return builder().getNamedAttr(name, value);
}
mlir::NamedAttribute Node::attr(llvm::StringRef name, int64_t value) {
  return attr(name, builder().getI64IntegerAttr(value));
}
mlir::NamedAttribute Node::attr(llvm::StringRef name, bool value) {
  return attr(name, builder().getBoolAttr(value));
}
mlir::NamedAttribute Node::attr(llvm::StringRef name, float value) {
  return attr(name, builder().getF32FloatAttr(value));
}
mlir::NamedAttribute Node::attr(llvm::StringRef name, const char* value) {
  return attr(name, llvm::StringRef(value));
}
mlir::NamedAttribute Node::attr(llvm::StringRef name, llvm::StringRef value) {
  return attr(name, builder().getStringAttr(value));
}
mlir::NamedAttribute Node::attr(llvm::StringRef name, llvm::ArrayRef<int64_t> value) {
  return attr(name, builder().getDenseI64ArrayAttr(value));
}
mlir::NamedAttribute Node::attr(llvm::StringRef name, const Ints& value) {
  return attr(name, llvm::ArrayRef<int64_t>(value));
}
mlir::NamedAttribute Node::attr(llvm::StringRef name, llvm::ArrayRef<float> value) {
  return attr(name, builder().getDenseF32ArrayAttr(value));
}
mlir::NamedAttribute Node::attr(llvm::StringRef name, const Dims& value) {
  return attr(name, graph::DimsAttr::get(builder().getContext(), value));
}

mlir::Operation* Node::emit(llvm::StringRef op_name, Operands operands, Attributes attributes) {
  if (has_failed()) return nullptr;
  if (llvm::is_contained(operands, Value()))
    return fail("internal error: an operand of " + op_name + " is not defined");
  mlir::Operation* op = builder().emit(op_name, operands, attributes);
  return op ? op : fail(builder().take_errors());
}

Value Node::scalar(double value, DType dtype) {
  return has_failed() ? Value() : make_scalar(builder(), value, dtype);
}

Value Node::constant(const onnx::TensorProto& tensor) {
  if (has_failed()) return {};
  Result<TensorBytes> bytes = tensor_bytes(tensor, state_.file);
  if (!bytes.ok()) {
    status_ = bytes.status();
    return {};
  }
  return make_constant(builder(), *bytes, tensor.name());
}

Value Node::constant(llvm::ArrayRef<int64_t> shape, DType dtype, const std::vector<char>& bytes) {
  if (has_failed()) return {};
  auto owner = std::make_shared<std::vector<char>>(bytes);
  TensorBytes tensor{dtype, {shape.begin(), shape.end()}, owner->data(), owner->size(), owner, {}};
  return make_constant(builder(), tensor, "");
}

Value Node::constant(const Ints& values) {
  const char* bytes = reinterpret_cast<const char*>(values.data());
  return constant({static_cast<int64_t>(values.size())}, DType::kI64,
                  std::vector<char>(bytes, bytes + values.size() * 8));
}

Value Node::constant(llvm::ArrayRef<float> values) {
  const char* bytes = reinterpret_cast<const char*>(values.data());
  return constant({static_cast<int64_t>(values.size())}, DType::kF32,
                  std::vector<char>(bytes, bytes + values.size() * 4));
}

Value Node::constant(const std::vector<std::string>& strings) {
  if (has_failed()) return {};
  TensorBytes tensor{DType::kStr, {static_cast<int64_t>(strings.size())}, nullptr, 0, nullptr,
                     strings};
  return make_constant(builder(), tensor, "");
}

Value Node::dims_value(const Dims& dims, bool is_scalar) {
  if (has_failed()) return {};
  GraphBuilder& builder = this->builder();
  llvm::SmallVector<DimExpr> shape;
  if (!is_scalar) shape.push_back(static_cast<int64_t>(dims.size()));
  auto type = TensorType::get(builder.getContext(), DType::kI64, shape);
  return graph::materialise(builder, builder.getLoc(), type, dims);
}

Value Node::reshape(Value x, const Dims& dims) {
  if (x && shape(x) == llvm::ArrayRef<DimExpr>(dims)) return x;
  return emit<graph::ReshapeOp>({x}, {attr("dims", dims)});
}

Value Node::transpose(Value x, const Ints& permutation) {
  return emit<graph::TransposeOp>({x}, {attr("permutation", permutation)});
}

Value Node::cast(Value x, DType to) {
  if (!x || dtype(x) == to) return x;
  std::string_view target = name(to);
  auto attribute = attr("to", llvm::StringRef(target.data(), target.size()));
  if (to == DType::kStr) return emit<graph::NumberToStringOp>({x});
  if (dtype(x) == DType::kStr) return emit<graph::StringToNumberOp>({x}, {attribute});
  return emit<graph::CastOp>({x}, {attribute});
}

Value Node::unsqueeze(Value x, Ints axes) {
  axes = this->axes(axes, rank(x) + static_cast<int64_t>(axes.size()));
  if (has_failed()) return {};
  Dims dims(shape(x));
  for (int64_t axis : axes) dims.insert(dims.begin() + axis, DimExpr(1));
  return reshape(x, dims);
}

Value Node::move_axis(Value x, int64_t from, int64_t to) {
  if (from == to || has_failed()) return x;
  Ints permutation = first_axes(rank(x));
  permutation.erase(permutation.begin() + from);
  permutation.insert(permutation.begin() + to, from);
  return transpose(x, permutation);
}

Value Node::slice(Value x, const Dims& starts, const Dims& sizes, Ints steps) {
  if (steps.empty()) steps.assign(starts.size(), 1);
  return emit<graph::SliceOp>({x},
                              {attr("starts", starts), attr("sizes", sizes), attr("steps", steps)});
}

Value Node::concat(Operands parts, int64_t axis) {
  return parts.size() == 1 ? parts[0] : emit<graph::ConcatOp>(parts, {attr("axis", axis)});
}

Value Node::pad(Value x, const Dims& pads, Value value) {
  llvm::SmallVector<Value> operands = {x};
  if (value) operands.push_back(value);
  return emit<graph::PadOp>(operands, {attr("pads", pads), attr("mode", "constant")});
}

Value Node::expand(Value x, const Dims& dims) {
  if (x && shape(x) == llvm::ArrayRef<DimExpr>(dims)) return x;
  return emit<graph::ExpandOp>({x}, {attr("dims", dims)});
}

Value Node::reduce_mean(Value x, const Ints& axes) {
  return emit<graph::ReduceMeanOp>({x}, {attr("axes", axes), attr("keep_dims", true)});
}

Value Node::reduce_sum(Value x, const Ints& axes) {
  return emit<graph::ReduceSumOp>({x}, {attr("axes", axes), attr("keep_dims", true)});
}

llvm::SmallVector<Value> Node::loop(
    DimExpr trip_count, Operands initial,
    llvm::function_ref<Iteration(DimExpr index, mlir::ValueRange carried)> body) {
  if (has_failed()) return {};
  auto results = control_flow().loop(
      trip_count, initial, [&](DimExpr index, mlir::ValueRange carried) -> Result<Iteration> {
        Iteration iteration = body(index, carried);
        if (has_failed()) return status_;
        return iteration;
      });
  if (results.ok()) return *std::move(results);
  status_ = results.status();
  return {};
}

void Node::require(graph::RequireKind kind, DimExpr a, DimExpr b, llvm::StringRef message) {
  if (has_failed()) return;
  GraphBuilder& builder = this->builder();
  builder.create<graph::RequireOp>(graph::DimsAttr::get(builder.getContext(), {a, b}), kind,
                                   builder.getStringAttr(message));
}

namespace {

std::string with_values(llvm::StringRef message, DimExpr a, DimExpr b) {
  std::string text = message.str();
  for (auto [mark, dim] : {std::pair("{0}", a), std::pair("{1}", b)})
    if (size_t at = text.find(mark); at != std::string::npos) text.replace(at, 3, dim.str());
  return text;
}

}  // namespace

void Node::require(Value condition, llvm::StringRef message) {
  if (has_failed()) return;
  GraphBuilder& builder = this->builder();
  builder.create<graph::AssertOp>(condition, builder.getStringAttr(message));
}

void Node::require_equal(DimExpr a, DimExpr b, llvm::StringRef message) {
  if (a == b) return;
  if (a.is_constant() && b.is_constant())
    fail(with_values(message, a, b));
  else
    require(graph::RequireKind::kEqual, a, b, message);
}

void Node::require_at_least(DimExpr a, DimExpr b, llvm::StringRef message) {
  const DimInterval more = interval_of(a - b);
  if (more.min >= 0) return;
  if (more.max < 0)
    fail(with_values(message, a, b));
  else
    require(graph::RequireKind::kAtLeast, a, b, message);
}

}  // namespace scopevm::compiler::frontend
