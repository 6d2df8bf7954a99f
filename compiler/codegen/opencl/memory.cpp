// Prints loads, stores and local arrays. Vectors are accessed by vload and vstore, which require
// only the alignment of an element. Masked and indexed accesses are split into lanes, because the
// address of a lane that the mask excludes may be invalid.
#include "compiler/codegen/opencl/op_printers.h"
#include "compiler/codegen/opencl/printer.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace scopevm::compiler::codegen::opencl {
namespace {

namespace memref = mlir::memref;
namespace vector = mlir::vector;

std::string element(Printer& p, mlir::Value base, mlir::Value at) {
  return p.name(base) + "[" + p.name(at) + "]";
}

// The element at base[at + index].
std::string element(Printer& p, mlir::Value base, mlir::Value at, int64_t index) {
  return p.name(base) + "[" + p.name(at) + " + " + std::to_string(index) + "]";
}

bool print(Printer& p, memref::LoadOp op) {
  if (op.getIndices().size() != 1) return false;
  p.define(op.getResult(), element(p, op.getMemRef(), op.getIndices()[0]));
  return true;
}

bool print(Printer& p, memref::StoreOp op) {
  if (op.getIndices().size() != 1) return false;
  p.line(element(p, op.getMemRef(), op.getIndices()[0]) + " = " + p.name(op.getValue()) + ";");
  return true;
}

bool print(Printer& p, memref::AllocaOp op) {
  Form form = form_of(op.getType().getElementType());
  if (!form || !op.getType().hasStaticShape() || op.getType().getRank() != 1) return false;
  p.declare_array(op.getResult(), form, op.getType().getNumElements());
  return true;
}

// REQUIRES: the memref has scalar elements.
bool print(Printer& p, vector::LoadOp op) {
  if (op.getIndices().size() != 1) return false;
  mlir::Value base = op.getBase(), at = op.getIndices()[0];
  Form form = p.form(op.getResult());
  if (form.is_scalar()) {
    p.define(op.getResult(), element(p, base, at));
  } else if (form.is_native()) {
    p.define(op.getResult(), "vload" + std::to_string(form.lanes) + "(0, " + p.name(base) + " + " +
                                 p.name(at) + ")");
  } else {
    const std::string& name = p.declare(op.getResult());
    p.line("for (int l = 0; l < " + std::to_string(form.lanes) + "; ++l) " + name +
           ".s[l] = " + p.name(base) + "[" + p.name(at) + " + l];");
  }
  return true;
}

bool print(Printer& p, vector::StoreOp op) {
  Form form = p.form(op.getValueToStore());
  if (op.getIndices().size() != 1 || !form) return false;
  mlir::Value base = op.getBase(), at = op.getIndices()[0];
  const std::string value = p.name(op.getValueToStore());
  if (form.is_scalar())
    p.line(element(p, base, at) + " = " + value + ";");
  else if (form.is_native())
    p.line("vstore" + std::to_string(form.lanes) + "(" + value + ", 0, " + p.name(base) + " + " +
           p.name(at) + ");");
  else
    p.line("for (int l = 0; l < " + std::to_string(form.lanes) + "; ++l) " + p.name(base) + "[" +
           p.name(at) + " + l] = " + value + ".s[l];");
  return true;
}

// Lane l of the result is source(l) if lane l of `mask` is set, else lane l of `rest`.
template <typename Source>
void print_where(Printer& p, mlir::Value result, mlir::Value mask, mlir::Value rest,
                 const Source& source) {
  Form form = p.form(result), bools = p.form(mask);
  const std::string name = p.declare(result, p.name(rest));
  for (int64_t l = 0; l < form.lanes; ++l)
    p.line("if (" + lane(bools, p.name(mask), l) + ") " + lane(form, name, l) + " = " + source(l) +
           ";");
}

bool print(Printer& p, vector::MaskedLoadOp op) {
  if (op.getIndices().size() != 1) return false;
  print_where(p, op.getResult(), op.getMask(), op.getPassThru(),
              [&](int64_t l) { return element(p, op.getBase(), op.getIndices()[0], l); });
  return true;
}

bool print(Printer& p, vector::GatherOp op) {
  Form indices = p.form(op.getIndexVec());
  if (op.getIndices().size() != 1 || !indices) return false;
  // The index of a lane is a signed offset from op.getIndices()[0].
  print_where(p, op.getResult(), op.getMask(), op.getPassThru(), [&](int64_t l) {
    return p.name(op.getBase()) + "[" + p.name(op.getIndices()[0]) + " + as_" +
           signed_name({indices.element, 1}) + "(" + lane(indices, p.name(op.getIndexVec()), l) +
           ")]";
  });
  return true;
}

bool print(Printer& p, vector::MaskedStoreOp op) {
  Form form = p.form(op.getValueToStore()), bools = p.form(op.getMask());
  if (op.getIndices().size() != 1 || !form) return false;
  for (int64_t l = 0; l < form.lanes; ++l)
    p.line("if (" + lane(bools, p.name(op.getMask()), l) + ") " +
           element(p, op.getBase(), op.getIndices()[0], l) + " = " +
           lane(form, p.name(op.getValueToStore()), l) + ";");
  return true;
}

// A hint without effect in OpenCL C.
bool print(Printer&, memref::PrefetchOp) { return true; }

}  // namespace

void add_memory(OpPrinters& printers) {
  printers.add<memref::LoadOp>(print);
  printers.add<memref::StoreOp>(print);
  printers.add<memref::AllocaOp>(print);
  printers.add<memref::PrefetchOp>(print);
  printers.add<vector::LoadOp>(print);
  printers.add<vector::StoreOp>(print);
  printers.add<vector::MaskedLoadOp>(print);
  printers.add<vector::MaskedStoreOp>(print);
  printers.add<vector::GatherOp>(print);
}

}  // namespace scopevm::compiler::codegen::opencl
