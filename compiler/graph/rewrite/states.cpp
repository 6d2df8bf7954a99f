// Replaces concatenations by appending to a buffer; see states.h.
#include "compiler/graph/rewrite/states.h"

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "compiler/dims/dim_text.h"
#include "compiler/graph/diagnostics/op_name.h"
#include "compiler/graph/graph_ops.h"
#include "compiler/graph/rewrite/placement_attributes.h"
#include "compiler/graph/type_rule.h"
#include "compiler/graph/values/elements.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "runtime/nearest_name.h"

namespace scopevm::compiler::graph {
namespace {

constexpr char kRows[] = "_rows", kNextRows[] = "_rows_next";

Status invalid(const std::string& message) { return {StatusCode::kInvalidArgument, message}; }

// A cache: an input, and the output that has further elements along an axis.
struct Cache {
  mlir::BlockArgument input;
  unsigned output = 0;
  ConcatOp concat;
  std::string dim;      // the name of that of the axis of the input
  DimExpr size, added;  // elements along the axis

  int64_t axis() const { return static_cast<int64_t>(ConcatOp(concat).getAxis()); }
};

using CapacityOf = llvm::function_ref<DimExpr(const std::string& name)>;

class StateTying {
 public:
  StateTying(mlir::func::FuncOp main, CapacityOf capacity_of)
      : main_(main),
        capacity_of_(capacity_of),
        body_(main.getBody().front()),
        builder_(main.getContext()) {
    for (mlir::BlockArgument argument : body_.getArguments()) {
      inputs_.push_back(input_name(argument));
      if (auto type = mlir::dyn_cast<TensorType>(argument.getType()))
        for (DimExpr dim : type.getShape())
          for (const std::string& symbol : dim.symbols()) dimensions_.insert(symbol);
    }
    for (unsigned i = 0; i < main.getNumResults(); ++i) outputs_.push_back(output_name(main, i));
  }

  // `name`: of the dimension, if it can be a number. Returns its name.
  Result<std::string> tie(const std::string& input, const std::string& output,
                          const std::string& name) {
    SCOPEVM_ASSIGN_OR_RETURN(const Cache cache, find(input, output, name));
    const auto [entry, is_new] = sizes_.try_emplace(cache.dim, Sizes{cache.size, cache.added});
    if (!is_new && !(entry->second.added == cache.added))
      return invalid("a call adds " + short_text(cache.added) + " elements, and " +
                     short_text(entry->second.added) + " to other states with the dimension " +
                     cache.dim);
    append_in_place(cache);
    return cache.dim;
  }

  // Adds the inputs and outputs with the sizes of the values.
  Status add_rows() {
    for (const auto& [dim, sizes] : sizes_) SCOPEVM_RETURN_IF_ERROR(add_rows(dim, sizes));
    main_.setType(mlir::FunctionType::get(main_.getContext(), body_.getArgumentTypes(),
                                          body_.getTerminator()->getOperandTypes()));
    return {};
  }

 private:
  // Along the axis: of the value, and of what a call adds.
  struct Sizes {
    DimExpr size, added;
  };

