// The ops that can run on blocked images, and what they cost.
#pragma once

#include <optional>
#include <string>

#include "compiler/graph/graph_ops.h"
#include "compiler/machine/machine.h"
#include "compiler/shapes/representative.h"

namespace scopevm::compiler::layouts {

// How the kernel of a blocked convolution computes it.
struct ConvForm {
  bool is_winograd = false;  // by Winograd's algorithm
  // `group_blocks` of sv.blocked_conv; 0: the kernel decides.
  int64_t group_blocks = 0;

  // "direct", "winograd" or "direct in groups of 2 blocks".
  std::string name() const;
};

// An op that can run on blocked images.
struct Candidate {
  mlir::Operation* op = nullptr;
  llvm::SmallVector<mlir::Value, 2> images;  // operands that become blocked with the op
  // The op is a convolution that can also read the image by channel: its operand is not converted.
  bool reads_plain = false;
  // The result becomes blocked with the op. Otherwise it stays as it is.
  bool has_blocked_result = true;
  // The blocked forms of a convolution. Without measurements, the first one is used.
  llvm::SmallVector<ConvForm, 1> forms = {ConvForm()};
  size_t form = 0;  // index of the used one
};
// Empty for an op with a value in a memory scope, on an accelerator, or if !may_grow(). `fast_conv`
// permits Winograd's algorithm.
std::optional<Candidate> candidate(mlir::Operation* op, const Machine& machine, bool fast_conv);

// Whether buffers and constants of the op can become larger: the default pools of its device have
// no limit.
bool may_grow(mlir::Operation* op, const Machine& machine);

// The number of adjacent groups of a convolution that are computed as one, so that each group has
// whole blocks of channels. It is 1 for one group and for graph::has_narrow_groups(), and 0 if no
// such number exists. REQUIRES: the weights are static.
int64_t merged_groups(graph::ConvOp op);

// The number of adjacent pixels whose output channels form one block, so that its lanes are used: 1
// unless the convolution has few output channels. The result is then by channel.
int64_t pixels_per_block(graph::ConvOp op);

// Estimated times in seconds, at representative dims. They are proportional to the number of
// images, so that variants for other numbers have the same layouts and share their weights.
struct Times {
  double plain = 0, blocked = 0;
};
inline Times operator+(Times a, Times b) { return {a.plain + b.plain, a.blocked + b.blocked}; }
// `known` has the values of symbols that are not representative.
Times times_of(const Candidate& candidate, const DimValues& known = {});
double conversion_seconds(graph::TensorType image, const DimValues& known = {});

}  // namespace scopevm::compiler::layouts
