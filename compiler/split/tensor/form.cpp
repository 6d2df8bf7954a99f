// See form.h.
#include "compiler/split/tensor/form.h"

#include <limits>
#include <numeric>
#include <tuple>

namespace scopevm::compiler::split {

Chunk chunk_of(int64_t size, int rank, int ranks) {
  const int64_t start = size * rank / ranks;
  return {start, size * (rank + 1) / ranks - start};
}

int64_t Form::size_on(int rank, int ranks) const {
  int64_t sum = 0;
  for (const int64_t segment : segments) sum += chunk_of(segment, rank, ranks).size;
  return sum;
}

int64_t Form::size() const { return std::accumulate(segments.begin(), segments.end(), int64_t{0}); }

bool operator<(const Form& a, const Form& b) {
  return std::tie(a.kind, a.axis, a.segments, a.combine) <
         std::tie(b.kind, b.axis, b.segments, b.combine);
}

double Group::seconds(const Form& from, const Form& to, double bytes) const {
  using Kind = Form::Kind;
  if (from == to) return 0;
  const double others = ranks_ - 1, part = bytes / ranks_;
  switch (from.kind) {
    case Kind::kWhole:  // the rank that has it sends it
      if (to.is(Kind::kReplicated)) return message(others * bytes);
      if (to.is(Kind::kDivided)) return message(others * part);
      break;
    case Kind::kReplicated:
      if (!to.is(Kind::kPartial)) return 0;
      break;
    case Kind::kDivided:
      if (!to.is(Kind::kPartial)) return message(others * part);
      break;
    case Kind::kPartial:
      if (to.is(Kind::kWhole)) return message(others * bytes);
      if (to.is(Kind::kDivided)) return message(others * part);
      if (to.is(Kind::kPartial)) break;  // by another operator
      return combines_in_parts(bytes) ? message(2 * others * part, 2) : message(others * bytes);
  }
  return std::numeric_limits<double>::infinity();
}

bool Group::combines_in_parts(double bytes) const {
  const double others = ranks_ - 1;
  return message(2 * others * bytes / ranks_, 2) < message(others * bytes);
}

const Form& Group::cheapest(llvm::ArrayRef<Form> from, const Form& to, double bytes) const {
  return *std::ranges::min_element(from, {},
                                   [&](const Form& form) { return seconds(form, to, bytes); });
}

}  // namespace scopevm::compiler::split