  Result<Cache> find(const std::string& input, const std::string& output, const std::string& name) {
    SCOPEVM_ASSIGN_OR_RETURN(const size_t argument, runtime::find_name("input", input, inputs_));
    SCOPEVM_ASSIGN_OR_RETURN(const size_t result, runtime::find_name("output", output, outputs_));
    Cache cache{.input = body_.getArgument(static_cast<unsigned>(argument)),
                .output = static_cast<unsigned>(result)};
    if (main_.getArgAttr(cache.input.getArgNumber(), kStateAttribute))
      return invalid("the input has a state already");
    if (const auto tensor = mlir::dyn_cast<TensorType>(cache.input.getType());
        tensor && is_small(tensor.getDtype()))
      return invalid("input \"" + input + "\" has elements of type " +
                     std::string(scopevm::name(tensor.getDtype())) +
                     ", which this option does not support");
    cache.concat = body_.getTerminator()->getOperand(cache.output).getDefiningOp<ConcatOp>();
    if (!cache.concat || cache.concat.getInputs().front() != cache.input ||
        cache.concat.getInputs().size() < 2 ||
        llvm::is_contained(cache.concat.getInputs().drop_front(), cache.input))
      return invalid("output \"" + output + "\" is not the concatenation of input \"" + input +
                     "\" and further elements");
    const auto type = mlir::cast<TensorType>(cache.input.getType());
    if (type.getDtype() == DType::kStr || is_constrained(cache.concat) ||
        main_.getArgAttr(cache.input.getArgNumber(), kDefaultAttribute))
      return invalid("input \"" + input +
                     "\" has strings, a default or a concatenation with a required place, which "
                     "this option does not support");
    cache.size = type.getDim(cache.axis());
    const bool is_named = cache.size.kind() == DimExpr::Kind::kSymbol &&
                          symbol_kind(cache.size.symbol_name()) == SymbolKind::kDimension;
    if (!is_named && (name.empty() || !cache.size.is_constant()))
      return invalid("dim " + std::to_string(cache.axis()) + " of input \"" + input + "\" is " +
                     short_text(cache.size) + ", expected a named dimension");
    cache.dim = is_named ? std::string(cache.size.symbol_name()) : name;
    for (int64_t axis = 0; axis < type.getRank(); ++axis)
      if (axis != cache.axis() && llvm::is_contained(type.getDim(axis).symbols(), cache.dim))
        return invalid("input \"" + input + "\" has the dimension " + cache.dim + " twice");
    cache.added = tensor_type(cache.concat.getResult()).getDim(cache.axis()) - cache.size;
    return cache;
  }

  // The first op of the body that uses the value, also in a region, apart from `except`.
  mlir::Operation* first_user(mlir::Value value, mlir::Operation* except) {
    mlir::Operation* first = nullptr;
    for (mlir::Operation* user : value.getUsers())
      if (mlir::Operation* op = body_.findAncestorOpInBlock(*user);
          op != except && (!first || op->isBeforeInBlock(first)))
        first = op;
    return first;
  }

  SliceOp first_elements(mlir::Value buffer, TensorType of, mlir::Location location) {
    const llvm::SmallVector<DimExpr> starts(of.getRank(), DimExpr(0));
    const llvm::SmallVector<int64_t> steps(of.getRank(), 1);
    return builder_.create<SliceOp>(location, buffer, dims(starts), dims(of.getShape()),
                                    builder_.getDenseI64ArrayAttr(steps));
  }

  void append_in_place(const Cache& cache) {
    ConcatOp concat = cache.concat;
    const auto value = mlir::cast<TensorType>(cache.input.getType());
    llvm::SmallVector<DimExpr> buffer(value.getShape());
    buffer[cache.axis()] = capacity_of_(capacity_name(cache.dim));
    mlir::Value input = cache.input;
    input.setType(value.withShape(buffer));

    builder_.setInsertionPoint(concat);
    mlir::Value part = concat.getInputs()[1];
    if (concat.getInputs().size() > 2)
      part = builder_.create<ConcatOp>(concat.getLoc(), concat.getInputs().drop_front(),
                                       concat.getAxisAttr());
    auto appended = builder_.create<InsertSliceOp>(concat.getLoc(), input, part,
                                                   concat.getAxisAttr(), dims({cache.size}));
    body_.getTerminator()->setOperand(cache.output, appended.getResult());
    if (!concat->use_empty())
      concat.getResult().replaceAllUsesWith(
          first_elements(appended.getResult(), tensor_type(concat.getResult()), concat.getLoc())
              .getResult());
    concat.erase();

    if (mlir::Operation* user = first_user(input, appended)) {
      builder_.setInsertionPoint(user);
      SliceOp old = first_elements(input, value, input.getLoc());
      const llvm::SmallPtrSet<mlir::Operation*, 2> kept = {old, appended};
      input.replaceAllUsesExcept(old.getResult(), kept);
    }
    main_.setArgAttr(cache.input.getArgNumber(), kStateAttribute,
                     builder_.getI64IntegerAttr(cache.output));
    main_.setArgAttr(cache.input.getArgNumber(), kInPlaceAttribute, builder_.getUnitAttr());
  }

