// Builds the checks of ops and their messages, with the provenance of each dim; see
// request_checks.h.
#include "compiler/graph/diagnostics/request_checks.h"

#include "compiler/graph/diagnostics/dim_trace.h"
#include "compiler/graph/diagnostics/loop_bounds.h"
#include "compiler/graph/diagnostics/op_name.h"
#include "compiler/graph/type_rule.h"

namespace scopevm::compiler::graph {
namespace {

constexpr size_t kLongestMessage = 300;

}  // namespace

CheckedDim dim_of(mlir::Value value, int64_t axis) {
  return {tensor_type(value).getDim(axis), value,
          DimTrace::name(value) + " dim " + std::to_string(axis)};
}

void RequestChecks::require_equal(const CheckedDim& a, const CheckedDim& b) {
  if (a.dim == b.dim) return;
  add(Check::Kind::kEqual, a, b, a.what + " is {0}, " + b.what + " is {1}; they must be equal");
}

void RequestChecks::require_broadcastable(const CheckedDim& a, const CheckedDim& b) {
  if (a.dim == b.dim || a.dim.is_constant(1) || b.dim.is_constant(1)) return;
  const std::string message = a.what + " is {0}, " + b.what + " is {1}; they do not broadcast";
  add(Check::Kind::kBroadcastable, a, b, message);
  if (!refuses_one_and_zero(a.dim, b.dim)) return;
  const DimExpr greater = max(a.dim, b.dim);
  if (greater == a.dim)
    require_at_least(b, {min(greater, 1), a.value, a.what}, message);
  else
    require_at_least(a, {min(greater, 1), b.value, b.what}, message);
}

void RequestChecks::require_at_least(const CheckedDim& a, const CheckedDim& b,
                                     const std::string& message) {
  if (is_never_negative(at_last_iteration(a.dim - b.dim, op_))) return;
  add(Check::Kind::kAtLeast, a, b, message);
}

void RequestChecks::require_at_most(const CheckedDim& a, const CheckedDim& b) {
  require_at_least(b, a, a.what + " is {1}, expected at most {0}, which is " + b.what);
}

void RequestChecks::require_multiple_of(const CheckedDim& a, int64_t factor,
                                        const std::string& message) {
  if (mod(a.dim, factor).is_constant(0)) return;
  add(Check::Kind::kMultipleOf, a, {factor, nullptr, ""}, message);
}

void RequestChecks::require_broadcast(mlir::ValueRange operands, int64_t skip_last) {
  for (size_t i = 0; i < operands.size(); ++i)
    for (size_t j = i + 1; j < operands.size(); ++j) {
      int64_t a = tensor_type(operands[i]).getRank(), b = tensor_type(operands[j]).getRank();
      for (int64_t k = 1 + skip_last; k <= std::min(a, b); ++k)
        require_broadcastable(dim_of(operands[i], a - k), dim_of(operands[j], b - k));
    }
}

void RequestChecks::require_results() {
  for (mlir::Value result : op_->getResults()) {
    if (!mlir::isa<TensorType>(result.getType())) continue;
    for (auto [axis, dim] : llvm::enumerate(tensor_type(result).getShape()))
      require_at_least({dim, result, ""}, {0, nullptr, ""},
                       "dim " + std::to_string(axis) +
                           " of the result is {0}, expected at least 0: an input is too small");
  }
}

void RequestChecks::add(Check::Kind kind, const CheckedDim& a, const CheckedDim& b,
                        const std::string& message) {
  for (const Check& other : checks_)
    if (other.kind == kind && other.lhs == a.dim && other.rhs == b.dim &&
        // A check of segment 0 runs in every call. A check of another segment, for instance in a
        // branch, may not have run.
        (other.segment == SegmentIndex{0} || other.segment == segment_))
      return;
  Check check{kind, a.dim, b.dim, "", {}, segment_};
  check.message = model_kind(op_) + " \"" + op_name(op_) + "\": " + message;
  DimTrace trace(check.more);
  std::string origins;
  for (auto [side, mark] : {std::pair(&a, "{0}"), std::pair(&b, "{1}")}) {
    std::string origin = side->value ? trace.origin(side->dim, side->value) : "";
    if (origin.empty()) continue;
    origins += (origins.empty() ? " (" : "; ") + std::string(mark) + " is " + origin;
    // The ops on the path are added only if the message stays short.
    std::string way = DimTrace::way(side->dim, side->value);
    if (check.message.size() + origins.size() + way.size() < kLongestMessage) origins += way;
  }
  check.message += origins + (origins.empty() ? "" : ")");
  checks_.push_back(std::move(check));
}

void collect_checks(mlir::Operation* op, SegmentIndex segment, std::vector<Check>& checks) {
  if (mlir::isa<GroupOp>(op)) return;
  RequestChecks collected(op, segment, checks);
  if (auto checked = mlir::dyn_cast<RequestCheckOp>(op)) checked.addRequestChecks(collected);
  collected.require_results();
}

}  // namespace scopevm::compiler::graph
