// One ONNX node during import: access to its inputs and attributes, and builders for graph ops.
//
// A handler is a function that imports one ONNX op. Errors are sticky: after the first error,
// accessors return default values and builders return null. The importer reports the first error
// with the node's name. A handler therefore needs no error checks for a plain formula:
//
//   Value softsign(Node& n) {
//     Value x = n.input(0);
//     return n.emit<DivOp>({x, n.emit<AddOp>({n.emit<AbsOp>({x}), n.scalar(1, x)})});
//   }
#pragma once

#include <onnx/onnx_pb.h>

#include "compiler/import/builder/control_flow.h"
#include "compiler/import/builder/lists.h"
#include "compiler/import/model/small_types.h"
#include "llvm/ADT/Sequence.h"
#include "scopevm/status.h"

namespace scopevm::compiler::frontend {

using mlir::Value;
using Dims = llvm::SmallVector<DimExpr>;
using Ints = llvm::SmallVector<int64_t>;

// 0, 1, ..., count - 1.
inline Ints first_axes(int64_t count) { return llvm::to_vector(llvm::seq<int64_t>(0, count)); }

// The return value of a handler: the node's outputs in order. An output that the handler does not
// build is null or missing at the end.
class Values {
 public:
  Values() = default;
  Values(Value value) : values_{value} {}
  Values(std::nullptr_t) : values_{Value()} {}  // of Node::fail()
  Values(mlir::ValueRange values) : values_(values) {}
  Values(std::initializer_list<Value> values) : values_(values) {}
  llvm::ArrayRef<Value> get() const { return values_; }

 private:
  llvm::SmallVector<Value> values_;
};

class BranchChoices;
struct ImportState;
struct ScaledSums;

class Node {
 public:
  Node(ImportState& state, const onnx::NodeProto& proto, int opset);

  // --- ONNX inputs and attributes. ---
  const onnx::NodeProto& proto() const { return proto_; }
  int opset() const { return opset_; }
  // Names the node, also in an inner graph or function: ImportState::path.
  const std::string& path() const;
  size_t input_count() const { return static_cast<size_t>(proto_.input_size()); }
  size_t output_count() const { return static_cast<size_t>(proto_.output_size()); }
  bool has_input(size_t i) const;
  bool wants_output(size_t i) const;
  Value input(size_t i);                  // error if absent or a list
  Value input_or(size_t i, Value other);  // `other` if absent
  llvm::SmallVector<Value> inputs();      // all inputs; error if one is absent or a list
  Value any_input(size_t i);              // a tensor, sequence or optional; error if absent

  // The small type whose carriers the input has (model/small_types.h); null if it has none.
  const SmallType* small_type(size_t i) const;
  // Whether the input is one of the model that option "state" ties to an output.
  bool is_state(size_t i);
  // Sets the small types of the first outputs; the others have none. Without a call, an output
  // whose element type is the carrier of an input's small type has this small type.
  void set_small_results(llvm::ArrayRef<const SmallType*> types) { small_results_.emplace(types); }
  void set_small_result(const SmallType* type) { set_small_results({type}); }
  // The small type of an output with this value.
  const SmallType* small_result(size_t output, Value value) const;

  bool has_attribute(llvm::StringRef name) const { return find(name) != nullptr; }
  int64_t integer(llvm::StringRef name, int64_t otherwise);
  int64_t integer(llvm::StringRef name);            // error if absent
  bool flag(llvm::StringRef name, bool otherwise);  // error if neither 0 nor 1
  float number(llvm::StringRef name, float otherwise);
  std::string text(llvm::StringRef name, llvm::StringRef otherwise);
  Ints integers(llvm::StringRef name, Ints otherwise = {});
  llvm::SmallVector<float> numbers(llvm::StringRef name);
  std::vector<std::string> strings(llvm::StringRef name);
  const onnx::GraphProto* graph(llvm::StringRef name);  // error and null if absent
  const onnx::AttributeProto* attribute(llvm::StringRef name,
                                        onnx::AttributeProto::AttributeType type);

