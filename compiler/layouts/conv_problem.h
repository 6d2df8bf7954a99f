// Convolutions of images by channel as problems of schedules.
#pragma once

#include "compiler/dims/representative.h"
#include "compiler/graph/graph_ops.h"
#include "compiler/schedule/conv_cost.h"

namespace scopevm::compiler::layouts {

// REQUIRES: the weights are static. `known` has the values of symbols that are not representative.
schedule::ConvProblem problem_of(graph::ConvOp op, const DimValues& known = {});
schedule::ConvProblem problem_of(graph::ConvTransposeOp op, const DimValues& known = {});

}  // namespace scopevm::compiler::layouts
