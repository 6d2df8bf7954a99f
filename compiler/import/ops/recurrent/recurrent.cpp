// ONNX RNN, GRU and LSTM, and DynamicQuantizeLSTM of com.microsoft, as loops over time. One product
// before the loop applies the input weights to all steps. Each iteration adds the contribution of
// the state.
#include "compiler/graph/type_rule.h"
#include "compiler/import/node/checks.h"
#include "compiler/import/node/formula.h"
#include "compiler/import/ops/contraction/quantised_contraction.h"
#include "compiler/import/ops/elementwise/activation.h"
#include "compiler/import/ops/op_table.h"

namespace scopevm::compiler::frontend {
namespace {

using namespace graph;  // NOLINT: formulas read better without the prefix

struct State {
  Value h;  // [batch, hidden]
  Value c;  // cell state of an LSTM
};

// The weights of a product with a vector of `size` elements.
struct GateWeights {
  Value values;       // floats [gates * hidden, size], or 8-bit integers [size, gates * hidden]
  Value scale, zero;  // of 8-bit integers: scalar or [gates * hidden]; `zero` can be null
};

// The weights and biases of one direction.
struct Direction {
  bool is_reverse = false;
  DimExpr hidden;
  GateWeights w, r;      // of the input and of the hidden state
  Value w_bias, r_bias;  // [gates * hidden], or null
  Value peepholes;       // [3 * hidden], or null
  State initial;
  llvm::SmallVector<Activation> activations;
};

// A cell type, such as GRU.
struct Cell {
  int64_t gates;
  bool has_memory;  // has State::c
  llvm::ArrayRef<const char*> activations;
  // The bias that can be added before the loop; null if there is none.
  Value (*bias)(Node&, const Direction&);
  // `x`: [batch, gates * hidden], the input contribution to this step, including the bias.
  State (*step)(Node&, const Direction&, const State&, Value x);
};

// --- Cells. -------------------------------------------------------------------------------------

Value add(Node& n, Value a, Value b) { return n.emit<AddOp>({a, b}); }
Value mul(Node& n, Value a, Value b) { return n.emit<MulOp>({a, b}); }
Value one_minus(Node& n, Value x) { return n.emit<SubOp>({n.scalar(1, x), x}); }
Value times_transposed(Node& n, Value a, Value b) {
  return n.emit<MatMulOp>({a, b}, {n.attr("transpose_b", true)});
}
// a: [rows, size] -> [rows, gates * hidden].
Value times(Node& n, Value a, const GateWeights& w) {
  if (!w.scale) return times_transposed(n, a, w.values);
  return dynamically_quantised_product(n, a, w.values, w.scale, w.zero);
}

// Gates [first, first + count) of a value that has all gates along `axis`.
Value gates_of(Node& n, Value x, int64_t axis, DimExpr hidden, int64_t first, int64_t count = 1) {
  Dims starts(static_cast<size_t>(n.rank(x)), DimExpr(0)), sizes(n.shape(x));
  if (n.has_failed()) return {};
  starts[axis] = hidden * DimExpr(first);
  sizes[axis] = hidden * DimExpr(count);
  return n.slice(x, starts, sizes);
}

Value activate(Node& n, const Direction& d, size_t which, Value x) {
  float clip = n.number("clip", 0);
  if (clip > 0) {
    x = n.emit<MaxOp>({x, n.scalar(-clip, x)});
    x = n.emit<MinOp>({x, n.scalar(clip, x)});
  }
  return emit_activation(n, d.activations[which], x);
}

Value whole_bias(Node& n, const Direction& d) {
  return d.w_bias ? add(n, d.w_bias, d.r_bias) : Value();
}

// In the formulas of the cells, x is the input contribution to the step and R the recurrent
// weights. The state is h and c, and the next state h' and c'. Activation functions are f, g and k,
// and "." is an elementwise product.

// h' = f(x + h R)
State rnn_step(Node& n, const Direction& d, const State& state, Value x) {
  return {activate(n, d, 0, add(n, times(n, state.h, d.r), x)), {}};
}

// Without linear_before_reset, the sum of all biases. Otherwise the candidate's recurrent bias is
// excluded, because the reset gate multiplies it in each step.
Value gru_bias(Node& n, const Direction& d) {
  if (!d.w_bias || !n.flag("linear_before_reset", false)) return whole_bias(n, d);
  const DimExpr hidden = d.hidden;
  Value update_and_reset =
      add(n, gates_of(n, d.w_bias, 0, hidden, 0, 2), gates_of(n, d.r_bias, 0, hidden, 0, 2));
  return n.concat({update_and_reset, gates_of(n, d.w_bias, 0, hidden, 2)}, 0);
}

// update z, reset r = f(x + h R)
// candidate = g(x + (r . h) R), or with linear_before_reset g(x + r . (h R + bias))
// h' = (1 - z) . candidate + z . h
State gru_step(Node& n, const Direction& d, const State& state, Value x) {
  const DimExpr hidden = d.hidden;
  auto of = [&](Value value, int64_t gate) { return gates_of(n, value, 1, hidden, gate); };
  Value update, candidate;
  if (n.flag("linear_before_reset", false)) {
    // The reset gate applies after the product, so one product serves all three gates.
    Value product = times(n, state.h, d.r);
    update = activate(n, d, 0, add(n, of(product, 0), of(x, 0)));
    Value reset = activate(n, d, 0, add(n, of(product, 1), of(x, 1)));
    Value linear = of(product, 2);
    if (d.r_bias) linear = add(n, linear, gates_of(n, d.r_bias, 0, hidden, 2));
    candidate = add(n, of(x, 2), mul(n, reset, linear));
  } else {
    // The candidate's product reads r . h, so the gates are computed first, by a separate product.
    Value gates = add(n, times_transposed(n, state.h, gates_of(n, d.r.values, 0, hidden, 0, 2)),
                      gates_of(n, x, 1, hidden, 0, 2));
    update = activate(n, d, 0, of(gates, 0));
    Value reset = activate(n, d, 0, of(gates, 1));
    Value weights = gates_of(n, d.r.values, 0, hidden, 2);
    candidate = add(n, times_transposed(n, mul(n, reset, state.h), weights), of(x, 2));
  }
  candidate = activate(n, d, 1, candidate);
  return {add(n, mul(n, one_minus(n, update), candidate), mul(n, update, state.h)), {}};
}

// Gates in order: input i, output o, forget, cell candidate. Peepholes in order: i, o, forget.
// c' = forget . c + i . candidate; h' = o . k(c')
// The peephole of o multiplies c', those of i and forget multiply c.
State lstm_step(Node& n, const Direction& d, const State& state, Value x) {
  const DimExpr hidden = d.hidden;
  Value all = add(n, times(n, state.h, d.r), x);
  auto gate = [&](int64_t which, size_t activation, Value seen) {
    Value sum = gates_of(n, all, 1, hidden, which);
    if (d.peepholes && seen)
      sum = add(n, sum, mul(n, gates_of(n, d.peepholes, 0, hidden, which), seen));
    return activate(n, d, activation, sum);
  };
  Value input = gate(0, 0, state.c);
  bool is_coupled = n.flag("input_forget", false);
  Value forget = is_coupled ? one_minus(n, input) : gate(2, 0, state.c);
  State next;
  next.c = add(n, mul(n, forget, state.c), mul(n, input, gate(3, 1, {})));
  next.h = mul(n, gate(1, 0, next.c), activate(n, d, 2, next.c));
  return next;
}

// --- Inputs. ------------------------------------------------------------------------------------

// Entry i of a value along its first dim, which is removed. Null if x is null.
Value entry_of(Node& n, Value x, int64_t i) {
  if (!x || n.has_failed()) return {};
  Dims starts(static_cast<size_t>(n.rank(x)), DimExpr(0)), sizes(n.shape(x));
  starts[0] = i;
  sizes[0] = 1;
  x = n.slice(x, starts, sizes);
  sizes.erase(sizes.begin());
  return n.reshape(x, sizes);
}

class Recurrence {
 public:
  Recurrence(Node& n, const Cell& cell, bool is_quantised = false)
      : n_(n), cell_(cell), is_quantised_(is_quantised) {}

