// Checks that the shape function makes for an op: see checks.h.
#include "compiler/kernels/checks.h"

#include "compiler/graph/elementwise.h"
#include "compiler/graph/graph_ops.h"
#include "compiler/graph/rewrite/loop_body.h"
#include "compiler/kernels/dim_trace.h"
#include "compiler/kernels/generator.h"
#include "llvm/ADT/TypeSwitch.h"

namespace scopevm::compiler::kernels {
namespace {

using graph::TensorType;

TensorType type_of(mlir::Value value) { return mlir::cast<TensorType>(value.getType()); }

constexpr size_t kLongestMessage = 300;

// One side of a condition, and what it is called in the message.
struct Side {
  DimExpr dim;
  mlir::Value value;  // that it is a dim of, or computed from
  std::string what;   // `input "x" dim 1`
};

Side dim_of(mlir::Value value, int64_t axis) {
  return {type_of(value).getDim(axis), value,
          DimTrace::name(value) + " dim " + std::to_string(axis)};
}

class Collector {
 public:
  Collector(mlir::Operation* op, int scope, std::vector<Check>& checks)
      : op_(op), scope_(scope), checks_(checks) {}

  void equal(const Side& a, const Side& b) {
    if (a.dim == b.dim) return;
    add(Check::Kind::kEqual, a, b, a.what + " is {0}, " + b.what + " is {1}; they must be equal");
  }

  void broadcastable(const Side& a, const Side& b) {
    if (a.dim == b.dim || a.dim.is_constant(1) || b.dim.is_constant(1)) return;
    std::string message = a.what + " is {0}, " + b.what + " is {1}; they do not broadcast";
    add(Check::Kind::kBroadcastable, a, b, message);
    if (a.dim.is_constant(0) || b.dim.is_constant(0)) return;  // beside 1, it stays 0
    // The result's type is the dim that is never the lesser: it does not tell of 0 beside 1.
    DimExpr greater = max(a.dim, b.dim);
    if (greater.is_constant()) return;
    if (greater == a.dim) at_least(b, {min(greater, 1), a.value, a.what}, message);
    if (greater == b.dim) at_least(a, {min(greater, 1), b.value, b.what}, message);
  }

  // `message` has {0} for a and {1} for b.
  void at_least(const Side& a, const Side& b, const std::string& message) {
    if (is_never_negative(graph::at_last_iteration(a.dim - b.dim, op_))) return;
    add(Check::Kind::kAtLeast, a, b, message);
  }

  void multiple_of(const Side& a, int64_t factor, const std::string& message) {
    if (mod(a.dim, factor).is_constant(0)) return;
    add(Check::Kind::kMultipleOf, a, {factor, nullptr, ""}, message);
  }

  void at_most_dim(const Side& a, const Side& b) {
    at_least(b, a, a.what + " is {1}, more than " + b.what + ", which is {0}");
  }

  // Pairwise broadcast of the operands' shapes, aligned at the last dim.
  void broadcast(mlir::ValueRange operands, int64_t skip_last = 0) {
    for (size_t i = 0; i < operands.size(); ++i)
      for (size_t j = i + 1; j < operands.size(); ++j) {
        int64_t a = type_of(operands[i]).getRank(), b = type_of(operands[j]).getRank();
        for (int64_t k = 1 + skip_last; k <= std::min(a, b); ++k)
          broadcastable(dim_of(operands[i], a - k), dim_of(operands[j], b - k));
      }
  }

  void require(graph::RequireOp op) {
    llvm::ArrayRef<DimExpr> dims = op.getDims().getValue();
    bool is_equal = op.getKind() == "equal";
    if (is_equal ? dims[0] == dims[1] : is_never_negative(dims[0] - dims[1])) return;
    add(is_equal ? Check::Kind::kEqual : Check::Kind::kAtLeast, {dims[0], nullptr, ""},
        {dims[1], nullptr, ""}, op.getMessage().str());
  }

  // What no window, border or repetition may come to: fewer than no elements.
  void results() {
    for (mlir::Value result : op_->getResults()) {
      if (!mlir::isa<TensorType>(result.getType())) continue;
      for (auto [axis, dim] : llvm::enumerate(type_of(result).getShape()))
        at_least(
            {dim, result, ""}, {0, nullptr, ""},
            "its result's dim " + std::to_string(axis) + " would be {0}: an input is too small");
    }
  }

