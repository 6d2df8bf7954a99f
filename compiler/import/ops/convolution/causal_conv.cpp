// CausalConvWithState: a depthwise convolution over time that sees no later elements. The last
// elements of the input are the state of the next call.
#include "compiler/graph/type_rule.h"
#include "compiler/import/node/formula.h"
#include "compiler/import/ops/op_table.h"
#include "runtime/quoted.h"

namespace scopevm::compiler::frontend {
namespace {

using namespace graph;  // NOLINT: formulas read better without the prefix

// The tensors of the node, with the time as the last axis.
class CausalConv {
 public:
  explicit CausalConv(Node& n) : n_(n) {}

  Values build() {
    Value x = n_.input(0), weight = n_.input(1);
    if (!read_attributes()) return Value();
    given_ = Dims(n_.shape(x));
    const Value in_order = time_last(x, "the input");
    if (n_.has_failed()) return Value();
    if (n_.rank(weight) != 3 || !may_be_equal(n_.dim(weight, 0), n_.dim(in_order, 1)) ||
        !may_be_equal(n_.dim(weight, 1), 1))
      return n_.fail("the input is " + text_of(n_.type(in_order)) + " and the weight " +
                     text_of(n_.type(weight)) +
                     ", expected [batch, channels, length] and [channels, 1, size]");
    constexpr int64_t kMostTaps = 256;
    const std::optional<int64_t> size = n_.dim(weight, 2).as_constant();
    if (!size || *size < 1 || *size > kMostTaps)
      return n_.unsupported("the size of the kernel is " + n_.dim(weight, 2).str() +
                            ", expected a constant from 1 to " + llvm::Twine(kMostTaps));
    return convolve(in_order, weight, *size);
  }

 private:
  bool read_attributes() {
    activation_ = n_.text("activation", "none");
    has_channels_last_ = n_.flag("channels_last", false);
    dilation_ = n_.integer("dilation", 1);
    constexpr int64_t kLargestDilation = int64_t{1} << 20;
    if (activation_ != "none" && activation_ != "silu" && activation_ != "swish")
      n_.fail("activation is " + runtime::quoted(activation_) + ", expected none, silu or swish");
    if (dilation_ < 1 || dilation_ > kLargestDilation)
      n_.fail("dilation is " + llvm::Twine(dilation_) + ", expected 1 to " +
              llvm::Twine(kLargestDilation));
    if (n_.integer("ndim", 1) != 1)
      n_.unsupported("ndim is " + llvm::Twine(n_.integer("ndim", 1)) + ", expected 1");
    window_ = n_.integer("state_window", 0);
    if (window_ < 0 || window_ > 8)
      n_.fail("state_window is " + llvm::Twine(window_) + ", expected 0 to 8");
    return !n_.has_failed();
  }

  // [batch, channels, time] from the layout of the node, where the channels can be several last
  // axes. `what` names x in messages.
  Value time_last(Value x, const char* what) {
    if (n_.has_failed()) return {};
    const auto rank = static_cast<size_t>(n_.rank(x));
    if (has_channels_last_ ? rank < 3 : rank != 3)
      return n_.fail(llvm::Twine(what) + " is " + text_of(n_.type(x)) + ", expected rank 3" +
                     (has_channels_last_ ? " or more" : "")),
             Value();
    if (!has_channels_last_) return x;
    Dims dims = {n_.dim(x, 0), n_.dim(x, 1), 1};
    for (size_t axis = 2; axis < rank; ++axis) dims[2] = dims[2] * n_.shape(x)[axis];
    return n_.transpose(n_.reshape(x, dims), {0, 2, 1});
  }

  // The inverse of time_last(), with the channels of the input.
  Value in_given_layout(Value x) {
    if (n_.has_failed() || !has_channels_last_) return x;
    Dims dims(given_);
    dims[1] = n_.dim(x, 2);
    return n_.reshape(n_.transpose(x, {0, 2, 1}), dims);
  }

  // With a window, the input has the states after several elements. The last one counts.
  Value last_slot(Value states) {
    if (n_.rank(states) < 1) return n_.fail("past_state is a scalar"), Value();
    n_.require_equal(n_.dim(states, 0), window_, "past_state has {0} slots, expected {1}");
    return Formula(n_, states).element_at(0, window_ - 1);
  }

  // x after the `before` elements of the state, or after zeros.
  Value with_state(Value x, int64_t before) {
    if (!n_.has_input(3)) {
      Dims pads(6, DimExpr(0));
      pads[2] = before;
      return n_.pad(x, pads);
    }
    Value state = n_.input(3);
    if (n_.has_failed()) return {};
    if (n_.dtype(state) != n_.dtype(x))
      return n_.fail("past_state is " + text_of(n_.type(state)) + ", expected " +
                     llvm::Twine(name(n_.dtype(x)))),
             Value();
    if (window_ > 0) state = last_slot(state);
    state = time_last(state, "past_state");
    if (n_.has_failed()) return {};
    n_.require_equal(n_.dim(state, 2), before, "past_state has {0} elements, expected {1}");
    return n_.concat({state, x}, 2);
  }

  Values convolve(Value x, Value weight, int64_t size) {
    const DType dtype = n_.dtype(x);
    const Dims dims(n_.shape(x));
    const int64_t before = (size - 1) * dilation_;
    const Value padded = with_state(x, before);
    if (n_.has_failed()) return Value();
    const auto part = [&](DimExpr start, DimExpr count) {
      return n_.slice(padded, {DimExpr(0), DimExpr(0), start}, {dims[0], dims[1], count});
    };
    const Formula taps = Formula(n_, weight).as(DType::kF32).reshape({dims[1], DimExpr(size)});
    std::optional<Formula> y;
    for (int64_t tap = 0; tap < size; ++tap) {
      const Formula product = Formula(n_, part(tap * dilation_, dims[2])).as(DType::kF32) *
                              taps.element_at(1, tap, /*keep_axis=*/true);
      y = y ? *y + product : product;
    }
    if (n_.has_input(2))
      y = *y + Formula(n_, n_.input(2)).as(DType::kF32).reshape({dims[1], DimExpr(1)});
    if (activation_ != "none") y = *y * y->unary<SigmoidOp>();
    if (window_ == 0)
      return {in_given_layout(y->as(dtype)), in_given_layout(part(dims[2], before))};
    // The states after the last elements, oldest first, with zeros for those before the first one.
    llvm::SmallVector<Formula> states;
    for (int64_t later = window_ - 1; later >= 0; --later) {
      const Formula state(n_, in_given_layout(part(max(dims[2] - later, 0), before)));
      if (n_.has_failed()) return Value();
      states.push_back(
          select(number(n_, dims[2], DType::kI64) > static_cast<double>(later), state, 0));
    }
    return {in_given_layout(y->as(dtype)), stack(states, 0)};
  }

  Node& n_;
  std::string activation_;
  bool has_channels_last_ = false;
  int64_t dilation_ = 1;
  int64_t window_ = 0;  // number of states in the state tensors; 0: one state without an axis
  Dims given_;          // of the input
};

Values causal_conv(Node& n) { return CausalConv(n).build(); }

}  // namespace

const OpRows kCausalConvOps = {
    {"CausalConvWithState", 27, causal_conv,
     OpSignature{"input weight bias? past_state?", "activation"}},
};

const OpRows kMicrosoftCausalConvOps = {
    {"CausalConvWithState", 1, causal_conv,
     OpSignature{"input weight bias? past_state?",
                 "activation channels_last dilation ndim state_window"}},
};

}  // namespace scopevm::compiler::frontend
