// CausalConvWithState: a depthwise convolution over time that sees no later elements. The last
// elements of the input are the state of the next call. With further axes (ndim), the time is the
// last axis. The kernel is centred on the other axes, and the result has the shape of the input.
#include "compiler/graph/type_rule.h"
#include "compiler/import/node/checks.h"
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
    if (n_.rank(weight) != axes_ + 2 || !may_be_equal(n_.dim(weight, 0), n_.dim(in_order, 1)) ||
        !may_be_equal(n_.dim(weight, 1), 1))
      return n_.fail("the input is " + text_of(n_.type(in_order)) + " and the weight " +
                     text_of(n_.type(weight)) + ", expected [batch, channels, " +
                     (axes_ > 1 ? "..., " : "") + "length] and [channels, 1, " +
                     (axes_ > 1 ? "..., " : "") + "size]");
    if (!has_dtype_of_input(1, "weight") || !has_dtype_of_input(2, "bias") || !read_kernel(weight))
      return Value();
    return convolve(in_order, weight);
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
    axes_ = n_.integer("ndim", 1);
    if (axes_ < 1 || axes_ > 3) n_.fail("ndim is " + llvm::Twine(axes_) + ", expected 1 to 3");
    if (axes_ != 1 && has_channels_last_)
      n_.fail("channels_last is 1 and ndim " + llvm::Twine(axes_) +
              "; channels_last requires ndim 1");
    window_ = n_.integer("state_window", 0);
    if (window_ < 0 || window_ > 8)
      n_.fail("state_window is " + llvm::Twine(window_) + ", expected 0 to 8");
    return !n_.has_failed();
  }

  // Fails unless input i is absent or has the element type of the input.
  bool has_dtype_of_input(size_t i, const char* what) {
    return !n_.has_input(i) || check_dtype(n_, n_.input(i), what, {n_.dtype(n_.input(0))});
  }

  // Reads the sizes of the kernel.
  bool read_kernel(Value weight) {
    constexpr int64_t kMostTaps = 256;
    for (int64_t axis = 0; axis < axes_; ++axis) {
      const DimExpr dim = n_.dim(weight, axis + 2);
      const std::optional<int64_t> size = dim.as_constant();
      const int64_t most = kMostTaps / taps_;
      if (!size || *size < 1 || *size > most)
        n_.unsupported("the size of the kernel is " + dim.str() +
                       ", expected a constant from 1 to " + llvm::Twine(most));
      else if (axis + 1 < axes_ && *size % 2 == 0)
        n_.unsupported("the size of the kernel is " + dim.str() +
                       " on an axis other than the last one, expected an odd number");
      if (n_.has_failed()) return false;
      kernel_.push_back(*size);
      taps_ *= *size;
    }
    before_ = (kernel_.back() - 1) * dilation_;
    return true;
  }

  // [batch, channels, axes..., time] from the layout of the node, where the channels can be several
  // last axes. `what` names x in messages.
  Value time_last(Value x, const char* what) {
    if (n_.has_failed()) return {};
    const auto rank = static_cast<size_t>(n_.rank(x)), expected = static_cast<size_t>(axes_ + 2);
    if (has_channels_last_ ? rank < expected : rank != expected)
      return n_.fail(llvm::Twine(what) + " is " + text_of(n_.type(x)) + ", expected rank " +
                     llvm::Twine(expected) + (has_channels_last_ ? " or more" : "")),
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

  // x after the elements of the state, or after zeros.
  Value with_state(Value x) {
    if (!n_.has_input(3)) {
      Dims pads(static_cast<size_t>(2 * n_.rank(x)), DimExpr(0));
      pads[static_cast<size_t>(time())] = before_;
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
    n_.require_equal(n_.dim(state, time()), before_, "past_state has {0} elements, expected {1}");
    return n_.concat({state, x}, time());
  }

  // Zeros around x on the axes other than the time, so that each element is the centre of a kernel.
  Value centred(Value x) {
    if (axes_ == 1 || n_.has_failed()) return x;
    const auto rank = static_cast<size_t>(n_.rank(x));
    Dims pads(2 * rank, DimExpr(0));
    for (size_t axis = 0; axis + 1 < kernel_.size(); ++axis)
      pads[axis + 2] = pads[rank + axis + 2] = kernel_[axis] / 2;
    return n_.pad(x, pads);
  }

  // The convolution of x, which has the elements of the state, to a result with `dims`, in f32.
  Formula weighted_sum(Value x, Value weight, const Dims& dims) {
    Dims along(dims.size() - 1, DimExpr(1));
    along[0] = dims[1];
    Dims flat = {dims[1], DimExpr(taps_)};
    const Formula taps = Formula(n_, weight).as(DType::kF32).reshape(flat);
    std::optional<Formula> y;
    for (int64_t tap = 0; tap < taps_ && !n_.has_failed(); ++tap) {
      Dims starts(dims.size(), DimExpr(0));
      int64_t rest = tap;
      for (size_t axis = kernel_.size(); axis-- > 0; rest /= kernel_[axis])
        starts[axis + 2] = rest % kernel_[axis] * (axis + 1 == kernel_.size() ? dilation_ : 1);
      const Formula product = Formula(n_, n_.slice(x, starts, dims)).as(DType::kF32) *
                              taps.element_at(1, tap, /*keep_axis=*/true).reshape(along);
      y = y ? *y + product : product;
    }
    if (n_.has_input(2) && y) y = *y + Formula(n_, n_.input(2)).as(DType::kF32).reshape(along);
    return y ? *y : Formula(n_, Value());
  }

  Values convolve(Value x, Value weight) {
    const DType dtype = n_.dtype(x);
    const Dims dims(n_.shape(x));
    const Value padded = with_state(x);
    if (n_.has_failed()) return Value();
    Formula y = weighted_sum(centred(padded), weight, dims);
    if (activation_ != "none") y = y * y.unary<SigmoidOp>();
    const auto state_from = [&](DimExpr start) {
      Dims starts(dims.size(), DimExpr(0)), sizes(dims);
      starts.back() = start;
      sizes.back() = before_;
      return in_given_layout(n_.slice(padded, starts, sizes));
    };
    if (n_.has_failed()) return Value();
    if (window_ == 0) return {in_given_layout(y.as(dtype)), state_from(dims.back())};
    // The states after the last elements, oldest first, with zeros for those before the first one.
    llvm::SmallVector<Formula> states;
    for (int64_t later = window_ - 1; later >= 0; --later) {
      const Formula state(n_, state_from(max(dims.back() - later, 0)));
      if (n_.has_failed()) return Value();
      states.push_back(
          select(number(n_, dims.back(), DType::kI64) > static_cast<double>(later), state, 0));
    }
    return {in_given_layout(y.as(dtype)), stack(states, 0)};
  }

  int64_t time() const { return axes_ + 1; }  // the axis

  Node& n_;
  std::string activation_;
  bool has_channels_last_ = false;
  int64_t axes_ = 1;      // the number of axes of the kernel
  Ints kernel_;           // its sizes
  int64_t taps_ = 1;      // the product of its sizes
  int64_t before_ = 0;    // the number of elements of a state
  int64_t dilation_ = 1;  // on the last axis
  int64_t window_ = 0;    // number of states in the state tensors; 0: one state without an axis
  Dims given_;            // of the input
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
