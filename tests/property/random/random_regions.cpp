// Control flow of random graphs, and symbols read from values. A region contains random ops, as the
// function body does. A loop body is built with the values of the first iteration. The reference
// then executes the whole loop and rejects it if a later iteration is invalid.
#include <algorithm>
#include <set>

#include "compiler/graph/rewrite/loop_body.h"
#include "llvm/Support/ErrorHandling.h"
#include "tests/property/random/graph_builder.h"

namespace scopevm::compiler::property {
namespace {

constexpr int kDeepest = 3;

mlir::Region* region_of(const Node& node) { return mlir::Value(node.value).getParentRegion(); }

}  // namespace

std::string GraphBuilder::new_symbol(const char* prefix) {
  return std::string("$") + prefix + std::to_string(symbol_count_++);
}

mlir::ArrayAttr GraphBuilder::names(const std::vector<std::string>& symbols) {
  llvm::SmallVector<mlir::Attribute> attributes;
  for (const std::string& symbol : symbols) attributes.push_back(builder_.getStringAttr(symbol));
  return builder_.getArrayAttr(attributes);
}

void GraphBuilder::close_region(mlir::Region& region) {
  std::erase_if(nodes_, [&](const std::unique_ptr<Node>& node) {
    return region.isAncestor(node->value.getParentRegion());
  });
}

void GraphBuilder::fill(int64_t ops) {
  size_t target = op_count_ + static_cast<size_t>(ops);
  for (int64_t tries = 0; tries < 6 * ops && op_count_ < target; ++tries) propose_op(*this);
}

const Node* GraphBuilder::node_of(mlir::Value value, Arrays arrays) {
  nodes_.push_back(std::make_unique<Node>(Node{value, std::move(arrays)}));
  return nodes_.back().get();
}

const Node* GraphBuilder::changed(const Node* x) {
  std::vector<std::string> names = {"neg", "abs", "sign"};
  if (is_float(x->dtype())) names = {"tanh", "neg", "sin", "sigmoid", "relu"};
  if (is_unsigned(x->dtype())) names = {"bit_not"};
  if (x->dtype() == DType::kBool) names = {"not"};
  if (x->dtype() != DType::kBool && chance(50))
    return append(one_of<std::string>({"add", "sub", "min", "mul"}), {x, x}) ? nodes_.back().get()
                                                                             : nullptr;
  return append(one_of(names), {x}) ? nodes_.back().get() : nullptr;
}

const Node* GraphBuilder::pick_like(const Node* x, mlir::Region& region) {
  const Node* found = pick([&](const Node& node) {
    return node.value.getType() == x->value.getType() && region.isAncestor(region_of(node));
  });
  return found ? found : x;
}

bool GraphBuilder::adopt(mlir::Operation* op, size_t ops_before) {
  std::vector<Arrays> results(op->getNumResults());
  for (Request& request : graph_.requests) {
    Environment environment;
    environment.symbols = request.symbols;
    size_t at = static_cast<size_t>(&request - graph_.requests.data());
    for (const auto& node : nodes_) environment.values[node->value] = node->arrays[at];
    bool is_good = execute(op, environment).ok();
    for (size_t k = 0; is_good && k < results.size(); ++k) {
      results[k].push_back(environment.values[op->getResult(static_cast<unsigned>(k))]);
      is_good = is_worthwhile(results[k].back()) && results[k].back().count() <= 6000;
    }
    if (!is_good) {
      op->erase();
      op_count_ = ops_before;
      return false;
    }
    request.symbols = environment.symbols;
  }
  for (size_t k = 0; k < results.size(); ++k)
    node_of(op->getResult(static_cast<unsigned>(k)), std::move(results[k]));
  ++op_count_;
  return true;
}

bool GraphBuilder::append_read_dims() {
  if (depth_ > 0) return false;
  const Node* x = pick([&](const Node& node) {
    if (is_float(node.dtype()) || node.rank() > 1) return false;
    if (node.rank() == 1 && !node.dims()[0].is_constant()) return false;
    for (const Array& array : node.arrays)
      for (const Number& number : array.elements)
        if (!number.is_known() || number.value < 0 || number.value > 12) return false;
    return node.arrays[0].count() <= 3;
  });
  if (!x || x->arrays[0].count() == 0) return false;
  std::vector<std::string> symbols;
  for (int64_t i = 0; i < x->arrays[0].count(); ++i) symbols.push_back(new_symbol("d"));
  auto op = builder_.create<graph::ReadDimsOp>(builder_.getUnknownLoc(), x->value, names(symbols));
  if (!adopt(op, op_count_)) return false;
  read_.insert(read_.end(), symbols.begin(), symbols.end());
  return true;
}

bool GraphBuilder::append_if() {
  if (depth_ >= kDeepest || !chance(depth_ == 0 ? 100 : 30)) return false;
  const Node* condition =
      pick([](const Node& node) { return node.dtype() == DType::kBool && node.rank() == 0; });
  if (!condition || chance(30)) condition = fresh(DType::kBool, {});
  const Node* base = pick([](const Node& node) { return node.rank() < 5; });
  if (!base || !condition) return false;
  size_t ops_before = op_count_;
  auto location = builder_.getUnknownLoc();
  bool grows = base->rank() > 0 && chance(25);
  std::vector<std::string> symbols;
  if (grows) symbols.push_back(new_symbol("m"));
  Dims dims = base->dims();
  int64_t axis = below(base->rank());
  if (grows) dims[static_cast<size_t>(axis)] = DimExpr::symbol(symbols[0]);
  mlir::Type type = graph::TensorType::get(context_, base->dtype(), dims);
  mlir::OpBuilder::InsertionGuard guard(builder_);
  auto op = builder_.create<graph::IfOp>(location, mlir::TypeRange{type}, condition->value,
                                         names(symbols));
  mlir::Operation* position = op;
  ++depth_;
  for (mlir::Region* region : {&op.getThen(), &op.getOtherwise()}) {
    if (region->empty()) region->emplaceBlock();
    builder_.setInsertionPointToEnd(&region->front());
    changed(base);
    fill(between(0, 3));
    const Node* result = pick_like(base, *region);
    if (grows && region == &op.getOtherwise() &&
        append("concat", {result, base}, {{"axis", builder_.getI64IntegerAttr(axis)}}))
      result = nodes_.back().get();
    builder_.create<graph::YieldOp>(location, mlir::ValueRange{result->value});
    close_region(*region);
  }
  --depth_;
  return adopt(position, ops_before);
}

mlir::Value GraphBuilder::loop_condition(const std::string& index) {
  Array limit = make_array(DType::kI64, {});
  limit.elements[0].value = static_cast<long double>(between(0, 3));
  bool is_good = append(
      "dims_tensor", {},
      {{"dims", dims_attribute({DimExpr::symbol(index)})}, {"scalar", builder_.getBoolAttr(true)}});
  const Node* at = nodes_.back().get();
  is_good = is_good && append("less", {at, constant(limit)});
  if (!is_good) llvm::report_fatal_error("the condition of a random loop was rejected");
  return nodes_.back()->value;
}

const Node* GraphBuilder::gathered_part(mlir::Region& body, const std::set<std::string>& varying) {
  return pick([&](const Node& node) {
    bool varies = llvm::any_of(node.type().getShape(), [&](DimExpr dim) {
      return llvm::any_of(dim.symbols(),
                          [&](const std::string& symbol) { return varying.contains(symbol); });
    });
    return node.rank() < 5 && !varies && body.isAncestor(region_of(node));
  });
}

bool GraphBuilder::append_loop() {
  if (depth_ >= kDeepest || !chance(depth_ == 0 ? 100 : 30)) return false;
  const Node* initial = pick([](const Node& node) { return node.rank() < 5; });
  if (!initial) return false;
  size_t ops_before = op_count_;
  auto location = builder_.getUnknownLoc();
  bool grows = initial->rank() > 0 && chance(20), stops = chance(30);
  std::string index = new_symbol("i");
  std::vector<std::string> carried_symbols, symbols;
  int64_t axis = below(initial->rank());
  Dims dims = initial->dims(), last_dims = dims;
  if (grows) {
    carried_symbols.push_back(new_symbol("s"));
    symbols.push_back(new_symbol("m"));
    dims[static_cast<size_t>(axis)] = DimExpr::symbol(carried_symbols[0]);
    last_dims[static_cast<size_t>(axis)] = DimExpr::symbol(symbols[0]);
    for (Request& request : graph_.requests) {
      size_t at = static_cast<size_t>(&request - graph_.requests.data());
      request.symbols[carried_symbols[0]] = initial->arrays[at].dims[static_cast<size_t>(axis)];
    }
  }
  for (Request& request : graph_.requests) request.symbols[index] = 0;
  DimExpr trips = between(0, 4);
  if (!symbols_.empty() && chance(40)) trips = DimExpr::symbol(one_of(symbols_));
  if (stops) symbols.push_back(new_symbol("c"));

  mlir::OpBuilder::InsertionGuard guard(builder_);
  // The body is built in a temporary op without results, because the result types depend on the
  // body.
  auto holder = builder_.create<graph::LoopOp>(location, mlir::TypeRange(), mlir::ValueRange(),
                                               mlir::cast<graph::DimsAttr>(dims_attribute({trips})),
                                               builder_.getStringAttr(index));
  mlir::Region* body = &holder.getBody();
  if (body->empty()) body->emplaceBlock();
  mlir::Block& block = body->front();
  ++depth_;
  mlir::BlockArgument argument =
      block.addArgument(graph::TensorType::get(context_, initial->dtype(), dims), location);
  mlir::OpBuilder::InsertPoint outside = builder_.saveInsertionPoint();
  builder_.setInsertionPointToEnd(&block);
  const Node* carried = node_of(argument, initial->arrays);
  if (chance(50))
    append("dims_tensor", {},
           {{"dims", dims_attribute({DimExpr::symbol(index)})},
            {"scalar", builder_.getBoolAttr(true)}});
  changed(carried);
  fill(between(0, 3));
  const Node* next = pick_like(carried, *body);
  if (grows && append("concat", {next, initial}, {{"axis", builder_.getI64IntegerAttr(axis)}}))
    next = nodes_.back().get();
  llvm::SmallVector<mlir::Value> yielded;
  if (stops) yielded.push_back(loop_condition(index));
  yielded.push_back(next->value);
  llvm::SmallVector<mlir::Type> types = {
      graph::TensorType::get(context_, initial->dtype(), last_dims)};
  DimExpr count = stops ? DimExpr::symbol(symbols.back()) : trips;
  if (chance(60)) {
    std::set<std::string> defined = graph::symbols_defined_in(holder);
    defined.insert(carried_symbols.begin(), carried_symbols.end());
    if (const Node* part = gathered_part(*body, defined)) {
      Dims gathered = part->dims();
      gathered.insert(gathered.begin(), count);
      yielded.push_back(part->value);
      types.push_back(graph::TensorType::get(context_, part->dtype(), gathered));
    }
  }
  builder_.create<graph::YieldOp>(location, yielded);
  mlir::Value first = initial->value;
  close_region(*body);
  --depth_;
  builder_.restoreInsertionPoint(outside);
  auto op = builder_.create<graph::LoopOp>(
      location, types, mlir::ValueRange{first},
      mlir::cast<graph::DimsAttr>(dims_attribute({trips})), builder_.getStringAttr(index),
      builder_.getBoolAttr(stops), names(carried_symbols), names(symbols));
  op.getBody().takeBody(*body);
  holder.erase();
  return adopt(op, ops_before);
}

}  // namespace scopevm::compiler::property
