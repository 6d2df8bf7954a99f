// See states.h.
#include "compiler/split/states.h"

#include "compiler/graph/diagnostics/op_name.h"
#include "compiler/graph/graph_ops.h"
#include "compiler/graph/rewrite/placement_attributes.h"
#include "compiler/graph/rewrite/states.h"
#include "mlir/IR/Builders.h"

namespace scopevm::compiler::split {
namespace {

constexpr char kName[] = "sv.name";

std::string name_of_part(const std::string& name, unsigned part) {
  return name + ".rank" + std::to_string(part);
}

}  // namespace

std::vector<InPlaceState> states_of(mlir::func::FuncOp function) {
  std::vector<InPlaceState> states;
  mlir::Operation* const end = function.getBody().front().getTerminator();
  for (const auto& [argument, output] : graph::arguments_in_place(function)) {
    auto append = end->getOperand(output).getDefiningOp<graph::InsertSliceOp>();
    if (append && append.getX() == argument)
      states.push_back({argument, output, static_cast<int64_t>(append.getAxis())});
  }
  return states;
}

void place_state(mlir::func::FuncOp function, const InPlaceState& state,
                 const std::string& device) {
  const auto place = mlir::StringAttr::get(function.getContext(), device);
  function.setArgAttr(state.value.getArgNumber(), graph::kPlaceAttribute, place);
  function.setResultAttr(state.output, graph::kPlaceAttribute, place);
}

mlir::BlockArgument add_part(mlir::func::FuncOp function, const InPlaceState& state, unsigned part,
                             mlir::Type type) {
  mlir::Builder builder(function.getContext());
  const unsigned number = state.value.getArgNumber() + 1 + part;
  const std::string name = name_of_part(graph::input_name(state.value), part);
  function.insertArgument(
      number, type,
      builder.getDictionaryAttr(
          {builder.getNamedAttr(kName, builder.getStringAttr(name)),
           builder.getNamedAttr(graph::kInPlaceAttribute, builder.getUnitAttr())}),
      state.value.getLoc());
  return function.getArgument(number);
}

void replace_output(mlir::func::FuncOp function, unsigned output, llvm::ArrayRef<StatePart> parts) {
  mlir::Builder builder(function.getContext());
  const std::string name = graph::output_name(function, output);
  const auto more = static_cast<unsigned>(parts.size()) - 1;
  for (mlir::BlockArgument argument : function.getArguments()) {
    const unsigned number = argument.getArgNumber();
    const auto tied = function.getArgAttrOfType<mlir::IntegerAttr>(number, graph::kStateAttribute);
    if (tied && tied.getInt() > output)
      function.setArgAttr(number, graph::kStateAttribute,
                          builder.getI64IntegerAttr(tied.getInt() + more));
  }
  mlir::Operation* const end = function.getBody().front().getTerminator();
  for (unsigned part = 0; part <= more; ++part) {
    const auto named = builder.getNamedAttr(kName, builder.getStringAttr(name_of_part(name, part)));
    const mlir::Value value = parts[part].output;
    if (part == 0) {
      end->setOperand(output, value);
      function.setResultAttr(output, named.getName(), named.getValue());
    } else {
      end->insertOperands(output + part, value);
      function.insertResult(output + part, value.getType(), builder.getDictionaryAttr(named));
    }
    function.setArgAttr(parts[part].value.getArgNumber(), graph::kStateAttribute,
                        builder.getI64IntegerAttr(output + part));
    place_state(function, {parts[part].value, output + part}, parts[part].device);
  }
  function.setType(mlir::FunctionType::get(
      function.getContext(), function.getBody().getArgumentTypes(), end->getOperandTypes()));
}

}  // namespace scopevm::compiler::split
