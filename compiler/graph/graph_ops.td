// All graph ops. Each op is defined in the folder of its family. docs/ops.md and the list of ops
// (graph_op_list.inc) are generated from this file.
#ifndef SCOPEVM_GRAPH_OPS
#define SCOPEVM_GRAPH_OPS

include "compiler/graph/contraction/ops.td"
include "compiler/graph/control/ops.td"
include "compiler/graph/convolution/ops.td"
include "compiler/graph/elementwise/ops.td"
include "compiler/graph/external/ops.td"
include "compiler/graph/indexing/ops.td"
include "compiler/graph/layout/ops.td"
include "compiler/graph/placement/ops.td"
include "compiler/graph/pooling/ops.td"
include "compiler/graph/reduction/ops.td"
include "compiler/graph/selection/ops.td"
include "compiler/graph/signal/ops.td"
include "compiler/graph/string/ops.td"

#endif
