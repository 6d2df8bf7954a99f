// The elementwise ops; see the header.
#include "compiler/graph/elementwise.h"

#include "compiler/graph/graph_ops.h"

namespace scopevm::compiler::graph {

bool is_elementwise(mlir::Operation* op) {
  return mlir::isa<AbsOp, NegOp, ExpOp, LogOp, SqrtOp, ReciprocalOp, SinOp, CosOp, TanOp, AsinOp,
                   AcosOp, AtanOp, SinhOp, CoshOp, TanhOp, AsinhOp, AcoshOp, AtanhOp, ErfOp, CeilOp,
                   FloorOp, RoundOp, SignOp, SigmoidOp, ReluOp, SoftplusOp, LogicalNotOp, BitNotOp,
                   IsNanOp, IsInfOp, AddOp, SubOp, MulOp, DivOp, ModOp, FmodOp, PowOp, MinOp, MaxOp,
                   AndOp, OrOp, XorOp, BitAndOp, BitOrOp, BitXorOp, ShiftLeftOp, ShiftRightOp,
                   EqualOp, LessOp, LessEqualOp, GreaterOp, GreaterEqualOp, SelectOp, CastOp>(op);
}

}  // namespace scopevm::compiler::graph
