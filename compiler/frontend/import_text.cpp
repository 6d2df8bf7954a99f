// The text form of a graph -> module. MLIR's parser does the reading; its diagnostics become the
// message, each as "model.mlir:12:7: ...".
#include "compiler/frontend/import.h"
#include "compiler/graph/graph_ops.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

namespace scopevm::frontend {
namespace {

std::string position(mlir::Location location) {
  auto file = location->findInstanceOf<mlir::FileLineColLoc>();
  if (!file) return "";
  return file.getFilename().str() + ":" + std::to_string(file.getLine()) + ":" +
         std::to_string(file.getColumn()) + ": ";
}

Status check_main(mlir::ModuleOp module, const std::string& path) {
  auto invalid = [&](const std::string& message) {
    return Status(StatusCode::kInvalidModel, path + ": " + message);
  };
  auto main = module.lookupSymbol<mlir::func::FuncOp>("main");
  if (!main || main.isExternal()) return invalid("there is no function @main");
  if (!main.getBody().hasOneBlock()) return invalid("@main must be one block");
  for (mlir::Type type :
       llvm::concat<const mlir::Type>(main.getArgumentTypes(), main.getResultTypes()))
    if (!mlir::isa<graph::TensorType>(type))
      return invalid("@main must take and return !sv.tensor values only");
  if (main.getNumResults() == 0) return invalid("@main returns nothing");
  for (mlir::Operation& op : main.getBody().front())
    if (!mlir::isa<graph::GraphDialect>(op.getDialect()) && !mlir::isa<mlir::func::ReturnOp>(op))
      return invalid("op '" + op.getName().getStringRef().str() + "' is no graph op");
  return {};
}

}  // namespace

Result<ImportedModule> import_text(const std::string& path, const ImportOptions& options,
                                   mlir::MLIRContext& context) {
  std::string messages;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic& diagnostic) {
    messages +=
        (messages.empty() ? "" : "\n") + position(diagnostic.getLocation()) + diagnostic.str();
    return mlir::success();
  });
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(path, mlir::ParserConfig(&context));
  if (!module) {
    if (messages.find(path) == std::string::npos) messages = path + ": " + messages;
    return Status(StatusCode::kInvalidModel, messages);
  }
  SCOPEVM_RETURN_IF_ERROR(check_main(*module, path));
  for (const auto& [name, bound] : options.dims) {
    bool is_known = false;
    auto main = module->lookupSymbol<mlir::func::FuncOp>("main");
    for (mlir::Type type : main.getArgumentTypes())
      for (DimExpr dim : mlir::cast<graph::TensorType>(type).getShape())
        is_known |= llvm::is_contained(dim.symbols(), name);
    if (!is_known)
      return Status(StatusCode::kInvalidArgument,
                    path + ": there is no dimension \"" + name + "\"");
  }
  return module;
}

}  // namespace scopevm::frontend