 private:
  void add(Check::Kind kind, const Side& a, const Side& b, const std::string& message);

  mlir::Operation* op_;
  int scope_;
  std::vector<Check>& checks_;
};

void Collector::add(Check::Kind kind, const Side& a, const Side& b, const std::string& message) {
  for (const Check& other : checks_)
    if (other.kind == kind && other.lhs == a.dim && other.rhs == b.dim &&
        (other.scope == 0 || other.scope == scope_))
      return;
  Check check{kind, a.dim, b.dim, "", {}, scope_};
  check.message = op_->getName().stripDialect().str() + " \"" + op_name(op_) + "\": " + message;
  DimTrace trace(check.more);
  std::string origins;
  for (auto [side, mark] : {std::pair(&a, "{0}"), std::pair(&b, "{1}")}) {
    std::string origin = side->value ? trace.origin(side->dim, side->value) : "";
    if (origin.empty()) continue;
    origins += (origins.empty() ? " (" : "; ") + std::string(mark) + " is " + origin;
    // The ops on the way, where the message stays one that people read.
    std::string way = DimTrace::way(side->dim, side->value);
    if (check.message.size() + origins.size() + way.size() < kLongestMessage) origins += way;
  }
  check.message += origins + (origins.empty() ? "" : ")");
  checks_.push_back(std::move(check));
}

// --- The rules, op by op. -----------------------------------------------------------------------

void check_concat(graph::ConcatOp op, Collector& collect) {
  mlir::Value first = op.getInputs().front();
  for (mlir::Value input : op.getInputs().drop_front())
    for (int64_t axis = 0; axis < type_of(first).getRank(); ++axis)
      if (axis != static_cast<int64_t>(op.getAxis()))
        collect.equal(dim_of(input, axis), dim_of(first, axis));
}

void check_matmul(graph::MatMulOp op, Collector& collect) {
  int64_t a = type_of(op.getA()).getRank(), b = type_of(op.getB()).getRank();
  if (a == 0 || b == 0) return;
  bool a_first = op.getTransposeA() && a > 1;
  bool b_last = op.getTransposeB() || b == 1;
  collect.equal(dim_of(op.getA(), a - (a_first ? 2 : 1)), dim_of(op.getB(), b - (b_last ? 1 : 2)));
  if (a > 2 && b > 2) collect.broadcast({op.getA(), op.getB()}, 2);
}

void check_reshape(graph::ReshapeOp op, Collector& collect) {
  collect.equal({type_of(op.getX()).getElementCount(), op.getX(),
                 "the element count of " + DimTrace::name(op.getX())},
                {type_of(op.getResult()).getElementCount(), op.getX(), "that of the new shape"});
}

void check_expand(graph::ExpandOp op, Collector& collect) {
  llvm::ArrayRef<DimExpr> dims = op.getDims().getValue();
  int64_t x = type_of(op.getX()).getRank(), rank = static_cast<int64_t>(dims.size());
  for (int64_t k = 1; k <= std::min(x, rank); ++k)
    collect.broadcastable(dim_of(op.getX(), x - k),
                          {dims[rank - k], op.getX(), "the new dim " + std::to_string(rank - k)});
}

void check_conv(graph::ConvOp op, Collector& collect) {
  auto group = static_cast<int64_t>(op.getGroup());
  Side channels = dim_of(op.getW(), 1);
  if (group != 1) channels.what += " times group " + std::to_string(group);
  channels.dim = channels.dim * DimExpr(group);
  collect.equal(dim_of(op.getX(), 1), channels);
  collect.multiple_of(dim_of(op.getW(), 0), group,
                      DimTrace::name(op.getW()) + " dim 0 is {0}, not a multiple of group {1}");
  if (op.getBias()) collect.equal(dim_of(op.getBias(), 0), dim_of(op.getW(), 0));
}

void check_conv_transpose(graph::ConvTransposeOp op, Collector& collect) {
  collect.equal(dim_of(op.getX(), 1), dim_of(op.getW(), 0));
  collect.multiple_of(dim_of(op.getX(), 1), static_cast<int64_t>(op.getGroup()),
                      DimTrace::name(op.getX()) + " dim 1 is {0}, not a multiple of group {1}");
}

void check_layer_norm(graph::LayerNormOp op, Collector& collect) {
  collect.broadcast({op.getX(), op.getScale()});
  if (op.getBias()) collect.broadcast({op.getX(), op.getBias()});
}

// The first and the last element that a slice takes lie in x.
void check_slice(graph::SliceOp op, Collector& collect) {
  for (int64_t axis = 0; axis < type_of(op.getX()).getRank(); ++axis) {
    DimExpr start = op.getStarts().getValue()[axis], size = op.getSizes().getValue()[axis];
    int64_t step = op.getSteps()[axis];
    DimExpr last = start + (size - 1) * DimExpr(step);
    Side dim = dim_of(op.getX(), axis);
    std::string at = "axis " + std::to_string(axis) + ": ";
    Side low{step > 0 ? start : last, op.getX(), ""};
    Side high{(step > 0 ? last : start) + 1, op.getX(), ""};
    collect.at_least(low, {0, nullptr, ""}, at + "the slice begins at {0}");
    collect.at_least(dim, high, at + "the slice ends at {1}, " + dim.what + " is {0}");
  }
}

// A reflection stays inside x; an edge needs an element to repeat. Where nothing is padded, neither
// needs anything.
void check_pad(graph::PadOp op, Collector& collect) {
  if (op.getMode() == "constant") return;
  int64_t rank = type_of(op.getX()).getRank();
  for (int64_t i = 0; i < 2 * rank; ++i) {
    DimExpr pad = op.getPads().getValue()[i];
    if (pad.is_constant(0)) continue;
    Side dim = dim_of(op.getX(), i % rank);
    DimExpr least = min(pad, 1) + (op.getMode() == "reflect" ? pad : DimExpr(0));
    collect.at_least(dim, {least, nullptr, ""},
                     dim.what + " is {0}; " + op.getMode().str() + " padding of " + pad.str() +
                         " needs at least {1}");
  }
}

// An index that is out of range takes the nearest element; there must be one.
void check_not_empty(mlir::Value x, int64_t axis, mlir::Value indices, Collector& collect) {
  Side dim = dim_of(x, axis);
  collect.at_least(dim, {min(type_of(indices).getElementCount(), 1), nullptr, ""},
                   dim.what + " is {0}: there is nothing to take");
}

// Indices of `indices` address `x` along every axis but one.
void check_along(mlir::Value indices, mlir::Value x, int64_t along, Collector& collect) {
  for (int64_t axis = 0; axis < type_of(x).getRank(); ++axis)
    if (axis != along) collect.at_most_dim(dim_of(indices, axis), dim_of(x, axis));
  check_not_empty(x, along, indices, collect);
}

void check_same_shape(mlir::Value a, mlir::Value b, Collector& collect) {
  for (int64_t axis = 0; axis < type_of(a).getRank(); ++axis)
    collect.equal(dim_of(a, axis), dim_of(b, axis));
}

void check_gather_nd(graph::GatherNdOp op, Collector& collect) {
  for (int64_t axis = 0; axis < static_cast<int64_t>(op.getBatchDims()); ++axis)
    collect.equal(dim_of(op.getIndices(), axis), dim_of(op.getX(), axis));
  auto batch = static_cast<int64_t>(op.getBatchDims());
  std::optional<int64_t> depth = type_of(op.getIndices()).getShape().back().as_constant();
  for (int64_t axis = batch; depth && axis < batch + *depth; ++axis)
    check_not_empty(op.getX(), axis, op.getIndices(), collect);
}

// updates: the indices' dims but the last, then what an index tuple leaves of x.
void check_scatter_nd(graph::ScatterNdOp op, Collector& collect) {
  TensorType indices = type_of(op.getIndices());
  int64_t outer = indices.getRank() - 1;
  std::optional<int64_t> depth = indices.getShape().back().as_constant();
  for (int64_t axis = 0; axis < type_of(op.getUpdates()).getRank(); ++axis)
    if (axis < outer)
      collect.equal(dim_of(op.getUpdates(), axis), dim_of(op.getIndices(), axis));
    else
      collect.equal(dim_of(op.getUpdates(), axis), dim_of(op.getX(), axis - outer + *depth));
}

void check_top_k(graph::TopKOp op, Collector& collect) {
  Side dim = dim_of(op.getX(), static_cast<int64_t>(op.getAxis()));
  collect.at_least(dim, {op.getK().getValue().front(), op.getX(), ""},
                   "k is {1}, " + dim.what + " is {0}");
}

void check_det(graph::DetOp op, Collector& collect) {
  int64_t rank = type_of(op.getX()).getRank();
  collect.equal(dim_of(op.getX(), rank - 2), dim_of(op.getX(), rank - 1));
}

void check_roi_align(graph::RoiAlignOp op, Collector& collect) {
  collect.equal(dim_of(op.getBoxes(), 1), {4, nullptr, "a box's number of coordinates"});
  collect.equal(dim_of(op.getBoxes(), 0), dim_of(op.getImages(), 0));
}

void check_resize(graph::ResizeOp op, Collector& collect) {
  for (int64_t axis = 0; axis < type_of(op.getX()).getRank(); ++axis) {
    Side dim = dim_of(op.getX(), axis);
    if (type_of(op.getResult()).getDim(axis) != dim.dim)
      collect.at_least(dim, {1, nullptr, ""}, dim.what + " is {0}: there is nothing to resize");
  }
}

void check_operands(mlir::Operation* op, Collector& collect) {
  llvm::TypeSwitch<mlir::Operation*>(op)
      .Case<graph::ConcatOp>([&](auto op) { check_concat(op, collect); })
      .Case<graph::MatMulOp>([&](auto op) { check_matmul(op, collect); })
      .Case<graph::ReshapeOp>([&](auto op) { check_reshape(op, collect); })
      .Case<graph::ExpandOp>([&](auto op) { check_expand(op, collect); })
      .Case<graph::ConvOp>([&](auto op) { check_conv(op, collect); })
      .Case<graph::ConvTransposeOp>([&](auto op) { check_conv_transpose(op, collect); })
      .Case<graph::LayerNormOp>([&](auto op) { check_layer_norm(op, collect); })
      .Case<graph::SliceOp>([&](auto op) { check_slice(op, collect); })
      .Case<graph::PadOp>([&](auto op) { check_pad(op, collect); })
      .Case<graph::GatherOp>([&](graph::GatherOp op) {
        check_not_empty(op.getX(), op.getAxis(), op.getIndices(), collect);
      })
      .Case<graph::GatherElementsOp>([&](graph::GatherElementsOp op) {
        check_along(op.getIndices(), op.getX(), op.getAxis(), collect);
      })
      .Case<graph::GatherNdOp>([&](auto op) { check_gather_nd(op, collect); })
      .Case<graph::ScatterElementsOp>([&](graph::ScatterElementsOp op) {
        check_along(op.getIndices(), op.getX(), op.getAxis(), collect);
        check_same_shape(op.getUpdates(), op.getIndices(), collect);
      })
      .Case<graph::ScatterNdOp>([&](auto op) { check_scatter_nd(op, collect); })
      .Case<graph::RequireOp>([&](auto op) { collect.require(op); })
      .Case<graph::DetOp>([&](graph::DetOp op) {
        int64_t rank = type_of(op.getX()).getRank();
        collect.equal(dim_of(op.getX(), rank - 2), dim_of(op.getX(), rank - 1));
      })
      .Case<graph::RoiAlignOp>([&](graph::RoiAlignOp op) {
        collect.equal(dim_of(op.getBoxes(), 1), {4, nullptr, "a box's coordinates"});
        collect.equal(dim_of(op.getImages(), 0), dim_of(op.getBoxes(), 0));
      })
      .Case<graph::TopKOp>([&](auto op) { check_top_k(op, collect); })
      .Case<graph::DetOp>([&](auto op) { check_det(op, collect); })
      .Case<graph::RoiAlignOp>([&](auto op) { check_roi_align(op, collect); })
      .Case<graph::ResizeOp>([&](auto op) { check_resize(op, collect); })
      .Default([&](mlir::Operation* op) {
        if (graph::is_elementwise(op)) collect.broadcast(op->getOperands());
      });
}

}  // namespace

void collect_checks(mlir::Operation* op, int scope, std::vector<Check>& checks) {
  if (mlir::isa<graph::GroupOp>(op)) return;
  Collector collector(op, scope, checks);
  check_operands(op, collector);
  collector.results();
}

}  // namespace scopevm::compiler::kernels