  Status add_rows(const std::string& dim, const Sizes& sizes) {
    for (const auto& [names, name] :
         {std::pair(&inputs_, dim + kRows), {&outputs_, dim + kNextRows}})
      if (llvm::is_contained(*names, name))
        return invalid("the model has a value with the name \"" + name + "\"");
    if (dimensions_.contains(capacity_name(dim)))
      return invalid("the model has a dimension with the name \"" + capacity_name(dim) + "\"");
    const mlir::Location location = main_.getLoc();
    const auto rows = TensorType::get(main_.getContext(), DType::kU8, {sizes.size, 0});
    const unsigned input = main_.getNumArguments(),
                   output = body_.getTerminator()->getNumOperands();
    const auto named = [&](const std::string& name) {
      return builder_.getNamedAttr("sv.name", builder_.getStringAttr(name));
    };
    main_.insertArgument(
        input, rows,
        builder_.getDictionaryAttr(
            {named(dim + kRows),
             builder_.getNamedAttr(kStateAttribute, builder_.getI64IntegerAttr(output))}),
        location);
    builder_.setInsertionPoint(body_.getTerminator());
    const auto empty = mlir::DenseElementsAttr::get(
        mlir::RankedTensorType::get({1, 0}, builder_.getIntegerType(8, /*isSigned=*/false)),
        llvm::ArrayRef<uint8_t>());
    mlir::Value none = builder_.create<ConstantOp>(location, empty);
    mlir::Value next =
        builder_.create<ExpandOp>(location, none, dims({sizes.size + sizes.added, DimExpr(0)}));
    main_.insertResult(output, next.getType(), builder_.getDictionaryAttr(named(dim + kNextRows)));
    body_.getTerminator()->insertOperands(output, next);
    return {};
  }

  DimsAttr dims(llvm::ArrayRef<DimExpr> sizes) const {
    return DimsAttr::get(builder_.getContext(), sizes);
  }

  mlir::func::FuncOp main_;
  CapacityOf capacity_of_;
  mlir::Block& body_;
  mlir::OpBuilder builder_;
  std::vector<std::string> inputs_, outputs_;
  std::set<std::string> dimensions_;    // of the inputs of the model
  std::map<std::string, Sizes> sizes_;  // by dim
};

}  // namespace

std::vector<ArgumentInPlace> arguments_in_place(mlir::func::FuncOp function) {
  std::vector<ArgumentInPlace> arguments;
  for (mlir::BlockArgument argument : function.getArguments()) {
    const unsigned number = argument.getArgNumber();
    if (!function.getArgAttr(number, kInPlaceAttribute)) continue;
    const auto output = function.getArgAttrOfType<mlir::IntegerAttr>(number, kStateAttribute);
    arguments.push_back({argument, static_cast<unsigned>(output.getInt())});
  }
  return arguments;
}

std::string capacity_name(const std::string& dim) { return dim + "_capacity"; }

Result<std::vector<std::string>> tie_states(
    mlir::func::FuncOp main, std::span<const std::pair<std::string, std::string>> pairs,
    std::span<const std::string> names, CapacityOf capacity_of) {
  StateTying tying(main, capacity_of);
  std::vector<std::string> dims;
  for (size_t i = 0; i < pairs.size(); ++i) {
    const auto& [input, output] = pairs[i];
    Result<std::string> dim = tying.tie(input, output, names.empty() ? "" : names[i]);
    if (!dim.ok()) return std::move(dim).status().with_context("state " + input + "=" + output);
    dims.push_back(*std::move(dim));
  }
  SCOPEVM_RETURN_IF_ERROR(tying.add_rows());
  return dims;
}

}  // namespace scopevm::compiler::graph
