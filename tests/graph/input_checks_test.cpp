// The type rules reject every attribute and element type that the compiler or a kernel cannot
// process. Each op is probed with extreme integers in its attributes, and with all element types.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iostream>
#include <limits>

#include "compiler/graph/graph_ops.h"
#include "compiler/passes/context.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "scopevm/compiler.h"
#include "scopevm/module.h"
#include "scopevm/session.h"
#include "tests/temporary_file.h"

namespace scopevm::compiler::graph {
namespace {

// A valid op. All sizes are constants.
struct Sample {
  std::string op;
  std::vector<std::string> operands;  // tensors, or types that start with `tuple<`
  std::string attributes;
};

const std::string kWindow =
    "strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>";

// One entry for each op with inferred types and attributes.
std::vector<Sample> samples() {
  return {
      {"arg_max", {"f32[2, 3]"}, "{axis = 1 : i64}"},
      {"arg_min", {"f32[2, 3]"}, "{axis = 1 : i64}"},
      {"average_pool", {"f32[1, 2, 5]"}, "{kernel = array<i64: 2>, " + kWindow + "}"},
      {"blocked_concat",
       {"f32[1, 2, 4, 4, 16]", "f32[1, 1, 4, 4, 16]"},
       "{starts = array<i64: 3, 0>, counts = array<i64: 20, 16>}"},
      {"blocked_conv",
       {"f32[1, 1, 4, 4, 16]", "f32[4, 2, 3, 3]"},
       "{strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, "
       "group = 1 : i64}"},
      {"blocked_conv_transpose",
       {"f32[1, 1, 4, 4, 16]", "f32[64, 16, 1, 1]"},
       "{kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, "
       "output_pads = array<i64: 0, 0>}"},
      {"bit_cast", {"f32[2, 3]"}, "{to = \"i32\"}"},
      {"cast", {"f32[2, 3]"}, "{to = \"i32\"}"},
      {"change_case", {"str[2]"}, "{upper = true}"},
      {"concat", {"f32[2, 3]", "f32[2, 3]"}, "{axis = 1 : i64}"},
      {"constant", {}, "{value = dense<1.0> : tensor<2xf32>}"},
      {"conv", {"f32[1, 2, 5]", "f32[4, 2, 3]", "f32[4]"}, "{" + kWindow + ", group = 1 : i64}"},
      {"conv_transpose",
       {"f32[1, 2, 5]", "f32[2, 3, 3]"},
       "{" + kWindow + ", output_pads = array<i64: 0>, group = 1 : i64}"},
      {"concat_strings", {"str[2]", "str[2]"}, "{}"},
      {"count_ngrams",
       {"i64[2, 3]"},
       "{pool = dense<[1, 2]> : tensor<2xi64>, starts = array<i64: 0>, columns = array<i64: 0, 1>, "
       "weights = array<f32>, min_length = 1 : i64, max_length = 1 : i64, skips = 0 : i64}"},
      {"count_nonzero", {"f32[20]"}, "{block = 4096 : i64}"},
      {"count_pieces", {"str[2]", "str[]"}, "{max_splits = 1 : i64}"},
      {"cum_prod", {"f32[2, 3]"}, "{axis = 1 : i64}"},
      {"cum_sum", {"f32[2, 3]"}, "{axis = 1 : i64}"},
      {"device_copy", {"f32[2, 3]"}, "{to = \"cpu.global\"}"},
      {"diagonal", {"f32[3, 3]"}, "{first = 0 : i64, second = 1 : i64}"},
      {"dims_tensor", {}, "{dims = #sv.dims<[2, 3]>, scalar = false, dtype = \"i64\"}"},
      {"expand", {"f32[1, 3]"}, "{dims = #sv.dims<[2, 3]>}"},
      {"gather", {"f32[2, 3]", "i64[2]"}, "{axis = 1 : i64}"},
      {"gather_elements", {"f32[2, 3]", "i64[2, 3]"}, "{axis = 1 : i64}"},
      {"gather_nd", {"f32[2, 3]", "i64[2, 1]"}, "{batch_dims = 0 : i64}"},
      {"unpack_bits", {"u4[2, 3]"}, "{}"},
      {"pack_bits", {"u8[2, 3]"}, "{to = \"u4\"}"},
      {"iota", {}, "{size = #sv.dims<[4]>, start = 0 : i64, step = 1 : i64, dtype = \"i64\"}"},
      {"is_inf", {"f32[2, 3]"}, "{negative = true, positive = true}"},
      {"layer_norm", {"f32[2, 3]", "f32[3]"}, "{axis = 1 : i64, epsilon = 1.0e-5 : f32}"},
      {"log_softmax", {"f32[2, 3]"}, "{axis = 1 : i64}"},
      {"match_strings", {"str[2]", "i32[260]"}, "{}"},
      {"matmul", {"f32[2, 3]", "f32[3, 4]"}, "{transpose_a = false, transpose_b = false}"},
      {"matmul_blocks",
       {"f32[2, 40]", "u8[3, 20]", "f32[3, 2]", "f32[3, 2]"},
       "{depth = 40 : i64, bits = 4 : i64, block = 32 : i64}"},
      {"max_pool", {"f32[1, 2, 5]"}, "{kernel = array<i64: 2>, " + kWindow + "}"},
      {"max_pool_indices", {"f32[1, 2, 5]"}, "{kernel = array<i64: 2>, " + kWindow + "}"},
      {"nonzero", {"f32[20]", "i64[1]"}, "{count = #sv.dims<[5]>, block = 4096 : i64}"},
      {"on_device", {"f32[2, 3]"}, "{place = \"cpu\"}"},
      {"one_hot", {"i64[4]", "f32[2]"}, "{depth = #sv.dims<[5]>, axis = 1 : i64}"},
      {"pad", {"f32[2, 3]"}, "{pads = #sv.dims<[0, 1, 0, 1]>, mode = \"constant\"}"},
      {"reduce_max", {"f32[2, 3]"}, "{axes = array<i64: 1>}"},
      {"reduce_mean", {"f32[2, 3]"}, "{axes = array<i64: 1>}"},
      {"reduce_min", {"f32[2, 3]"}, "{axes = array<i64: 1>}"},
      {"reduce_prod", {"f32[2, 3]"}, "{axes = array<i64: 1>}"},
      {"reduce_sum", {"f32[2, 3]"}, "{axes = array<i64: 1>}"},
      {"reshape", {"f32[2, 3]"}, "{dims = #sv.dims<[3, 2]>}"},
      {"resize",
       {"f32[2, 3]"},
       "{dims = #sv.dims<[2, 6]>, scales = array<f32>, mode = \"nearest\", "
       "coordinates = \"asymmetric\", rounding = \"floor\"}"},
      {"roi_align",
       {"f32[1, 3, 8, 8]", "f32[2, 4]", "i64[2]"},
       "{height = 2 : i64, width = 2 : i64, samples = 1 : i64, scale = 1.0 : f32, "
       "offset = 0.0 : f32, min_size = 0.0 : f32}"},
      {"scatter_elements", {"f32[2, 3]", "i64[1, 3]", "f32[1, 3]"}, "{axis = 0 : i64}"},
      {"scatter_nd", {"f32[2, 3]", "i64[1, 1]", "f32[1, 3]"}, "{reduction = \"none\"}"},
      {"slice",
       {"f32[2, 3]"},
       "{starts = #sv.dims<[0, 0]>, sizes = #sv.dims<[2, 2]>, steps = array<i64: 1, 1>}"},
      {"insert_slice", {"f32[2, 3]", "f32[2, 1]"}, "{axis = 1 : i64, start = #sv.dims<[1]>}"},
      {"softmax", {"f32[2, 3]"}, "{axis = 1 : i64}"},
      {"split_strings", {"str[2]", "str[]"}, "{count = #sv.dims<[3]>, max_splits = 1 : i64}"},
      {"string_to_number", {"str[2]"}, "{to = \"f32\"}"},
      {"suppress_boxes",
       {"f32[1, 9, 4]", "f32[1, 1, 9]", "i64[1, 1, 9]", "f32[]", "f32[]"},
       "{limit = #sv.dims<[3]>}"},
      {"tile", {"f32[2, 3]"}, "{repeats = #sv.dims<[1, 2]>}"},
      {"top_k", {"f32[2, 3]"}, "{k = #sv.dims<[2]>, axis = 1 : i64, largest = true}"},
      {"transpose", {"f32[2, 3]"}, "{permutation = array<i64: 1, 0>}"},
      {"tree_scores",
       {"f32[2, 3]", "i32[16]", "i32[2]", "i32[2]", "f32[4]", "i32[5]", "i32[4]"},
       "{width = 2 : i64, combine = \"sum\"}"},
      {"trilu", {"f32[3, 3]"}, "{k = 0 : i64, upper = true}"},
      {"tuple_get", {"tuple<!sv.tensor<f32[2, 3]>, !sv.tensor<i64[]>>"}, "{index = 1 : i64}"},
      {"unique_rows", {"f32[4, 2]", "i64[4]"}, "{by_first = true}"},
  };
}

// Builds a function whose results are those of the added ops.
class Function {
 public:
  explicit Function(mlir::MLIRContext& context)
      : context_(context),
        builder_(&context),
        module_(mlir::ModuleOp::create(builder_.getUnknownLoc())) {
    builder_.setInsertionPointToEnd(module_->getBody());
    main_ = builder_.create<mlir::func::FuncOp>(builder_.getUnknownLoc(), "main",
                                                builder_.getFunctionType({}, {}));
    builder_.setInsertionPointToEnd(main_.addEntryBlock());
  }