  Values run() {
    if (!read_inputs()) return Value();
    for (Direction& direction : directions_) run(direction);
    if (n_.has_failed()) return Value();
    return {n_.wants_output(0) ? all_steps() : Value(), last(&State::h, 1),
            cell_.has_memory ? last(&State::c, 2) : Value()};
  }

 private:
  bool has_batch_first() { return n_.opset() >= 14 && n_.flag("layout", false); }
  Value batch_second(Value x) { return has_batch_first() ? n_.transpose(x, {1, 0, 2}) : x; }

  // Fails the node if the rank or a dim is known to differ.
  void expect(const char* what, Value value, const Dims& dims) {
    bool fits = n_.rank(value) == static_cast<int64_t>(dims.size());
    for (size_t axis = 0; fits && axis < dims.size(); ++axis) {
      DimExpr dim = n_.dim(value, static_cast<int64_t>(axis));
      // Dims with a constant difference other than 0 are never equal. Other dims are compared in
      // each call, by the op that reads the value.
      fits = dim == dims[axis] || !(dim - dims[axis]).is_constant();
    }
    if (!fits)
      n_.fail(llvm::Twine(what) + " must be " + text_of(n_.type(value).withShape(dims)) +
              ", but is " + text_of(n_.type(value)));
  }

  // The input, checked to have the dims `dims`; null if absent. has_batch: its first two axes
  // depend on the attribute `layout`.
  Value optional(size_t input, const char* what, const Dims& dims, bool has_batch = false) {
    Value value = n_.input_or(input, {});
    if (!value) return {};
    if (has_batch && has_batch_first()) value = n_.transpose(value, {1, 0, 2});
    expect(what, value, dims);
    return n_.has_failed() ? Value() : n_.reshape(value, dims);
  }

