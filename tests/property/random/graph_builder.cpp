// Implements random_graph.h, and graph_builder.h except for control flow: values, inputs, constants
// and ops of a random graph.
#include "tests/property/random/graph_builder.h"

#include <algorithm>

#include "compiler/graph/values/constant_array.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

namespace scopevm::compiler::property {
namespace {

constexpr int kRequests = 3;
constexpr int64_t kMostElements = 3000;

mlir::Attribute element_attribute(mlir::Type type, DType dtype, long double value) {
  if (is_float(dtype)) return mlir::FloatAttr::get(type, static_cast<double>(value));
  uint64_t bits = 0;
  encode(dtype, value, &bits);
  return mlir::IntegerAttr::get(type, llvm::APInt(type.getIntOrFloatBitWidth(), bits));
}

}  // namespace

GraphBuilder::GraphBuilder(uint64_t seed, mlir::MLIRContext& context)
    : random_(seed), context_(&context), builder_(&context) {
  auto location = builder_.getUnknownLoc();
  graph_.module = mlir::ModuleOp::create(location);
  graph_.requests.resize(kRequests);
  builder_.setInsertionPointToEnd(graph_.module->getBody());
  main_ = builder_.create<mlir::func::FuncOp>(location, "main", builder_.getFunctionType({}, {}));
  builder_.setInsertionPointToEnd(main_.addEntryBlock());
  choose_symbols();
}

// Some symbols have the values of the previous symbol, but the value 1 in some requests. Two dims
// with these symbols therefore broadcast.
void GraphBuilder::choose_symbols() {
  constexpr const char* kNames[] = {"n", "m", "k", "w"};
  const std::vector<int64_t> sizes = {2, 3, 4, 5, 7, 8, 9, 16, 17, 33};
  int64_t count = between(0, 4);
  for (int64_t i = 0; i < count; ++i) {
    bool follows = i > 0 && chance(30);
    for (Request& request : graph_.requests) {
      int64_t value = follows ? request.symbols[symbols_.back()] : one_of(sizes);
      if (chance(follows ? 30 : 10)) value = 1;
      if (!follows && chance(6)) value = 0;
      request.symbols[kNames[i]] = value;
    }
    symbols_.emplace_back(kNames[i]);
  }
}

std::vector<int64_t> GraphBuilder::values_of(DimExpr dim) const {
  std::vector<int64_t> values;
  for (const Request& request : graph_.requests)
    values.push_back(dim.evaluate([&](std::string_view name) -> std::optional<int64_t> {
                          auto found = request.symbols.find(name);
                          if (found == request.symbols.end()) return std::nullopt;
                          return found->second;
                        })
                         .value_or(-1));
  return values;
}

int64_t GraphBuilder::least(DimExpr dim) const {
  std::vector<int64_t> values = values_of(dim);
  return *std::min_element(values.begin(), values.end());
}

bool GraphBuilder::fits_in_memory(const Dims& dims) const {
  std::vector<int64_t> counts(kRequests, 1);
  for (DimExpr dim : dims) {
    std::vector<int64_t> values = values_of(dim);
    for (size_t i = 0; i < counts.size(); ++i) {
      if (values[i] < 0) return false;
      counts[i] *= values[i];
    }
  }
  return *std::max_element(counts.begin(), counts.end()) <= kMostElements;
}

DimExpr GraphBuilder::random_dim() {
  if (!read_.empty() && chance(15)) return DimExpr::symbol(one_of(read_));
  if (!symbols_.empty() && chance(50)) return DimExpr::symbol(one_of(symbols_));
  if (chance(3)) return 0;
  return one_of<int64_t>({1, 1, 2, 3, 4, 5, 7, 8, 12, 16, 17});
}

Dims GraphBuilder::random_dims(int64_t rank) {
  Dims dims;
  for (int64_t i = 0; i < rank; ++i) dims.push_back(random_dim());
  while (!fits_in_memory(dims)) dims[static_cast<size_t>(below(rank))] = between(1, 3);
  return dims;
}

DType GraphBuilder::random_dtype() {
  int64_t at = below(100);
  if (at < 45) return DType::kF32;
  if (at < 57) return DType::kI64;
  if (at < 65) return DType::kI32;
  if (at < 71) return DType::kBool;
  if (at < 77) return DType::kF64;
  if (at < 83) return DType::kF16;
  if (at < 87) return DType::kBF16;
  return one_of<DType>(
      {DType::kI8, DType::kI16, DType::kU8, DType::kU16, DType::kU32, DType::kU64});
}

const Node* GraphBuilder::pick(const std::function<bool(const Node&)>& fits) {
  std::vector<const Node*> found;
  for (const auto& node : nodes_)
    // Ops only unpack small types.
    if (!is_small(node->dtype()) && fits(*node)) found.push_back(node.get());
  if (found.empty()) return nullptr;
  auto size = static_cast<int64_t>(found.size());
  int64_t at = below(size);
  if (chance(60)) at = std::max(at, below(size));
  return found[static_cast<size_t>(at)];
}

const Node* GraphBuilder::pick_broadcastable(DType dtype,
                                             const std::vector<const Node*>& partners) {
  auto broadcasts = [&](const Node& node) {
    if (node.dtype() != dtype) return false;
    for (size_t i = 0; i < graph_.requests.size(); ++i) {
      std::vector<std::vector<int64_t>> shapes = {node.arrays[i].dims};
      for (const Node* other : partners) shapes.push_back(other->arrays[i].dims);
      auto dims = broadcast_of(shapes);
      if (!dims.ok() || count_of(*dims) > kMostElements) return false;
    }
    return true;
  };
  if (chance(75))
    if (const Node* found = pick(broadcasts)) return found;
  Dims dims = partners.back()->dims();
  for (DimExpr& dim : dims)
    if (chance(20)) dim = 1;
  if (!dims.empty() && chance(25)) dims.erase(dims.begin(), dims.begin() + between(0, dims.size()));
  return fresh(dtype, dims);
}

// Mostly a small number. Rarely the lowest or highest value of an integer type.
long double GraphBuilder::random_number(DType dtype) {
  if (dtype == DType::kBool) return chance(50) ? 1 : 0;
  if (is_float(dtype)) {
    if (chance(40)) return static_cast<long double>(between(-16, 16)) / 8;
    return rounded(dtype, static_cast<long double>(between(-1 << 20, 1 << 20)) * 0x1p-19L);
  }
  if (chance(1)) return chance(50) ? lowest(dtype) : highest(dtype);
  return static_cast<long double>(between(is_unsigned(dtype) ? 0 : -6, 9));
}

Array GraphBuilder::random_array(DType dtype, std::vector<int64_t> dims, Content content,
                                 int64_t limit) {
  Array array = make_array(dtype, std::move(dims));
  for (Number& number : array.elements) {
    number.value = is_small(dtype) ? static_cast<long double>(below(1 << bits_of(dtype)))
                                   : random_number(dtype);
    if (content == Content::kWhole) number.value = std::trunc(number.value);
    if (content == Content::kIndices)
      number.value = static_cast<long double>(
          is_unsigned(dtype) ? below(limit) : between(-limit, std::max<int64_t>(limit - 1, 0)));
  }
  return array;
}

const Node* GraphBuilder::constant(const Array& array) {
  mlir::Type type = graph::element_type(context_, array.dtype);
  std::vector<mlir::Attribute> elements;
  for (const Number& number : array.elements)
    elements.push_back(element_attribute(type, array.dtype, number.value));
  auto value =
      mlir::DenseElementsAttr::get(mlir::RankedTensorType::get(array.dims, type), elements);
  return append("constant", {}, {{"value", value}}) ? nodes_.back().get() : nullptr;
}

// Converts `dim` to a dim of an input, which must be a number or a symbol. For an expression or a
// runtime-defined symbol, returns a symbol with the same values. The compiler does not know that
// the two are equal.
DimExpr GraphBuilder::as_input_dim(DimExpr dim) {
  bool is_symbol = dim.kind() == DimExpr::Kind::kSymbol && dim.symbol_name()[0] != '$';
  if (dim.is_constant() || is_symbol) return dim;
  std::vector<int64_t> values = values_of(dim);
  for (const std::string& name : symbols_)
    if (values_of(DimExpr::symbol(name)) == values && chance(50)) return DimExpr::symbol(name);
  symbols_.push_back("q" + std::to_string(symbols_.size()));
  for (size_t i = 0; i < values.size(); ++i)
    graph_.requests[i].symbols[symbols_.back()] = values[i];
  return DimExpr::symbol(symbols_.back());
}

const Node* GraphBuilder::fresh(DType dtype, Dims dims, Content content,
                                const std::vector<int64_t>& limits) {
  if (!fits_in_memory(dims)) return nullptr;
  for (DimExpr& dim : dims) dim = as_input_dim(dim);
  auto limit = [&](size_t i) { return limits.empty() ? 0 : limits[i]; };
  bool is_static = llvm::all_of(dims, [](DimExpr dim) { return dim.is_constant(); });
  const bool has_few = is_static && *element_count(dims).as_constant() <= 64;
  if (is_static && !is_small(dtype) && chance(has_few ? 50 : 20)) {
    std::vector<int64_t> sizes;
    for (DimExpr dim : dims) sizes.push_back(*dim.as_constant());
    int64_t least = limits.empty() ? 0 : *std::min_element(limits.begin(), limits.end());
    return constant(random_array(dtype, sizes, content, least));
  }
  auto node = std::make_unique<Node>();
  mlir::Type type = graph::TensorType::get(context_, dtype, dims);
  for (size_t i = 0; i < graph_.requests.size(); ++i) {
    auto sizes = dims_of(type, graph_.requests[i].symbols);
    if (!sizes.ok()) return nullptr;
    node->arrays.push_back(random_array(dtype, *sizes, content, limit(i)));
    graph_.requests[i].inputs.push_back(node->arrays.back());
  }
  node->value = main_.getBody().front().addArgument(type, builder_.getUnknownLoc());
  nodes_.push_back(std::move(node));
  return nodes_.back().get();
}

mlir::Attribute GraphBuilder::dims_attribute(const Dims& dims) {
  return graph::DimsAttr::get(context_, dims);
}

// The type rules read the properties of an op, so they run on a temporary op without results.
mlir::Operation* GraphBuilder::create(const std::string& name,
                                      const std::vector<const Node*>& operands,
                                      const NamedAttributes& attributes) {
  auto location = builder_.getUnknownLoc();
  llvm::SmallVector<mlir::Value> values;
  for (const Node* operand : operands) values.push_back(operand->value);
  mlir::NamedAttrList list;
  for (const auto& [key, value] : attributes) list.append(key, value);
  mlir::OperationState state(location, "sv." + name, values, {}, list);
  mlir::Operation* probe = mlir::Operation::create(state);
  llvm::SmallVector<mlir::Type> types;
  auto rules = mlir::dyn_cast<mlir::InferTypeOpInterface>(probe);
  bool is_typed = rules && succeeded(rules.inferReturnTypes(
                               context_, location, values, probe->getAttrDictionary(),
                               probe->getPropertiesStorage(), {}, types));
  probe->destroy();
  if (!is_typed) return nullptr;
  state.addTypes(types);
  return builder_.create(state);
}

bool GraphBuilder::is_worthwhile(const Array& array) {
  long double largest = array.dtype == DType::kF16 ? 500 : 1e4L;
  int64_t poor = 0;
  for (const Number& number : array.elements) {
    bool is_poor = !number.is_known();
    if (is_float(array.dtype) && number.is_known())
      is_poor = !std::isfinite(number.value) || std::fabs(number.value) > largest ||
                number.error > 0.02 + 0.02 * static_cast<double>(std::fabs(number.value));
    poor += is_poor ? 1 : 0;
  }
  return poor * 10 <= array.count() * 3 || (poor < array.count() && chance(2));
}

bool GraphBuilder::append(const std::string& name, const std::vector<const Node*>& operands,
                          const NamedAttributes& attributes) {
  for (const Node* operand : operands)
    if (!operand) return false;
  mlir::ScopedDiagnosticHandler quiet(context_, [](mlir::Diagnostic&) { return mlir::success(); });
  mlir::Operation* op = create(name, operands, attributes);
  if (!op) return false;
  std::vector<std::unique_ptr<Node>> results;
  for (mlir::Value value : op->getResults()) {
    results.push_back(std::make_unique<Node>());
    results.back()->value = value;
  }
  bool is_good = llvm::all_of(op->getResultTypes(), [&](mlir::Type type) {
    return fits_in_memory(Dims(mlir::cast<graph::TensorType>(type).getShape()));
  });
  for (size_t i = 0; is_good && i < graph_.requests.size(); ++i) {
    std::vector<const Array*> arrays;
    for (const Node* operand : operands) arrays.push_back(&operand->arrays[i]);
    auto computed = evaluate(op, std::move(arrays), graph_.requests[i].symbols);
    is_good = computed.ok();
    for (size_t k = 0; is_good && k < results.size(); ++k) {
      is_good = is_worthwhile((*computed)[k]);
      results[k]->arrays.push_back(std::move((*computed)[k]));
    }
  }
  if (!is_good) {
    op->erase();
    return false;
  }
  if (name != "constant") ++op_count_;
  for (auto& result : results) nodes_.push_back(std::move(result));
  return true;
}

// Removes unused inputs and constants, except for a few inputs. Ensures that each symbol is a dim
// of some input.
void GraphBuilder::remove_unused() {
  std::erase_if(nodes_, [&](const std::unique_ptr<Node>& node) {
    if (!node->value.use_empty()) return false;
    if (mlir::Operation* op = node->value.getDefiningOp()) {
      bool is_constant = mlir::isa<graph::ConstantOp>(op);
      if (is_constant) op->erase();
      return is_constant;
    }
    if (chance(3)) return false;
    unsigned at = mlir::cast<mlir::BlockArgument>(node->value).getArgNumber();
    main_.getBody().front().eraseArgument(at);
    for (Request& request : graph_.requests) request.inputs.erase(request.inputs.begin() + at);
    return true;
  });
  for (const std::string& name : symbols_) {
    DimExpr symbol = DimExpr::symbol(name);
    bool is_bound = llvm::any_of(main_.getBody().front().getArgumentTypes(), [&](mlir::Type type) {
      return llvm::is_contained(mlir::cast<graph::TensorType>(type).getShape(), symbol);
    });
    if (!is_bound) fresh(DType::kBool, {symbol});
  }
}

GraphCase GraphBuilder::finish() {
  remove_unused();
  if (nodes_.empty()) fresh(DType::kF32, {2});
  llvm::SmallVector<mlir::Value> outputs;
  for (const auto& node : nodes_) {
    bool is_made = node->value.getDefiningOp() != nullptr;
    if ((is_made && node->value.use_empty()) || chance(is_made ? 3 : 1))
      outputs.push_back(node->value);
  }
  if (outputs.empty()) outputs.push_back(nodes_.back()->value);
  builder_.create<mlir::func::ReturnOp>(builder_.getUnknownLoc(), outputs);
  main_.setFunctionType(builder_.getFunctionType(main_.getBody().front().getArgumentTypes(),
                                                 mlir::ValueRange(outputs).getTypes()));
  return std::move(graph_);
}

mlir::func::FuncOp GraphCase::main() const {
  return mlir::cast<mlir::func::FuncOp>(module.get().lookupSymbol("main"));
}

std::string GraphCase::text() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.get()->print(stream);
  return text;
}

int64_t GraphCase::op_count() const {
  return static_cast<int64_t>(main().getBody().front().getOperations().size()) - 1;
}

GraphCase GraphCase::clone() const {
  return {mlir::OwningOpRef<mlir::ModuleOp>(module.get().clone()), requests};
}

GraphCase random_graph(uint64_t seed, mlir::MLIRContext& context, int64_t most_ops) {
  GraphBuilder builder(seed, context);
  // Most graphs are small, so that many can be tested; some have up to 250 ops.
  int64_t at = builder.below(100);
  int64_t ops = at < 75   ? builder.between(2, 14)
                : at < 96 ? builder.between(15, 40)
                          : builder.between(60, 250);
  ops = std::min(ops, most_ops);
  int64_t inputs = builder.between(1, 3);
  for (int64_t i = 0; i < inputs; ++i)
    builder.fresh(builder.random_dtype(), builder.random_dims(builder.between(0, 5)));
  for (int64_t tries = 0; tries < 20 * ops && static_cast<int64_t>(builder.op_count()) < ops;
       ++tries)
    propose_op(builder);
  return builder.finish();
}

}  // namespace scopevm::compiler::property
