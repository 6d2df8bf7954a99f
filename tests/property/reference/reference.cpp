// Implements reference.h: attributes, symbols and the execution of a function.
#include "tests/property/reference/reference.h"

#include "compiler/graph/graph_ops.h"

namespace scopevm::compiler::property {

Status refuse(const std::string& why) { return Status(StatusCode::kInvalidArgument, why); }

namespace {

Result<std::vector<int64_t>> values_of(llvm::ArrayRef<DimExpr> dims, const Symbols& symbols) {
  std::vector<int64_t> values;
  for (DimExpr dim : dims) {
    auto value = dim.evaluate([&](std::string_view name) -> std::optional<int64_t> {
      auto found = symbols.find(name);
      if (found == symbols.end()) return std::nullopt;
      return found->second;
    });
    if (!value) return refuse("dim " + dim.str() + " has no value");
    values.push_back(*value);
  }
  return values;
}

template <typename Attribute>
Attribute attribute(const Operands& in, const char* name) {
  return mlir::cast<Attribute>(in.op->getAttr(name));
}

}  // namespace

int64_t Operands::integer(const char* name) const {
  return attribute<mlir::IntegerAttr>(*this, name).getInt();
}
double Operands::real(const char* name) const {
  return attribute<mlir::FloatAttr>(*this, name).getValueAsDouble();
}
bool Operands::flag(const char* name) const {
  return attribute<mlir::BoolAttr>(*this, name).getValue();
}
std::string Operands::text(const char* name) const {
  return attribute<mlir::StringAttr>(*this, name).getValue().str();
}
std::vector<int64_t> Operands::integers(const char* name) const {
  return attribute<mlir::DenseI64ArrayAttr>(*this, name).asArrayRef().vec();
}
Result<std::vector<int64_t>> Operands::dims(const char* name) const {
  return values_of(attribute<graph::DimsAttr>(*this, name).getValue(), *symbols);
}

Result<std::vector<int64_t>> dims_of(mlir::Type type, const Symbols& symbols) {
  return values_of(mlir::cast<graph::TensorType>(type).getShape(), symbols);
}

Result<std::vector<int64_t>> broadcast_of(const std::vector<std::vector<int64_t>>& shapes) {
  size_t rank = 0;
  for (const auto& shape : shapes) rank = std::max(rank, shape.size());
  std::vector<int64_t> dims(rank, 1);
  for (const auto& shape : shapes)
    for (size_t i = 0; i < shape.size(); ++i) {
      int64_t& dim = dims[rank - shape.size() + i];
      if (shape[i] == 1 || shape[i] == dim) continue;
      if (dim != 1) return refuse("dims do not broadcast");
      dim = shape[i];
    }
  return dims;
}

const Number& broadcast_element(const Array& x, std::span<const int64_t> index) {
  int64_t offset = 0;
  size_t skipped = index.size() - x.dims.size();
  for (size_t i = 0; i < x.dims.size(); ++i)
    offset = offset * x.dims[i] + (x.dims[i] == 1 ? 0 : index[skipped + i]);
  return x.elements[static_cast<size_t>(offset)];
}

Status check_types(mlir::Operation* op, const Arrays& results, const Symbols& symbols) {
  for (size_t i = 0; i < results.size(); ++i) {
    mlir::Type type = op->getResult(static_cast<unsigned>(i)).getType();
    SCOPEVM_ASSIGN_OR_RETURN(std::vector<int64_t> dims, dims_of(type, symbols));
    if (mlir::cast<graph::TensorType>(type).getDtype() != results[i].dtype)
      return Status(StatusCode::kInternal,
                    "the element type of the result differs from its declared type");
    if (dims != results[i].dims)
      return Status(StatusCode::kInternal, "the dims of the result differ from its declared type");
  }
  return {};
}

namespace {

Result<Arrays> evaluate_parts(llvm::StringRef name, const Operands& in) {
  for (auto part : {evaluate_elementwise, evaluate_reduction, evaluate_contraction, evaluate_layout,
                    evaluate_values})
    if (auto results = part(name, in)) return std::move(*results);
  return Status(StatusCode::kUnsupported, "the reference has no op " + name.str());
}

}  // namespace

Result<Arrays> evaluate(mlir::Operation* op, std::vector<const Array*> operands,
                        const Symbols& symbols) {
  Operands in{op, std::move(operands), &symbols};
  std::string name = op->getName().stripDialect().str();
  auto results = evaluate_parts(name, in);
  if (!results.ok()) return std::move(results).status().with_context(name);
  Status types = check_types(op, *results, symbols);
  if (!types.ok()) return std::move(types).with_context(name);
  return std::move(*results);
}

Result<Arrays> interpret(mlir::func::FuncOp main, const Arrays& inputs, const Symbols& symbols) {
  Environment environment;
  environment.symbols = symbols;
  for (mlir::BlockArgument argument : main.getArguments())
    environment.values[argument] = inputs[argument.getArgNumber()];
  return execute_block(main.getBody().front(), environment);
}

}  // namespace scopevm::compiler::property