  bool read_inputs() {
    x_ = n_.input(0);
    Value w = n_.input(1), r = n_.input(2);
    if (!n_.has_failed() && (n_.rank(x_) != 3 || n_.rank(r) != 3))
      n_.fail("X and R must have rank 3, but are " + text_of(n_.type(x_)) + " and " +
              text_of(n_.type(r)));
    if (n_.has_failed()) return false;
    x_ = batch_second(x_);
    hidden_ = n_.dim(r, is_quantised_ ? 1 : 2);
    if (n_.has_attribute("hidden_size") && !hidden_.is_constant(n_.integer("hidden_size")))
      return n_.fail("hidden_size is " + llvm::Twine(n_.integer("hidden_size")) + ", expected " +
                     hidden_.str() + (is_quantised_ ? ", dim 1 of R" : ", the last dim of R")),
             false;
    if (Value lengths = optional(4, "sequence_lens", {n_.dim(x_, 1)});
        lengths && check_dtype(n_, lengths, "sequence_lens", {DType::kI32}))
      lengths_ = n_.reshape(n_.cast(lengths, DType::kI64), {n_.dim(x_, 1), DimExpr(1)});
    std::string direction = n_.text("direction", "forward");
    if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
      return n_.fail("direction is \"" + direction +
                     "\", expected forward, reverse or bidirectional"),
             false;
    read_directions(w, r, direction);
    return !n_.has_failed();
  }

  void read_directions(Value w, Value r, llvm::StringRef direction) {
    int64_t count = direction == "bidirectional" ? 2 : 1;
    DimExpr batch = n_.dim(x_, 1), rows = DimExpr(cell_.gates) * hidden_;
    const auto dims_of = [&](DimExpr size) {
      return is_quantised_ ? Dims{count, size, rows} : Dims{count, rows, size};
    };
    expect("W", w, dims_of(n_.dim(x_, 2)));
    expect("R", r, dims_of(hidden_));
    if (is_quantised_) check_bytes({w, r});
    Value bias = optional(3, "B", {count, rows * DimExpr(2)});
    Value h = optional(5, "initial_h", {count, batch, hidden_}, true), c, peepholes;
    if (cell_.has_memory) {
      c = optional(6, "initial_c", {count, batch, hidden_}, true);
      peepholes = optional(7, "P", {count, hidden_ * DimExpr(3)});
    }
    llvm::SmallVector<Activation> activations =
        read_activations(n_, cell_.activations, static_cast<size_t>(count));
    if (n_.has_failed()) return;
    size_t functions = cell_.activations.size();
    for (int64_t i = 0; i < count; ++i) {
      Direction d{.is_reverse = direction == "reverse" || i == 1, .hidden = hidden_};
      d.w = weights_of(w, i, count, 8);
      d.r = weights_of(r, i, count, 10);
      if (Value both = entry_of(n_, bias, i)) {
        // B is the concatenation of the input biases and the recurrent biases.
        d.w_bias = n_.slice(both, {DimExpr(0)}, {rows});
        d.r_bias = n_.slice(both, {rows}, {rows});
      }
      d.peepholes = entry_of(n_, peepholes, i);
      d.initial = {h ? entry_of(n_, h, i) : zeros(), {}};
      if (cell_.has_memory) d.initial.c = c ? entry_of(n_, c, i) : zeros();
      auto first = activations.begin() + i * static_cast<std::ptrdiff_t>(functions);
      d.activations.assign(first, first + static_cast<std::ptrdiff_t>(functions));
      directions_.push_back(std::move(d));
    }
  }

