// FunctionLowering: translates one graph function to a Program function. Private to
// compiler/kernels.
//   separate_results.cpp   runs first: copies values that cannot be returned or yielded directly
//   function_lowering.cpp  values, and ops in order
//   structure.cpp          the overloads of `lower` of op_lowerings.h for ops without kernels
//   control_flow.cpp       sv.if, sv.loop, sv.read_dims
//   calls.cpp              sv.call, closures
//   call_extern.cpp        sv.call_extern
//   lists.cpp              sv.list, and the ops that read and change lists
//   slice_view.cpp         slices that are views of their operand
#pragma once

#include <map>
#include <set>
#include <string>

#include "compiler/graph/diagnostics/op_name.h"
#include "compiler/graph/graph_ops.h"
#include "compiler/kernels/function/constant_table.h"
#include "compiler/kernels/generators.h"
#include "llvm/ADT/DenseMap.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "scopevm/compiler.h"
#include "scopevm/status.h"

namespace scopevm::compiler::kernels {

using graph::op_name;

// The operand of the first reshape in the chain of reshapes that computes `value`. A value that no
// reshape computes is returned unchanged.
mlir::Value viewed(mlir::Value value);

// Copies each value whose storage its consumer cannot use. A copy is an sv.expand to the same dims.
// The consumers are returns, yields, loops (initial values), closures and lists. Examples of such
// values are inputs, constants, values of another block, and values that are returned or yielded
// twice. Idempotent.
void separate_results(mlir::func::FuncOp function);

class FunctionLowering : public LoweringContext {
 public:
  // Indices of the program's functions, by name.
  using Functions = std::map<std::string, FunctionIndex, std::less<>>;

  // The program's index of a kernel, by device and by index in the device's kernel module.
  using KernelIndexes = std::map<std::pair<DeviceIndex, KernelIndex>, KernelIndex>;

  FunctionLowering(Program& program, ConstantTable& constants, const ModulesByDevice& kernels,
                   KernelIndexes& kernel_indexes, const Functions& functions)
      : program_(program),
        constants_(constants),
        kernels_(kernels),
        kernel_indexes_(kernel_indexes),
        functions_(functions) {}

  // Appends the function to the program. `dims` has the bounds of named dims of the parameters;
  // `any` bounds all other dims.
  Status run(mlir::func::FuncOp function, const std::map<std::string, DimBound>& dims,
             const DimBound& any);

  // --- LoweringContext. ---
  KernelModule& kernels() override { return *kernels_[device_]; }
  ValueId value_of(mlir::Value value) override;
  mlir::ElementsAttr constant_of(mlir::Value value) override;
  bool may_pad(mlir::Value constant) override;
  ValueId intermediate(llvm::StringRef name, DType dtype, std::vector<DimExpr> shape) override;
  ValueId constant(const std::string& key, mlir::Value source,
                   llvm::function_ref<Constant()> make) override;
  int32_t string_index(llvm::StringRef string) override;
  void copy(ValueId from, ValueId to) override;
  void launch(Step step) override;

  // --- Ops without kernels: they become other steps, or views (sv.reshape). ---
  llvm::LogicalResult lower(graph::ReshapeOp op);      // function_lowering.cpp
  llvm::LogicalResult lower(graph::ReadDimsOp op);     // control_flow.cpp
  llvm::LogicalResult lower(graph::IfOp op);           // control_flow.cpp
  llvm::LogicalResult lower(graph::LoopOp op);         // control_flow.cpp
  llvm::LogicalResult lower(graph::CallOp op);         // calls.cpp
  llvm::LogicalResult lower(graph::CallClosureOp op);  // calls.cpp
  llvm::LogicalResult lower(graph::ClosureOp op);      // calls.cpp
  llvm::LogicalResult lower(graph::CallExternOp op);   // call_extern.cpp
  llvm::LogicalResult lower(graph::ListOp op);         // lists.cpp
  llvm::LogicalResult lower(graph::ListGetOp op);      // lists.cpp
  llvm::LogicalResult lower(graph::ListInsertOp op);   // lists.cpp
  llvm::LogicalResult lower(graph::ListEraseOp op);    // lists.cpp
  llvm::LogicalResult lower(graph::ListSizeOp op);     // lists.cpp
  // Appends a step with the op's name, operands and results.
  void add_step(decltype(Step::work) work, mlir::Operation* op);