  // Returns false, and adds nothing, if the type rule rejects the op.
  bool add(const std::string& op, const std::vector<std::string>& operands,
           mlir::DictionaryAttr attributes) {
    mlir::Location location = builder_.getUnknownLoc();
    mlir::Block probe;
    for (const std::string& operand : operands)
      probe.addArgument(
          mlir::parseType(operand.starts_with("tuple<") ? operand : "!sv.tensor<" + operand + ">",
                          &context_),
          location);
    mlir::OperationState state(location, "sv." + op, probe.getArguments(), {},
                               attributes.getValue());
    const bool is_valid = infer(state);
    if (!is_valid) return false;
    state.operands.clear();
    for (mlir::BlockArgument argument : probe.getArguments())
      state.operands.push_back(main_.front().addArgument(argument.getType(), location));
    mlir::Operation* added = builder_.create(state);
    results_.append(added->result_begin(), added->result_end());
    return true;
  }

  std::string text() {
    builder_.create<mlir::func::ReturnOp>(builder_.getUnknownLoc(), results_);
    main_.setType(builder_.getFunctionType(main_.front().getArgumentTypes(),
                                           mlir::ValueRange(results_).getTypes()));
    std::string text;
    llvm::raw_string_ostream(text) << *module_;
    return text;
  }