  void check_bytes(std::initializer_list<Value> weights) {
    for (Value value : weights)
      if (!n_.has_failed() && n_.dtype(value) != DType::kU8 && n_.dtype(value) != DType::kI8)
        n_.fail("the weights are " + text_of(n_.type(value)) + ", expected u8 or i8");
    if (!n_.has_failed() && n_.dtype(x_) != DType::kF32)
      n_.fail("X is " + text_of(n_.type(x_)) + ", expected f32");
  }

  // Entry i of the weights. `scale` is the input with the scales, if they are quantised; the zero
  // points are the input after it.
  GateWeights weights_of(Value weights, int64_t i, int64_t count, size_t scale) {
    GateWeights result{.values = entry_of(n_, weights, i)};
    if (!is_quantised_) return result;
    result.scale = quantisation(scale, i, count, DType::kF32);
    if (n_.has_input(scale + 1)) result.zero = quantisation(scale + 1, i, count, n_.dtype(weights));
    return result;
  }

  // Entry i of scales or zero points: [count], or [count, gates * hidden].
  Value quantisation(size_t input, int64_t i, int64_t count, DType dtype) {
    const Value value = n_.input(input);
    if (n_.has_failed()) return {};
    Dims dims = {count};
    if (n_.rank(value) == 2) dims.push_back(DimExpr(cell_.gates) * hidden_);
    if (n_.dtype(value) != dtype)
      n_.fail("input " + llvm::Twine(input) + " is " + text_of(n_.type(value)) + ", expected " +
              llvm::Twine(name(dtype)));
    if (!n_.has_failed()) expect(input % 2 == 0 ? "a scale" : "a zero point", value, dims);
    return n_.has_failed() ? Value() : entry_of(n_, n_.reshape(value, dims), i);
  }

  Value zeros() { return n_.expand(n_.scalar(0, x_), {n_.dim(x_, 1), hidden_}); }

  // The input contribution to all steps: [length, batch, gates * hidden].
  Value project(const Direction& d) {
    DimExpr length = n_.dim(x_, 0), batch = n_.dim(x_, 1), rows = DimExpr(cell_.gates) * hidden_;
    Value flat = n_.reshape(x_, {length * batch, n_.dim(x_, 2)});
    Value product = times(n_, flat, d.w);
    if (Value bias = cell_.bias(n_, d)) product = add(n_, product, bias);
    return n_.reshape(product, {length, batch, rows});
  }

  // Beyond the length of its sequence, a batch element keeps the previous state and outputs zeros.
  // `at` is the index of the step in the input; `y` is replaced by the masked output.
  State masked(const State& next, const State& previous, DimExpr at, Value& y) {
    Value goes_on = n_.emit<LessOp>({n_.dims_value({at}, /*is_scalar=*/true), lengths_});
    y = n_.emit<SelectOp>({goes_on, next.h, n_.scalar(0, next.h)});
    State kept{n_.emit<SelectOp>({goes_on, next.h, previous.h}), {}};
    if (next.c) kept.c = n_.emit<SelectOp>({goes_on, next.c, previous.c});
    return kept;
  }

