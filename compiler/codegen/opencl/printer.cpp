// Prints names, declarations, functions and single operations. control_flow.cpp prints control
// flow.
#include "compiler/codegen/opencl/printer.h"

#include <array>

#include "compiler/codegen/opencl/arithmetic.h"
#include "compiler/codegen/opencl/op_printers.h"

namespace scopevm::compiler::codegen::opencl {
namespace {

const OpPrinters& op_printers() {
  static const OpPrinters all = [] {
    OpPrinters printers;
    printers.add<mlir::arith::ConstantOp>(
        [](Printer& p, mlir::arith::ConstantOp op) { return p.print_constant(op); });
    printers.add<mlir::func::CallOp>(
        [](Printer& p, mlir::func::CallOp op) { return p.print_call(op); });
    add_control_flow(printers);
    add_memory(printers);
    add_lanes(printers);
    return printers;
  }();
  return all;
}

}  // namespace

std::string Printer::declarations() const {
  std::string text;
  for (const auto& [name, declaration] : structs_) text += declaration + "\n";
  return text;
}

Form Printer::form(mlir::Value value) {
  Form form = form_of(value.getType());
  if (!form) return form;
  if (form.element.isF64()) has_f64_ = true;
  // OpenCL C has no vectors of this length. Their type is a struct with an array.
  if (form.is_array()) {
    std::string element = type_name({form.element, 1}), name = type_name(form);
    structs_[name] =
        "typedef struct { " + element + " s[" + std::to_string(form.lanes) + "]; } " + name + ";";
  }
  return form;
}

void Printer::line(const std::string& text) {
  text_.append(static_cast<size_t>(depth_) * 2, ' ');
  text_ += text + "\n";
}

void Printer::define(mlir::Value value, const std::string& text) {
  std::string type = type_name(form(value));
  std::string name = fresh();
  line("const " + type + " " + name + " = " + text + ";");
  names_[value] = std::move(name);
}

const std::string& Printer::declare(mlir::Value value, const std::string& text) {
  std::string type = type_name(form(value));
  std::string name = fresh();
  line(type + " " + name + (text.empty() ? "" : " = " + text) + ";");
  return names_[value] = std::move(name);
}

const std::string& Printer::declare_array(mlir::Value memref, Form element, int64_t count) {
  if (element.element.isF64()) has_f64_ = true;
  std::string name = fresh();
  line(type_name(element) + " " + name + "[" + std::to_string(count) + "];");
  private_.insert(memref);
  return names_[memref] = std::move(name);
}

void Printer::begin_function() {
  depth_ = 0;
  next_ = 0;
  names_.clear();
  private_.clear();
  unsupported_ = nullptr;
}

Status Printer::finish(mlir::func::FuncOp function, bool is_printed) {
  if (is_printed) return {};
  std::string what =
      unsupported_ ? "operation " + unsupported_->getName().getStringRef().str() : "a type";
  if (unsupported_ && unsupported_->getNumResults() == 1) {
    llvm::raw_string_ostream stream(what);
    stream << " (" << unsupported_->getResult(0).getType() << ")";
  }
  return {StatusCode::kUnsupported, "kernel " + function.getName().str() + ": " + what +
                                        " is not supported by the OpenCL back end"};
}

// The parameter list in parentheses. Empty if an argument has an unsupported type.
std::string Printer::parameters(mlir::func::FuncOp function, bool with_names) {
  std::string text = "(";
  for (mlir::BlockArgument argument : function.getArguments()) {
    auto memref = mlir::dyn_cast<mlir::MemRefType>(argument.getType());
    Form form = form_of(memref ? memref.getElementType() : argument.getType());
    if (!form) return "";
    if (form.element.isF64()) has_f64_ = true;
    if (!memref) this->form(argument);
    if (argument.getArgNumber() > 0) text += ", ";
    text += (memref ? "__global " : "const ") + type_name(form) + (memref ? "*" : "");
    if (!with_names) continue;
    names_[argument] = fresh();
    text += " " + names_[argument];
  }
  return text + ")";
}

Status Printer::print_head(mlir::func::FuncOp function) {
  std::string list = parameters(function, false);
  if (list.empty() || function.getNumResults() != 0) return finish(function, false);
  line("void " + function.getName().str() + list + ";");
  return {};
}

Status Printer::print_function(mlir::func::FuncOp function) {
  begin_function();
  std::string list = parameters(function, true);
  if (list.empty() || !function.getBody().hasOneBlock()) return finish(function, false);
  line("");
  line("void " + function.getName().str() + list + " {");
  bool is_printed = print_block(function.getBody().front());
  line("}");
  return finish(function, is_printed);
}

Status Printer::print_kernel(mlir::func::FuncOp function, const Kernel& kernel) {
  begin_function();
  const int buffers = kernel.buffer_count, params = kernel.param_count;
  // A work item of OpenCL makes one call, which continues no other: `first` is `begin`.
  constexpr std::array kCallArguments = {"begin", "end", "worker", "begin"};
  const int expected = buffers + params + static_cast<int>(kCallArguments.size());
  const int given = static_cast<int>(function.getNumArguments());
  if (given != expected)
    return {StatusCode::kInternal, "kernel " + kernel.symbol +
                                       ": argument count mismatch: expected " +
                                       std::to_string(expected) + ", got " + std::to_string(given)};
  if (!function.getBody().hasOneBlock())
    return {StatusCode::kInternal, "kernel " + kernel.symbol + ": expected one block"};
  std::string list;
  for (int i = 0; i < buffers; ++i)
    // A cl_mem argument cannot point into a buffer, and sub-buffers have alignment rules, so each
    // buffer has an offset argument.
    list += "__global uchar* b" + std::to_string(i) + ", ulong o" + std::to_string(i) + ", ";
  for (int i = 0; i < params; ++i) list += "long p" + std::to_string(i) + ", ";
  line("");
  line("__kernel void " + kernel.symbol + "(" + list + "long grid, long per_item) {");
  ++depth_;
  line("const ulong worker = get_global_id(0);");
  line("const ulong begin = worker * (ulong)per_item;");
  line("if (begin >= (ulong)grid) return;");
  line("const ulong end = min((ulong)grid, begin + (ulong)per_item);");
  for (int i = 0; i < buffers; ++i) {
    mlir::Value argument = function.getArgument(static_cast<unsigned>(i));
    auto memref = mlir::dyn_cast<mlir::MemRefType>(argument.getType());
    Form form = memref ? form_of(memref.getElementType()) : Form{};
    if (!form) return finish(function, false);
    if (form.element.isF64()) has_f64_ = true;
    std::string pointer = "__global " + type_name(form) + "*", number = std::to_string(i);
    std::string name = fresh();
    line(pointer + " const " + name + " = (" + pointer + ")(b" + number + " + o" + number + ");");
    bind(argument, name);
  }
  for (int i = 0; i < params; ++i)
    define(function.getArgument(static_cast<unsigned>(buffers + i)),
           // Params are signed in the ABI; integers are stored as unsigned.
           "(ulong)p" + std::to_string(i));
  auto position = static_cast<unsigned>(buffers + params);
  for (const char* name : kCallArguments) bind(function.getArgument(position++), name);
  --depth_;
  bool is_printed = print_block(function.getBody().front());
  line("}");
  return finish(function, is_printed);
}

bool Printer::print_block(mlir::Block& block) {
  ++depth_;
  for (mlir::Operation& op : block.without_terminator()) {
    if (print_operation(op)) continue;
    if (!unsupported_) unsupported_ = &op;
    return false;
  }
  --depth_;
  return true;
}

bool Printer::print_operation(mlir::Operation& op) {
  for (mlir::Value result : op.getResults())
    if (!form(result) && !mlir::isa<mlir::MemRefType>(result.getType())) return false;
  const OpPrinters::Function* print = op_printers().find(&op);
  return print != nullptr ? (*print)(*this, &op) : print_elementwise(op);
}

bool Printer::print_constant(mlir::arith::ConstantOp op) {
  mlir::Value result = op.getResult();
  Form form = this->form(result);
  std::string text = constant(form, op.getValue());
  if (text.empty()) return false;
  if (form.is_scalar())
    bind(result, std::move(text));
  else
    define(result, text);
  return true;
}

// Prints one scalar expression per lane.
bool Printer::print_by_lane(mlir::Operation& op) {
  Form form = this->form(op.getResult(0));
  llvm::SmallVector<std::string> lanes;
  for (int64_t l = 0; l < form.lanes; ++l) {
    llvm::SmallVector<std::string> operands;
    for (mlir::Value operand : op.getOperands())
      operands.push_back(lane(this->form(operand), name(operand), l));
    lanes.push_back(expression(&op, operands, 1));
    if (lanes.back().empty()) return false;
  }
  define(op.getResult(0), listed(form, lanes));
  return true;
}

bool Printer::print_elementwise(mlir::Operation& op) {
  if (op.getNumResults() != 1) return false;
  mlir::Value result = op.getResult(0);
  Form form = this->form(result);
  for (mlir::Value operand : op.getOperands())
    if (!this->form(operand)) return false;
  // Each lane calls the scalar function; see is_called_by_lane().
  if (form.is_native() && is_called_by_lane(&op)) return print_by_lane(op);
  const bool is_array = form.is_array();
  llvm::SmallVector<std::string> operands;
  for (mlir::Value operand : op.getOperands())
    operands.push_back(name(operand) +
                       (is_array && !this->form(operand).is_scalar() ? ".s[l]" : ""));
  std::string text = expression(&op, operands, is_array ? 1 : form.lanes);
  if (text.empty()) return false;
  if (!is_array) {
    define(result, text);
    return true;
  }
  const std::string target = declare(result);
  line("for (int l = 0; l < " + std::to_string(form.lanes) + "; ++l) " + target +
       ".s[l] = " + text + ";");
  return true;
}

bool Printer::print_call(mlir::func::CallOp op) {
  std::string list;
  for (mlir::Value operand : op.getOperands()) {
    // Functions take only memrefs in global memory.
    if (mlir::isa<mlir::MemRefType>(operand.getType()) && !is_global(operand)) return false;
    list += (list.empty() ? "" : ", ") + name(operand);
  }
  if (op.getNumResults() != 0) return false;
  line(op.getCallee().str() + "(" + list + ");");
  return true;
}

}  // namespace scopevm::compiler::codegen::opencl