 private:
  // A loop-carried value.
  struct Carried {
    mlir::Value argument;
    ValueId value;         // of `argument`; the result of the loop has the same register
    bool is_open = false;  // a list, a closure, or a tensor whose shape can change
  };

  ValueId add_value(Value value);
  ValueId add_value(const std::string& name, mlir::Type type);
  ValueId add_constant(Constant constant, PoolIndex pool);
  Constant make_constant(mlir::ElementsAttr elements, mlir::Value value);
  ConstantIndex add_default(mlir::ElementsAttr elements, const Value& input);
  void collect_dimensions(const std::map<std::string, DimBound>& bounds, const DimBound& any);
  void fit_capacity(mlir::Value buffer);
  void collect_own_checks(mlir::Operation* op);

  void store_moved_results();

  llvm::LogicalResult lower_block(mlir::Block& block);
  llvm::LogicalResult lower_op(mlir::Operation* op);
  // Sets the operations of `op` on the last launch from step `first` on.
  void set_flops(mlir::Operation* op, size_t first);
  Place place_of(mlir::Type type) const;
  // The pool of the constant `value`: that of the required scope, else the constant pool of its
  // device.
  PoolIndex constant_pool(mlir::Value value) const;
  DeviceIndex device_running(mlir::Operation* op) const;

  // --- slice_view.cpp ---
  static bool is_part(graph::SliceOp slice);
  void lower_part(graph::SliceOp slice);

  // --- calls.cpp ---
  void lower_call(mlir::Operation* op, decltype(Step::work) work, mlir::ArrayAttr symbols);

  // --- call_extern.cpp ---
  KernelIndex external_kernel(graph::ExternOp declaration, size_t buffers);

  // --- lists.cpp ---
  ValueId add_list(const std::string& name, graph::ListType type);
  ValueId element_of(mlir::Value value);

  // --- control_flow.cpp ---
  SegmentIndex new_segment(std::vector<RuntimeSymbol> symbols);
  // Appends a step and returns its position.
  int64_t push(Step step);
  // Appends a step that reads `operands` and defines `symbols`.
  void push_read(std::vector<ValueId> operands, std::vector<RuntimeSymbol> symbols);
  // Appends `step`, and then, if `symbols` is not empty, a read of its results that defines them.
  void push_and_read(Step step, std::vector<RuntimeSymbol> symbols);
  void check_defined(const Step& step);
  void check_defined(const std::string& name, llvm::ArrayRef<DimExpr> dims);
  void check_results_defined(mlir::Operation* op);
  llvm::LogicalResult lower_branch(graph::IfOp op, mlir::Block& block,
                                   const std::vector<bool>& is_open);
  std::vector<Carried> begin_carried(graph::LoopOp op);
  void begin_gathered(graph::LoopOp op, Step& loop);
  void end_carried(graph::LoopOp op, const std::vector<Carried>& carried, int64_t begin);
  void end_loop(graph::LoopOp op, const std::vector<Carried>& carried, int64_t begin);
  bool take_over(ValueId next, ValueId current, int64_t begin);
  void replace_value(ValueId from, ValueId to, int64_t begin);
  void add_dim_symbols(mlir::ArrayAttr names, mlir::Type type, size_t operand,
                       const std::string& what, std::vector<RuntimeSymbol>& symbols) const;

  Program& program_;
  ConstantTable& constants_;
  const ModulesByDevice& kernels_;
  KernelIndexes& kernel_indexes_;
  const Functions& functions_;
  Function function_;
  llvm::DenseMap<mlir::Value, ValueId> ids_;
  std::map<std::string, ValueId> constants_by_key_;
  mlir::Operation* current_ = nullptr;  // the op that is lowered
  DeviceIndex device_;                  // the device that runs the current op
  SegmentIndex segment_;                // the segment of the current block
  // The symbols that the next step can use: those of the inputs and of the segments that have begun
  // in the current block and in enclosing blocks.
  std::set<std::string, std::less<>> defined_;
  Status status_;
};

}  // namespace scopevm::compiler::kernels
