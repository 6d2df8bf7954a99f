// How the ranks of a tensor split hold a value, and the seconds of the messages that change this.
#pragma once

#include <cstdint>
#include <utility>

#include "compiler/graph/graph_ops.h"
#include "compiler/machine/machine.h"
#include "llvm/ADT/SmallVector.h"

namespace scopevm::compiler::split {

// Consecutive elements.
struct Chunk {
  int64_t start = 0;
  int64_t size = 0;
};
// The elements of `size` that `rank` has, if they are divided over `ranks` ranks.
Chunk chunk_of(int64_t size, int rank, int ranks);

struct Form {
  enum class Kind : uint8_t {
    kWhole,       // once, wherever placement puts it
    kReplicated,  // on each rank
    kDivided,     // each rank has a part along an axis
    kPartial,     // each rank has a value of the whole shape; combined, they are the value
  };
  using Segments = llvm::SmallVector<int64_t, 1>;

  Kind kind = Kind::kWhole;
  // Of kDivided. The axis consists of the segments, one after the other, and a rank has its chunk
  // of each. The columns of queries, keys and values that one product computes are three segments.
  int64_t axis = 0;
  Segments segments;
  // Of kPartial. Sums of parts are the most frequent ones: those of products.
  graph::Combine combine = graph::Combine::kSum;

  static Form whole() { return {}; }
  static Form replicated() { return {Kind::kReplicated, 0, {}}; }
  static Form divided(int64_t axis, Segments segments) {
    return {Kind::kDivided, axis, std::move(segments)};
  }
  static Form partial(graph::Combine combine) { return {Kind::kPartial, 0, {}, combine}; }

  bool is(Kind of) const { return kind == of; }
  // The elements along the axis that a rank has. REQUIRES: kDivided.
  int64_t size_on(int rank, int ranks) const;
  // The elements along the axis of the whole value. REQUIRES: kDivided.
  int64_t size() const;

  friend bool operator==(const Form&, const Form&) = default;
  friend bool operator<(const Form& a, const Form& b);
};
using Forms = llvm::SmallVector<Form, 2>;

// The ranks that hold a value together. Each receives its messages at the speed of the link.
class Group {
 public:
  Group(int ranks, Link link) : ranks_(ranks), link_(link) {}

  int ranks() const { return ranks_; }
  // The seconds until all ranks have a value of `bytes` bytes in form `to`; infinite if they
  // cannot.
  double seconds(const Form& from, const Form& to, double bytes) const;
  // Whether partial values of `bytes` bytes take less time if each rank combines one part and sends
  // it to the others than if each combines all.
  bool combines_in_parts(double bytes) const;
  // The form of `from` from which `to` takes the least time: the first one of several.
  const Form& cheapest(llvm::ArrayRef<Form> from, const Form& to, double bytes) const;

 private:
  double message(double bytes, double steps = 1) const {
    return steps * link_.latency_seconds + bytes / link_.bytes_per_second;
  }

  int ranks_;
  Link link_;
};

}  // namespace scopevm::compiler::split
