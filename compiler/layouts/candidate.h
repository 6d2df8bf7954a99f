// The ops that can run on blocked images, and what they cost.
#pragma once

#include <optional>
#include <string>

#include "compiler/dims/representative.h"
#include "compiler/graph/graph_ops.h"
#include "compiler/machine/machine.h"
#include "compiler/schedule/conv_cost.h"

namespace scopevm::compiler::layouts {

struct Options;

// An op that can run on blocked images.
struct Candidate {
  mlir::Operation* op = nullptr;
  llvm::SmallVector<mlir::Value, 2> images;  // operands that become blocked with the op
  // The op is a convolution that can also read the image by channel: its operand is not converted.
  bool reads_plain = false;
  // The result becomes blocked with the op. Otherwise it stays as it is.
  bool has_blocked_result = true;
  // The blocked forms of a convolution, with distinct schedules. Without measurements, the first
  // one is used.
  llvm::SmallVector<schedule::ConvForm, 1> forms = {schedule::ConvForm()};
  size_t form = 0;  // index of the used one
};
// Empty for an op with a value in a memory scope, on an accelerator, or if !may_grow().
std::optional<Candidate> candidate(mlir::Operation* op, const Machine& machine,
                                   const Options& options);

// Whether buffers and constants of the op can become larger: the default pools of its device have
// no limit.
bool may_grow(mlir::Operation* op, const Machine& machine);

// Estimated times at representative dims. `known` has the values of symbols that are not
// representative.
using Times = schedule::LayoutTimes;
Times times_of(const Candidate& candidate, const schedule::Core& core, const DimValues& known = {});
// The schedule of a form of an ordinary convolution of blocked images, without other ops in its
// kernel. Empty for other ops.
std::string schedule_text(const Candidate& candidate, size_t form, const schedule::Core& core);
double conversion_seconds(graph::TensorType image, const schedule::Core& core,
                          const DimValues& known = {});

}  // namespace scopevm::compiler::layouts