 private:
  bool infer(mlir::OperationState& state) {
    mlir::Operation* probe = mlir::Operation::create(state);
    auto rules = mlir::cast<mlir::InferTypeOpInterface>(probe);
    llvm::SmallVector<mlir::Type> types;
    const bool is_typed = succeeded(rules.inferReturnTypes(
        &context_, state.location, probe->getOperands(), probe->getAttrDictionary(),
        probe->getPropertiesStorage(), {}, types));
    probe->destroy();
    state.addTypes(types);
    return is_typed;
  }

  mlir::MLIRContext& context_;
  mlir::OpBuilder builder_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  mlir::func::FuncOp main_;
  llvm::SmallVector<mlir::Value> results_;
};

Result<CompileOutput> compile_text(const std::string& text) {
  const TemporaryFile file(text);
  CompileOptions options;
  options.model_path = file.path();
  options.target_cpus = {"x86-64"};
  return compile(options);
}

// Compiles the graph and calls it with zeros. An error is a valid outcome, except an internal one.
Status compile_and_call(const std::string& text) {
  SCOPEVM_ASSIGN_OR_RETURN(CompileOutput output, compile_text(text));
  SCOPEVM_ASSIGN_OR_RETURN(Module module, Module::load_bytes(output.module));
  SCOPEVM_ASSIGN_OR_RETURN(Session session, Session::create(module));
  std::vector<Tensor> inputs;
  for (const TensorSignature& input : module.signature().inputs) {
    std::vector<int64_t> dims;
    for (const std::string& dim : input.dims) dims.push_back(std::stoll(dim));
    SCOPEVM_ASSIGN_OR_RETURN(Tensor tensor, Tensor::allocate(input.dtype, dims));
    std::memset(tensor.data(), 0, static_cast<size_t>(tensor.bytes()));
    inputs.push_back(tensor);
  }
  return session.call(inputs).status();
}

// The process ends with 0 unless the outcome is an internal error.
[[noreturn]] void exit_with_outcome(const std::string& text) {
  const Status status = compile_and_call(text);
  if (status.code() == StatusCode::kInternal) std::cerr << status.message() << "\n";
  std::_Exit(status.code() == StatusCode::kInternal ? 1 : 0);
}

std::vector<int64_t> extremes(int64_t rank) {
  return {std::numeric_limits<int64_t>::min(), -rank - 1, -1, rank,
          std::numeric_limits<int64_t>::max()};
}

// The attribute with one integer replaced by each of the extremes, and without integers.
std::vector<mlir::Attribute> variants_of(mlir::Attribute attribute, int64_t rank) {
  mlir::Builder builder(attribute.getContext());
  std::vector<mlir::Attribute> variants;
  if (auto integer = mlir::dyn_cast<mlir::IntegerAttr>(attribute)) {
    if (!integer.getType().isInteger(64)) return {};
    for (int64_t value : extremes(rank)) variants.push_back(builder.getI64IntegerAttr(value));
  } else if (auto array = mlir::dyn_cast<mlir::DenseI64ArrayAttr>(attribute)) {
    for (int64_t i = 0; i < array.size(); ++i)
      for (int64_t value : extremes(rank)) {
        llvm::SmallVector<int64_t> values(array.asArrayRef());
        values[i] = value;
        variants.push_back(builder.getDenseI64ArrayAttr(values));
      }
    variants.push_back(builder.getDenseI64ArrayAttr({}));
  } else if (auto dims = mlir::dyn_cast<DimsAttr>(attribute)) {
    for (size_t i = 0; i < dims.getValue().size(); ++i)
      for (int64_t value : extremes(rank)) {
        llvm::SmallVector<DimExpr> values(dims.getValue());
        values[i] = value;
        variants.push_back(DimsAttr::get(attribute.getContext(), values));
      }
    variants.push_back(DimsAttr::get(attribute.getContext(), {}));
  }
  return variants;
}

// A context that neither prints diagnostics nor starts threads, so that the process can fork.
std::unique_ptr<mlir::MLIRContext> quiet_context() {
  std::unique_ptr<mlir::MLIRContext> context = make_context();
  context->disableMultithreading();
  context->getDiagEngine().registerHandler([](mlir::Diagnostic&) { return mlir::success(); });
  return context;
}

mlir::DictionaryAttr attributes_of(const Sample& sample, mlir::MLIRContext& context) {
  return mlir::cast<mlir::DictionaryAttr>(mlir::parseAttribute(sample.attributes, &context));
}

int64_t rank_of(const Sample& sample) {
  if (sample.operands.empty()) return 1;
  const std::string& first = sample.operands.front();
  return first.ends_with("[]") ? 0 : std::ranges::count(first, ',') + 1;
}

TEST(InputChecks, EveryOpWithAttributesHasASample) {
  const std::unique_ptr<mlir::MLIRContext> context = quiet_context();
  for (mlir::RegisteredOperationName op : context->getRegisteredOperations())
    if (op.hasInterface<mlir::InferTypeOpInterface>() && !op.getAttributeNames().empty() &&
        op.getDialectNamespace() == GraphDialect::getDialectNamespace())
      EXPECT_TRUE(llvm::any_of(samples(), [&](const Sample& sample) {
        return "sv." + sample.op == op.getStringRef();
      })) << op.getStringRef().str();
}

TEST(InputChecks, ExtremeIntegersAreRejectedOrCompile) {
  const std::unique_ptr<mlir::MLIRContext> context = quiet_context();
  for (const Sample& sample : samples()) {
    mlir::DictionaryAttr attributes = attributes_of(sample, *context);
    EXPECT_TRUE(Function(*context).add(sample.op, sample.operands, attributes)) << sample.op;
    for (mlir::NamedAttribute attribute : attributes)
      for (mlir::Attribute variant : variants_of(attribute.getValue(), rank_of(sample))) {
        mlir::NamedAttrList changed(attributes);
        changed.set(attribute.getName(), variant);
        Function function(*context);
        if (!function.add(sample.op, sample.operands, changed.getDictionary(context.get())))
          continue;
        const std::string text = function.text();
        EXPECT_EXIT(exit_with_outcome(text), testing::ExitedWithCode(0), "") << text;
      }
  }
}

// All elementwise ops, and the samples, with element type f32.
std::vector<Sample> samples_of_all_ops(mlir::MLIRContext& context) {
  std::vector<Sample> all = samples();
  for (mlir::RegisteredOperationName op : context.getRegisteredOperations()) {
    if (!op.hasInterface<ElementwiseOp>() || !op.getAttributeNames().empty()) continue;
    const size_t operands = op.hasTrait<mlir::OpTrait::OneOperand>()           ? 1
                            : op.hasTrait<mlir::OpTrait::NOperands<2>::Impl>() ? 2
                                                                               : 3;
    all.push_back({op.stripDialect().str(), {operands, "f32[2, 3]"}, "{}"});
  }
  return all;
}

void replace_f32(std::string& text, std::string_view dtype) {
  if (text.starts_with("f32[")) text.replace(0, 3, dtype);
}

TEST(InputChecks, AcceptedElementTypesCompile) {
  const std::unique_ptr<mlir::MLIRContext> context = quiet_context();
  for (int i = 0; i < kDTypeCount; ++i) {
    const std::string_view dtype = name(static_cast<DType>(i));
    SCOPED_TRACE(dtype);
    Function all(*context);
    std::vector<std::string> single_ops;
    for (Sample sample : samples_of_all_ops(*context)) {
      for (std::string& operand : sample.operands) replace_f32(operand, dtype);
      mlir::DictionaryAttr attributes = attributes_of(sample, *context);
      if (!all.add(sample.op, sample.operands, attributes)) continue;
      Function one(*context);
      one.add(sample.op, sample.operands, attributes);
      single_ops.push_back(one.text());
    }
    const Status status = compile_text(all.text()).status();
    if (status.ok()) continue;
    ADD_FAILURE() << status.message();
    for (const std::string& text : single_ops)
      if (const Status single = compile_text(text).status(); !single.ok())
        ADD_FAILURE() << single.message() << "\n" << text;
  }
}

}  // namespace
}  // namespace scopevm::compiler::graph
