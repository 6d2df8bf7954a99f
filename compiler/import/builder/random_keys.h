// The keys of random numbers (graph::PhiloxOp): u64 scalars.
#pragma once

#include <string>
#include <vector>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Value.h"

namespace scopevm::compiler::frontend {

class RandomKeys {
 public:
  // A part of main in which all random operators have the same key: main itself, or the body of a
  // loop, which has another key in each iteration.
  struct Part {
    mlir::Block* block = nullptr;
    std::string index;  // the symbol of the iterations; empty for main
    mlir::Value key;    // null until the first random operator needs it
  };

  // The body of a loop, as long as its ops are built.
  class Body {
   public:
    Body(RandomKeys& keys, mlir::Block& block, std::string index) : keys_(keys) {
      keys_.parts_.push_back({&block, std::move(index), {}});
    }
    Body(const Body&) = delete;
    Body& operator=(const Body&) = delete;
    ~Body() { keys_.parts_.pop_back(); }

   private:
    RandomKeys& keys_;
  };

  // Adds the seed to the parameters of main: an i64 scalar with the default 0.
  void declare_seed(mlir::func::FuncOp main, const std::string& name);
  // REQUIRES: declare_seed() was called.
  mlir::Value seed() const { return seed_; }
  // From main to the innermost body. Empty without a seed.
  std::vector<Part>& parts() { return parts_; }

 private:
  mlir::Value seed_;
  std::vector<Part> parts_;
};

}  // namespace scopevm::compiler::frontend
