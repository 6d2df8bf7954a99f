// Offers the parts of a graph that the patterns of a library match to the library; see take.h.
#include "compiler/external/take.h"

#include <array>
#include <set>

#include "compiler/external/describe.h"
#include "compiler/external/partition.h"
#include "compiler/external/patterns.h"
#include "compiler/graph/diagnostics/op_name.h"
#include "compiler/graph/graph_ops.h"
#include "compiler/program.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace scopevm::compiler::external {
namespace {

Status invalid(const scopevm_external_library& library, const std::string& message) {
  return Status(StatusCode::kInvalidArgument,
                std::string("external library \"") + library.name + "\": " + message);
}

Status check_library(const scopevm_external_library* given) {
  if (given == nullptr) return Status(StatusCode::kInvalidArgument, "an external library is null");
  const scopevm_external_library& library = *given;
  // A library of another version can have other members than these two.
  if (library.abi_version != SCOPEVM_EXTERNAL_ABI_VERSION)
    return Status(StatusCode::kInvalidArgument,
                  "an external library has ABI version " + std::to_string(library.abi_version) +
                      ", expected " + std::to_string(SCOPEVM_EXTERNAL_ABI_VERSION));
  if (library.struct_size < sizeof(scopevm_external_library))
    return Status(StatusCode::kInvalidArgument,
                  "an external library has struct_size " + std::to_string(library.struct_size) +
                      ", expected " + std::to_string(sizeof(scopevm_external_library)));
  if (library.name == nullptr || *library.name == '\0')
    return Status(StatusCode::kInvalidArgument, "an external library has no name");
  return {};
}

// The answer of a library about a function.
struct Answer {
  bool is_accepted = false;
  std::string workspace = "0";
  std::string reason;  // why the function is not accepted
};

// The text in a buffer that a library has filled, possibly without a NUL.
template <size_t kSize>
std::string text_in(const std::array<char, kSize>& buffer) {
  return {buffer.data(), strnlen(buffer.data(), kSize)};
}

Result<Answer> query(const scopevm_external_library& library, const std::string& symbol,
                     const std::string& description) {
  if (library.accept == nullptr) return Answer{.is_accepted = true};
  std::array<char, 4096> workspace{"0"};
  std::array<char, 1024> message{};
  scopevm_external_query fields{.struct_size = sizeof(fields),
                                .symbol = symbol.c_str(),
                                .description = description.c_str(),
                                .workspace = workspace.data(),
                                .workspace_size = workspace.size(),
                                .message = message.data(),
                                .message_size = message.size()};
  const int code = library.accept(library.context, &fields);
  if (code == 0) return Answer{.is_accepted = true, .workspace = text_in(workspace)};
  if (code == static_cast<int>(StatusCode::kUnsupported)) return Answer{.reason = text_in(message)};
  return invalid(library, symbol + ": " + text_in(message));
}

// Checks that the formula uses only the dims of the function and the thread count.
Status check_workspace(const scopevm_external_library& library, mlir::func::FuncOp function,
                       const std::string& workspace) {
  const std::string where = function.getName().str() + ": workspace \"" + workspace + "\" ";
  const auto formula = DimExpr::parse(workspace);
  if (!formula) return invalid(library, where + "is not a formula");
  std::set<std::string> names = {kThreadsSymbol};
  for (mlir::Type type :
       llvm::concat<const mlir::Type>(function.getArgumentTypes(), function.getResultTypes()))
    for (DimExpr dim : mlir::cast<graph::TensorType>(type).getShape())
      if (dim.kind() == DimExpr::Kind::kSymbol) names.insert(std::string(dim.symbol_name()));
  for (const std::string& name : formula->symbols())
    if (!names.contains(name))
      return invalid(library, where + "uses " + name + ", which is not a dim of the function");
  return {};
}

// Replaces the function by a declaration with the same symbol.
void declare(mlir::func::FuncOp function, const std::string& library,
             const std::string& description, const std::string& workspace) {
  mlir::OpBuilder builder(function);
  auto declaration = builder.create<graph::ExternOp>(
      function.getLoc(), function.getName(), function.getFunctionType(), library, nullptr, nullptr,
      builder.getStringAttr(description), workspace);
  function.erase();
  // Calls refer to the function by name.
  (void)declaration;
}

ExternalExplanation::Part part_of(mlir::func::FuncOp function, mlir::ModuleOp module) {
  ExternalExplanation::Part part;
  part.function = function.getName().str();
  if (auto patterns = function->getAttrOfType<mlir::ArrayAttr>(kPatterns))
    for (mlir::Attribute pattern : patterns)
      part.patterns.push_back(mlir::cast<mlir::StringAttr>(pattern).getValue().str());
  for (mlir::Operation& op : function.getBody().front().without_terminator())
    part.ops.push_back(graph::op_name(&op));
  if (auto uses = mlir::SymbolTable::getSymbolUses(function, module))
    part.calls = static_cast<int64_t>(std::distance(uses->begin(), uses->end()));
  return part;
}

// Offers an outlined function to the library. If it refuses the function, the ops return to the
// graph.
Result<ExternalExplanation::Part> offer(mlir::ModuleOp module,
                                        const scopevm_external_library& library,
                                        mlir::func::FuncOp function) {
  const std::string description = describe(function);
  SCOPEVM_ASSIGN_OR_RETURN(const Answer answer,
                           query(library, function.getName().str(), description));
  ExternalExplanation::Part part = part_of(function, module);
  part.library = library.name;
  part.is_taken = answer.is_accepted;
  part.reason = answer.reason;
  if (answer.is_accepted) {
    SCOPEVM_RETURN_IF_ERROR(check_workspace(library, function, answer.workspace));
    part.workspace = answer.workspace;
    declare(function, library.name, description, answer.workspace);
  } else if (failed(inline_back(module, function))) {
    return Status(StatusCode::kInternal, "cannot inline " + part.function);
  }
  return part;
}

}  // namespace

Status check_libraries(std::span<const scopevm_external_library* const> libraries) {
  std::set<std::string_view> names;
  for (const scopevm_external_library* library : libraries) {
    SCOPEVM_RETURN_IF_ERROR(check_library(library));
    if (!names.insert(library->name).second)
      return Status(StatusCode::kInvalidArgument,
                    std::string("two external libraries have the name \"") + library->name + "\"");
  }
  return {};
}

Status take(mlir::ModuleOp module, const scopevm_external_library& library,
            std::vector<ExternalExplanation::Part>& parts) {
  if (library.patterns == nullptr) return {};
  SCOPEVM_ASSIGN_OR_RETURN(const Patterns patterns,
                           Patterns::parse(library.patterns, library.name, *module.getContext()));
  for (mlir::func::FuncOp pattern : patterns.functions()) {
    partition(module, pattern, library.name);
    for (mlir::func::FuncOp function : outline(module)) {
      SCOPEVM_ASSIGN_OR_RETURN(ExternalExplanation::Part part, offer(module, library, function));
      parts.push_back(std::move(part));
    }
  }
  return {};
}

}  // namespace scopevm::compiler::external
