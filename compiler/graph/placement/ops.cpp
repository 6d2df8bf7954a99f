// Ops about places: generated definitions.
#include "compiler/graph/diagnostics/request_checks.h"
#include "compiler/graph/graph_ops.h"
#include "compiler/graph/type_rule.h"

// After the headers above: the generated ones use them.
#define GET_OP_CLASSES
#include "compiler/graph/placement/ops.cpp.inc"