  void run(const Direction& d) {
    DimExpr length = n_.dim(x_, 0);
    Value projected = project(d);
    bool wants_all = n_.wants_output(0);
    auto step = [&](DimExpr index, const State& state, Value& y) {
      // A reverse direction reads the steps from the last to the first; its outputs are reversed
      // after the loop.
      DimExpr at = d.is_reverse ? length - DimExpr(1) - index : index;
      Dims starts = {at, DimExpr(0), DimExpr(0)}, sizes(n_.shape(projected));
      if (n_.has_failed()) return state;
      sizes[0] = 1;
      Value x = n_.reshape(n_.slice(projected, starts, sizes), {sizes[1], sizes[2]});
      State next = cell_.step(n_, d, state, x);
      y = next.h;
      return lengths_ ? masked(next, state, at, y) : next;
    };
    Value y;
    // A single step needs no loop.
    if (length.is_constant(1)) {
      last_.push_back(step(0, d.initial, y));
      if (wants_all) all_.push_back(n_.unsqueeze(y, {0}));
      return;
    }
    llvm::SmallVector<Value> initial = {d.initial.h};
    if (cell_.has_memory) initial.push_back(d.initial.c);
    auto results = n_.loop(length, initial, [&](DimExpr index, mlir::ValueRange carried) {
      State state = step(index, {carried[0], cell_.has_memory ? carried[1] : Value()}, y);
      Iteration iteration;
      iteration.carried.push_back(state.h);
      if (cell_.has_memory) iteration.carried.push_back(state.c);
      if (wants_all) iteration.parts.push_back(y);
      return iteration;
    });
    if (n_.has_failed()) return;
    last_.push_back({results[0], cell_.has_memory ? results[1] : Value()});
    if (wants_all)
      all_.push_back(d.is_reverse ? Formula(n_, results.back()).reversed(0) : results.back());
  }

  // Merges the outputs of the directions: [length, batch, hidden] each -> [length, directions,
  // batch, hidden].
  Value all_steps() {
    llvm::SmallVector<Value> parts;
    for (Value y : all_) parts.push_back(n_.unsqueeze(y, {1}));
    Value y = n_.concat(parts, 1);
    return has_batch_first() ? n_.transpose(y, {2, 0, 1, 3}) : y;
  }

  Value last(Value State::* member, size_t output) {
    if (!n_.wants_output(output)) return {};
    llvm::SmallVector<Value> parts;
    for (State& state : last_) parts.push_back(n_.unsqueeze(state.*member, {0}));
    return batch_second(n_.concat(parts, 0));
  }

  Node& n_;
  const Cell& cell_;
  const bool is_quantised_;  // 8-bit weights
  Value x_;                  // [length, batch, input]
  Value lengths_;            // i64 [batch, 1], or null
  DimExpr hidden_;
  llvm::SmallVector<Direction, 2> directions_;
  llvm::SmallVector<State, 2> last_;
  llvm::SmallVector<Value, 2> all_;
};

constexpr const char* kRnnActivations[] = {"Tanh"};
constexpr const char* kGruActivations[] = {"Sigmoid", "Tanh"};
constexpr const char* kLstmActivations[] = {"Sigmoid", "Tanh", "Tanh"};

Values rnn(Node& n) {
  return Recurrence(n, {1, false, kRnnActivations, whole_bias, rnn_step}).run();
}
Values gru(Node& n) { return Recurrence(n, {3, false, kGruActivations, gru_bias, gru_step}).run(); }
Values lstm(Node& n) {
  return Recurrence(n, {4, true, kLstmActivations, whole_bias, lstm_step}).run();
}
Values dynamic_quantize_lstm(Node& n) {
  return Recurrence(n, {4, true, kLstmActivations, whole_bias, lstm_step}, /*is_quantised=*/true)
      .run();
}

}  // namespace

const OpRows kRecurrentOps = {
    {"GRU", 3, gru},
    {"LSTM", 1, lstm},
    {"RNN", 1, rnn},
};

const OpRows kMicrosoftRecurrentOps = {
    {"DynamicQuantizeLSTM", 1, dynamic_quantize_lstm,
     OpSignature{"X W R B? sequence_lens? initial_h? initial_c? P? W_scale W_zero_point? R_scale "
                 "R_zero_point?",
                 "activation_alpha activation_beta activations clip direction hidden_size "
                 "input_forget"}},
};

}  // namespace scopevm::compiler::frontend
