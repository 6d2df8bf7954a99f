// Test fixture for the kernel builder: a LoweringContext that records launches, and an arbitrary op
// as the source of the kernels.
#pragma once

#include <gtest/gtest.h>

#include "compiler/kernels/builder/kernel_builder.h"
#include "compiler/passes/context.h"

namespace scopevm::compiler::testing {

class Building : public ::testing::Test, public kernels::LoweringContext {
 protected:
  explicit Building(const schedule::Target& target = {.vector_bits = 512, .has_masks = true})
      : context_(make_context()),
        module_(context_.get(), target, schedule::core_of(target)),
        op_(mlir::ModuleOp::create(mlir::UnknownLoc::get(context_.get()))) {}

  kernels::KernelModule& kernels() override { return module_; }
  ValueId value_of(mlir::Value) override { return {}; }
  mlir::ElementsAttr constant_of(mlir::Value) override { return nullptr; }
  bool may_pad(mlir::Value) override { return true; }
  ValueId intermediate(llvm::StringRef, DType, std::vector<DimExpr>) override { return {}; }
  ValueId constant(const std::string&, mlir::Value, llvm::function_ref<Constant()>) override {
    return {};
  }
  int32_t string_index(llvm::StringRef) override { return 0; }
  void copy(ValueId from, ValueId to) override {
    steps_.push_back({.operands = {from}, .results = {to}, .work = step::Copy()});
  }
  void launch(Step step) override { steps_.push_back(std::move(step)); }

  mlir::Operation* op() { return op_.get(); }
  // The assembly of all kernels built so far.
  std::string text() {
    std::string text;
    llvm::raw_string_ostream stream(text);
    module_.module().print(stream);
    return text;
  }
  int count(const std::string& what) {
    std::string all = text();
    int found = 0;
    for (size_t at = 0; (at = all.find(what, at)) != std::string::npos; ++at) ++found;
    return found;
  }

  std::unique_ptr<mlir::MLIRContext> context_;
  kernels::KernelModule module_;
  mlir::OwningOpRef<mlir::ModuleOp> op_;
  const step::Launch& launch(size_t i) const { return *steps_[i].as<step::Launch>(); }

  std::vector<Step> steps_;
};

}  // namespace scopevm::compiler::testing
