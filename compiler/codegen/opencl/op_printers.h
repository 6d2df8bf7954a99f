// OpPrinters: maps operation types to the functions that print them. Each source file registers its
// own functions. Operations without such a function are printed as expressions (arithmetic.h).
#pragma once

#include <functional>

#include "llvm/ADT/DenseMap.h"
#include "mlir/IR/Operation.h"

namespace scopevm::compiler::codegen::opencl {

class Printer;

class OpPrinters {
 public:
  // Returns false if the operation has no OpenCL C equivalent.
  using Function = std::function<bool(Printer&, mlir::Operation*)>;

  template <typename Op>
  void add(bool (*print)(Printer&, Op)) {
    by_type_[mlir::TypeID::get<Op>()] = [print](Printer& printer, mlir::Operation* op) {
      return print(printer, mlir::cast<Op>(op));
    };
  }

  // Null if no function is registered for the operation's type.
  const Function* find(mlir::Operation* op) const {
    auto found = by_type_.find(op->getName().getTypeID());
    return found == by_type_.end() ? nullptr : &found->second;
  }

 private:
  llvm::DenseMap<mlir::TypeID, Function> by_type_;
};

void add_control_flow(OpPrinters& printers);
// Loads, stores and local arrays.
void add_memory(OpPrinters& printers);
// Operations that move lanes of vectors, make masks or reduce.
void add_lanes(OpPrinters& printers);

}  // namespace scopevm::compiler::codegen::opencl
