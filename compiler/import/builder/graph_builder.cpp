// Symbols, typed ops and errors of an imported graph; see graph_builder.h.
#include "compiler/import/builder/graph_builder.h"

#include <cctype>

#include "llvm/ADT/StringExtras.h"

namespace scopevm::compiler::frontend {

namespace {

// An earlier sv.read_dims of the value that dominates the insertion point. It is reused, so that
// all uses of the value have the same symbols and their dims are provably equal. REQUIRES: the
// insertion point is the end of a block.
graph::ReadDimsOp earlier_read(const mlir::OpBuilder& builder, mlir::Value value, bool is_signed) {
  for (mlir::Operation* user : value.getUsers()) {
    auto read = mlir::dyn_cast<graph::ReadDimsOp>(user);
    if (!read || read.getIsSigned() != is_signed) continue;
    // The block of the value contains the insertion point, or a region that does.
    bool is_before = read->getBlock() == builder.getInsertionBlock() ||
                     read->getBlock() == value.getParentBlock();
    if (is_before) return read;
  }
  return {};
}

// The properties of an op of any kind, initialised to their defaults.
class PropertyStorage {
 public:
  explicit PropertyStorage(mlir::OperationName name)
      : name_(name), words_((name.getOpPropertyByteSize() + 7) / 8, 0) {
    if (words_.empty()) return;
    name_.initOpProperties(get(), nullptr);
    name_.populateDefaultProperties(get());
  }
  ~PropertyStorage() {
    if (!words_.empty()) name_.destroyOpProperties(get());
  }
  mlir::OpaqueProperties get() { return words_.empty() ? nullptr : words_.data(); }

 private:
  mlir::OperationName name_;
  std::vector<uint64_t> words_;
};

}  // namespace

GraphBuilder::GraphBuilder(mlir::MLIRContext& context)
    : ImplicitLocOpBuilder(mlir::UnknownLoc::get(&context), &context),
      handler_(&context, [this](mlir::Diagnostic& diagnostic) {
        errors_.push_back(diagnostic.str());
        return mlir::success();
      }) {}

std::string GraphBuilder::fresh_symbol(llvm::StringRef what) {
  // Names of input dims do not start with '$', so new symbols differ from them.
  std::string name = "$";
  if (auto named = mlir::dyn_cast<mlir::NameLoc>(getLoc())) {
    for (char c : named.getName().getValue())
      name += std::isalnum(static_cast<unsigned char>(c)) || c == '_' ? c : '_';
    name += '.';
  }
  name += what.str();
  const int count = ++symbol_counts_[name];
  return count == 1 ? name : name + std::to_string(count);
}

std::string GraphBuilder::take_errors() {
  const std::string all = llvm::join(errors_, "; ");
  errors_.clear();
  return all.empty() ? "the operands or attributes are invalid" : all;
}

mlir::Operation* GraphBuilder::emit(llvm::StringRef op, llvm::ArrayRef<mlir::Value> operands,
                                    llvm::ArrayRef<mlir::NamedAttribute> attributes) {
  mlir::OperationName name(op, getContext());
  PropertyStorage properties(name);
  auto dictionary = getDictionaryAttr(attributes);
  auto emit_error = [&] { return mlir::emitError(getLoc()); };
  mlir::OperationState state(getLoc(), name);
  state.addOperands(mlir::ValueRange(operands));
  state.addAttributes(attributes);
  // Infers the result types before the op is created, so that an invalid node is reported and no
  // invalid op is created.
  auto* inference = name.getInterface<mlir::InferTypeOpInterface>();
  bool is_typed =
      (!properties.get() || succeeded(name.setOpPropertiesFromAttribute(name, properties.get(),
                                                                        dictionary, emit_error))) &&
      succeeded(inference->inferReturnTypes(getContext(), getLoc(), operands, dictionary,
                                            properties.get(), {}, state.types));
  return is_typed ? OpBuilder::create(state) : nullptr;
}

bool GraphBuilder::has_read(mlir::Value value, bool is_signed) const {
  return static_cast<bool>(earlier_read(*this, value, is_signed));
}

graph::ReadDimsOp GraphBuilder::read_dims(mlir::Value value, int64_t count, bool is_signed) {
  if (graph::ReadDimsOp read = earlier_read(*this, value, is_signed)) return read;
  llvm::SmallVector<mlir::Attribute> symbols;
  for (int64_t i = 0; i < count; ++i) symbols.push_back(getStringAttr(fresh_symbol("v")));
  const InsertionGuard guard(*this);
  if (is_signed && is_outside(value)) setInsertionPointAfterValue(value);
  return create<graph::ReadDimsOp>(value, getArrayAttr(symbols), is_signed);
}

mlir::Value GraphBuilder::materialised(mlir::Value value) {
  const std::vector<DimExpr>* elements = known(value);
  mlir::Operation* op = value.getDefiningOp();
  if (!elements || !op || mlir::isa<graph::ConstantOp, graph::DimsTensorOp>(op)) return value;
  const auto type = mlir::cast<graph::TensorType>(value.getType());
  const mlir::Value made =
      graph::materialise(*this, getLoc(), type, std::vector<DimExpr>(*elements));
  return made ? made : value;
}

}  // namespace scopevm::compiler::frontend