  // --- Types: f32[] for a null value. ---
  graph::TensorType type(Value value) const;
  DType dtype(Value value) const { return type(value).getDtype(); }
  int64_t rank(Value value) const { return type(value).getRank(); }
  llvm::ArrayRef<DimExpr> shape(Value value) const { return type(value).getShape(); }
  DimExpr dim(Value value, int64_t axis);  // error if there is no such axis
  // Normalises an axis in [-rank, rank) to [0, rank).
  int64_t axis(int64_t axis, int64_t rank);
  Ints axes(Ints axes, int64_t rank);  // sorted, without duplicates

  // --- Compile-time contents. ---
  bool is_known(Value value);
  bool is_known(Value value, int64_t number);  // true if the only element is `number`
  // The elements of `value` as dims: expressions if they are known at compile time, else symbols
  // that are read from the value at run time. `what` names the elements in errors. kSize: the call
  // fails if an element that is read is negative.
  enum class Sign { kSize, kAny };
  Dims dims_of(Value value, llvm::StringRef what, Sign sign = Sign::kSize);
  // As dims_of, each element as positive - negative. If the elements are known at compile time,
  // `negative` is 0 and `positive` can have either sign. Otherwise neither part is negative, and at
  // least one of them is 0.
  struct SignedDim {
    DimExpr positive;
    DimExpr negative;
  };
  llvm::SmallVector<SignedDim> signed_dims_of(Value value, llvm::StringRef what,
                                              Sign sign = Sign::kAny);
  // The elements, which must be known at compile time. Otherwise the node fails as unsupported.
  Ints integers_of(Value value, llvm::StringRef what);
  llvm::SmallVector<float> numbers_of(Value value, llvm::StringRef what);

  // --- Building. ---
  GraphBuilder& builder() const;
  ListBuilder lists() { return ListBuilder(builder()); }
  ControlFlowBuilder control_flow() { return ControlFlowBuilder(builder()); }
  BranchChoices& choices();
  bool float_products() const;  // ImportOptions::float_products
  // The parts of a value of set_product(); null for any other value.
  const ScaledSums* product_of(Value value) const;
  void set_product(Value value, const ScaledSums& product);
  // Imports the nodes of a nested graph at the insertion point. Results: the graph's outputs.
  Result<llvm::SmallVector<Value>> import_subgraph(const onnx::GraphProto& graph,
                                                   llvm::ArrayRef<Value> inputs);
  // As import_subgraph, where the node's outputs are those of the graph from `first_output` on, and
  // the graph's inputs from `first_graph_input` on are the node's inputs from `first_input` on, or
  // parts of them. They have the same small types.
  struct Positions {
    size_t first_output = 0, first_graph_input = 0, first_input = 0;
  };
  Result<llvm::SmallVector<Value>> import_body(const onnx::GraphProto& graph,
                                               llvm::ArrayRef<Value> inputs, Positions positions);

  // Attribute values for emit.
  mlir::NamedAttribute attr(llvm::StringRef name, int64_t value);
  mlir::NamedAttribute attr(llvm::StringRef name, bool value);
  mlir::NamedAttribute attr(llvm::StringRef name, float value);
  mlir::NamedAttribute attr(llvm::StringRef name, const char* value);
  mlir::NamedAttribute attr(llvm::StringRef name, llvm::StringRef value);
  mlir::NamedAttribute attr(llvm::StringRef name, llvm::ArrayRef<int64_t> value);
  mlir::NamedAttribute attr(llvm::StringRef name, const Ints& value);
  mlir::NamedAttribute attr(llvm::StringRef name, llvm::ArrayRef<float> value);
  mlir::NamedAttribute attr(llvm::StringRef name, const Dims& value);
  mlir::NamedAttribute attr(llvm::StringRef name, mlir::Attribute value);

