// How many rows of waiting requests a call takes: the number with which a row takes the least time,
// in proportion to the bytes of its inputs, because requests can differ in other dims.
// Most models need less time for a row in a larger call. Others need more, for example if the
// values of several images between two layers do not fit in the cache.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace scopevm::serve {

// Not thread-safe.
class BatchSize {
 public:
  // `most`: rows of a call, at least 1.
  explicit BatchSize(int64_t most) : most_(most) {}

  // The greatest number of rows of the next call, if so many wait. Sizes that are not measured yet
  // are tried. Now and then, it is another size than the best one, so that all are measured again.
  int64_t next(int64_t waiting);
  // A call of so many rows, whose inputs have so many bytes, took this time.
  void add(int64_t rows, int64_t bytes, int64_t nanoseconds);

 private:
  // Class i has the calls of at least 2^i rows, and less than 2^(i+1).
  static size_t class_of(int64_t rows);
  // Of the classes up to `last`: the largest one that is not measured, if there is one, and the
  // largest one whose rows take little time.
  std::optional<size_t> not_measured(size_t last) const;
  size_t best(size_t last) const;

  const int64_t most_;
  std::array<double, 63> byte_ns_ = {};  // by class: the mean time of a byte; 0: not measured
  int64_t calls_ = 0;
  size_t explored_ = 0;
};

}  // namespace scopevm::serve
