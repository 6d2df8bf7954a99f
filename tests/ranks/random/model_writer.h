// ModelWriter: the assembly of a model whose values are small integers, so that sums are exact in
// any order and in any element type.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/ranks/random/random.h"

namespace scopevm::ranks {

// A value of the model. Dims are numbers, or formulas over dimensions: "past + n".
struct Value {
  std::string name;
  std::string dtype = "f32";
  std::vector<std::string> dims;
  int64_t most = 0;  // no element has a larger absolute value

  size_t rank() const { return dims.size(); }
};

// The order of the axes of a transposed value: result axis i is axis order[i].
using Order = std::vector<size_t>;
Order inverse(const Order& order);

// The absolute values of states and of the stream between layers.
inline constexpr int64_t kMost = 3;
// No dimension that calls change is larger.
inline constexpr int64_t kMostRows = 20;

class ModelWriter {
 public:
  explicit ModelWriter(Random& random) : random_(random) {}

  Value input(const std::string& name, const std::string& dtype,
              const std::vector<std::string>& dims, int64_t most = kMost);
  void output(const std::string& name, const Value& value) { outputs_.push_back({name, value}); }
  // With elements in [-2, 2], or in [0, 2] of an unsigned type.
  Value constant(const std::string& dtype, const std::vector<int64_t>& dims);

  // op() appends `sv.NAME`; `result` has all but the name. The others derive the result.
  Value op(const std::string& name, const std::vector<Value>& operands,
           const std::string& attributes, Value result);
  Value unary(const std::string& name, const Value& x) { return op(name, {x}, "", x); }
  Value add(const Value& a, const Value& b);  // the dims of b broadcast to those of a
  Value clamped(const Value& x, int64_t most = kMost);
  Value cast(const Value& x, const std::string& dtype);
  Value transposed(const Value& x, const Order& order);
  Value reshaped(const Value& x, const std::vector<std::string>& dims);
  Value concatenated(const std::vector<Value>& parts, size_t axis, const std::string& dim);
  // The sum of all elements along an axis of at most kMostRows elements.
  Value summed(const Value& x, size_t axis, bool keeps_dim);
  // `depth`: the size of the inner dim, which is the last one of both if `transposes`.
  Value product(const Value& a, const Value& b, int64_t depth, bool transposes = false);
  // The elements of `x` from `start` on, along an axis.
  Value sliced(const Value& x, size_t axis, const std::string& start, const std::string& size);
  // -x or x, by a condition of an input.
  Value chosen(const Value& condition, const Value& x);

  // Inputs and outputs are in random order.
  std::string text();

 private:
  struct Output {
    std::string name;
    Value value;
  };

  Value scalar(const std::string& dtype, int64_t number);
  std::string new_name() { return "%" + std::to_string(count_++); }
  template <typename T>
  void shuffle(std::vector<T>& items) {
    for (size_t i = items.size(); i > 1; --i)
      std::swap(items[i - 1], items[static_cast<size_t>(random_.below(static_cast<int64_t>(i)))]);
  }

  Random& random_;
  std::string body_;
  std::vector<Value> inputs_;
  std::vector<Output> outputs_;
  int count_ = 0;
};

}  // namespace scopevm::ranks