  using Operands = llvm::ArrayRef<Value>;
  using Attributes = llvm::ArrayRef<mlir::NamedAttribute>;
  template <typename Op>
  Value emit(Operands operands, Attributes attributes = {}) {
    mlir::Operation* op = emit(Op::getOperationName(), operands, attributes);
    return op ? op->getResult(0) : Value();
  }
  // For ops with multiple results.
  mlir::Operation* emit(llvm::StringRef op, Operands operands, Attributes attributes);

  // Constants. A scalar has the element type of `like`. For an integer type, `value` is truncated.
  Value scalar(double value, Value like) { return scalar(value, dtype(like)); }
  Value scalar(double value, DType dtype);
  Value constant(const onnx::TensorProto& tensor);
  Value constant(const Ints& values);            // i64, rank 1
  Value constant(llvm::ArrayRef<float> values);  // f32, rank 1
  Value constant(llvm::ArrayRef<int64_t> shape, DType dtype, const std::vector<char>& bytes);
  Value constant(const std::vector<std::string>& strings);  // str, rank 1
  // The dims as an i64 tensor: sv.constant or sv.dims_tensor.
  Value dims_value(const Dims& dims, bool is_scalar = false);

  // Decompositions shared by several handlers.
  Value reshape(Value x, const Dims& dims);
  Value transpose(Value x, const Ints& permutation);
  Value cast(Value x, DType to);
  Value unsqueeze(Value x, Ints axes);                 // `axes` are axes of the result
  Value move_axis(Value x, int64_t from, int64_t to);  // `to` is an axis of the result
  // `sizes[i]` elements from starts[i] on, with steps[i] (default: 1), on every axis i.
  Value slice(Value x, const Dims& starts, const Dims& sizes, Ints steps = {});
  Value concat(Operands parts, int64_t axis);  // REQUIRES: at least one part
  // Adds elements that are `value` (default: 0): pads[i] before and pads[rank + i] after axis i.
  Value pad(Value x, const Dims& pads, Value value = {});
  Value expand(Value x, const Dims& dims);
  Value reduce_mean(Value x, const Ints& axes);  // keeps dims
  Value reduce_sum(Value x, const Ints& axes);   // keeps dims

  // A loop with trip_count iterations, as in control_flow.h. Results: the final carried values,
  // then the gathered outputs.
  llvm::SmallVector<Value> loop(
      DimExpr trip_count, Operands initial,
      llvm::function_ref<Iteration(DimExpr index, mlir::ValueRange carried)> body);

  // Emits a check: the call fails unless a == b (require_equal) or a >= b (require_at_least). In
  // `message`, {0} is replaced by the value of a, and {1} by that of b. A check that is known to
  // hold is not emitted. A check that is known to fail makes the node fail.
  void require_equal(DimExpr a, DimExpr b, llvm::StringRef message);
  void require_at_least(DimExpr a, DimExpr b, llvm::StringRef message);
  // Emits a check: the call fails with `message` unless the condition, a one-element bool, holds.
  void require(Value condition, llvm::StringRef message);

  // --- Errors. ---
  std::nullptr_t fail(const llvm::Twine& message);         // invalid model
  std::nullptr_t unsupported(const llvm::Twine& message);  // valid, but not implemented
  std::nullptr_t fail(Status status);
  // The value of the result. The node fails if it is an error.
  template <typename T>
  T checked(Result<T> result) {
    if (result.ok()) return *std::move(result);
    fail(result.status());
    return T();
  }
  bool has_failed() const { return !status_.ok(); }
  const Status& status() const { return status_; }

 private:
  const onnx::AttributeProto* find(llvm::StringRef name) const;
  void require(graph::RequireKind kind, DimExpr a, DimExpr b, llvm::StringRef message);
  std::string input_name(Value value) const;

  ImportState& state_;
  const onnx::NodeProto& proto_;
  int opset_;
  std::optional<SmallTypes> small_results_;
  Status status_;
};

}  // namespace scopevm::compiler::frontend
