// Prints operations that move lanes of vectors, make masks or reduce. Most results are printed as
// initialisers with an expression for each lane.
#include "compiler/codegen/opencl/arithmetic.h"
#include "compiler/codegen/opencl/op_printers.h"
#include "compiler/codegen/opencl/printer.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace scopevm::compiler::codegen::opencl {
namespace {

namespace vector = mlir::vector;
using Strings = llvm::SmallVector<std::string>;

Strings lanes_of(Printer& p, mlir::Value value) {
  Form form = p.form(value);
  Strings strings;
  for (int64_t l = 0; l < form.lanes; ++l) strings.push_back(lane(form, p.name(value), l));
  return strings;
}

void define_listed(Printer& p, mlir::Value result, const Strings& lanes) {
  p.define(result, listed(p.form(result), lanes));
}

bool print_splat(Printer& p, mlir::Value source, mlir::Value result) {
  Form form = p.form(result);
  if (!p.form(source).is_scalar()) return false;
  const std::string x = p.name(source);
  if (form.is_native())
    define_listed(p, result, {x});
  else
    define_listed(p, result, Strings(static_cast<size_t>(form.lanes), x));
  return true;
}

bool print(Printer& p, vector::BroadcastOp op) {
  return p.form(op.getSource()) && print_splat(p, op.getSource(), op.getResult());
}

bool print(Printer& p, vector::SplatOp op) {
  return print_splat(p, op.getInput(), op.getAggregate());
}

bool print(Printer& p, vector::ExtractOp op) {
  if (op.hasDynamicPosition() || op.getNumIndices() != 1 || !p.form(op.getVector())) return false;
  p.define(op.getResult(), lanes_of(p, op.getVector())[op.getStaticPosition()[0]]);
  return true;
}

bool print(Printer& p, vector::FromElementsOp op) {
  Strings lanes;
  for (mlir::Value each : op.getElements()) lanes.push_back(p.name(each));
  define_listed(p, op.getResult(), lanes);
  return true;
}

bool print(Printer& p, vector::ShuffleOp op) {
  if (!p.form(op.getV1()) || !p.form(op.getV2())) return false;
  Strings from = lanes_of(p, op.getV1());
  from.append(lanes_of(p, op.getV2()));
  Strings lanes;
  for (mlir::Attribute each : op.getMask())
    lanes.push_back(from[mlir::cast<mlir::IntegerAttr>(each).getInt()]);
  define_listed(p, op.getResult(), lanes);
  return true;
}

bool print(Printer& p, vector::ExtractStridedSliceOp op) {
  if (!p.form(op.getVector())) return false;
  int64_t first = mlir::cast<mlir::IntegerAttr>(op.getOffsets()[0]).getInt();
  int64_t step = mlir::cast<mlir::IntegerAttr>(op.getStrides()[0]).getInt();
  Strings from = lanes_of(p, op.getVector()), lanes;
  for (int64_t l = 0; l < p.form(op.getResult()).lanes; ++l)
    lanes.push_back(from[first + l * step]);
  define_listed(p, op.getResult(), lanes);
  return true;
}

bool print(Printer& p, vector::CreateMaskOp op) {
  if (op.getOperands().size() != 1) return false;
  Strings lanes;
  for (int64_t l = 0; l < p.form(op.getResult()).lanes; ++l)
    lanes.push_back("(as_long(" + p.name(op.getOperands()[0]) + ") > " + std::to_string(l) + ")");
  define_listed(p, op.getResult(), lanes);
  return true;
}

bool print(Printer& p, vector::ConstantMaskOp op) {
  int64_t count = mlir::cast<mlir::IntegerAttr>(op.getMaskDimSizes()[0]).getInt();
  Strings lanes;
  for (int64_t l = 0; l < p.form(op.getResult()).lanes; ++l)
    lanes.push_back(l < count ? "true" : "false");
  define_listed(p, op.getResult(), lanes);
  return true;
}

bool print(Printer& p, vector::ReductionOp op) {
  Form form = p.form(op.getDest());
  if (!p.form(op.getVector())) return false;
  Strings lanes = lanes_of(p, op.getVector());
  if (op.getAcc()) lanes.insert(lanes.begin(), p.name(op.getAcc()));
  // Lanes are combined in order, as in the CPU's reduction. Each step is one statement, because
  // some expressions use their operands twice.
  std::string sum = lanes.front();
  for (size_t l = 1; l < lanes.size(); ++l) {
    std::string text = combined(op.getKind(), form, sum, lanes[l]);
    if (text.empty()) return false;
    p.define(op.getDest(), text);
    sum = p.name(op.getDest());
  }
  if (lanes.size() == 1) p.define(op.getDest(), sum);
  return true;
}

// An integer with one bit per lane of `bools`. The first lane is the lowest bit.
std::string packed(Printer& p, mlir::Value bools) {
  std::string text;
  for (const auto& [l, each] : llvm::enumerate(lanes_of(p, bools)))
    text += (l > 0 ? " | " : "") + ("(ulong)" + each) + " << " + std::to_string(l);
  return text;
}

bool print(Printer& p, vector::BitCastOp op) {
  Form from = p.form(op.getSource()), to = p.form(op.getResult());
  if (!from) return false;
  const std::string source = p.name(op.getSource());
  if (from.is_bool()) {
    if (!to.is_scalar() || to.is_bool()) return false;
    p.define(op.getResult(), "(" + type_name(to) + ")(" + packed(p, op.getSource()) + ")");
  } else if (to.is_bool()) {
    return false;
  } else if (!from.is_array() && !to.is_array()) {
    p.define(op.getResult(), "as_" + type_name(to) + "(" + source + ")");
  } else {
    const std::string& name = p.declare(op.getResult());
    // Arrays are structs, which as_type() does not accept; C99 defines reading the other member of
    // a union.
    p.line("{ union { " + type_name(from) + " from; " + type_name(to) +
           " to; } u; u.from = " + source + "; " + name + " = u.to; }");
  }
  return true;
}

// Supports one CPU intrinsic that no MLIR operation expresses, pmaddwd: it multiplies lanes of i16
// and adds adjacent products.
bool print(Printer& p, mlir::LLVM::CallIntrinsicOp op) {
  const bool is_pairwise =
      op.getIntrin().contains(".pmadd.wd") || op.getIntrin().contains(".pmaddw.d");
  if (!is_pairwise || op.getNumResults() != 1 || op.getArgs().size() != 2) return false;
  Form form = p.form(op.getArgs()[0]), to = p.form(op.getResult(0));
  if (!form || !form.is_native() || form.is_bool() || form.bits() != 16 || to.lanes < 2)
    return false;
  // Extracts the lanes of i16 by shifts of 32-bit words. Shuffles would have the same effect, but
  // drivers are slow to optimise them.
  const std::string lanes = std::to_string(to.lanes);
  const std::string words = "as_uint" + lanes, numbers = "as_int" + lanes;
  auto even = [&](mlir::Value value) {
    return "(" + numbers + "(" + words + "(" + p.name(value) + ") << 16) >> 16)";
  };
  auto odd = [&](mlir::Value value) { return "(" + numbers + "(" + p.name(value) + ") >> 16)"; };
  auto product = [&](const std::string& a, const std::string& b) {
    const std::string type = "as_" + type_name(to);
    return type + "(" + a + ") * " + type + "(" + b + ")";
  };
  mlir::Value a = op.getArgs()[0], b = op.getArgs()[1];
  p.define(op.getResult(0), product(even(a), even(b)) + " + " + product(odd(a), odd(b)));
  return true;
}

}  // namespace

void add_lanes(OpPrinters& printers) {
  printers.add<vector::BroadcastOp>(print);
  printers.add<vector::SplatOp>(print);
  printers.add<vector::ExtractOp>(print);
  printers.add<vector::FromElementsOp>(print);
  printers.add<vector::ShuffleOp>(print);
  printers.add<vector::ExtractStridedSliceOp>(print);
  printers.add<vector::CreateMaskOp>(print);
  printers.add<vector::ConstantMaskOp>(print);
  printers.add<vector::ReductionOp>(print);
  printers.add<vector::BitCastOp>(print);
  printers.add<mlir::LLVM::CallIntrinsicOp>(print);
}

}  // namespace scopevm::compiler::codegen::opencl
