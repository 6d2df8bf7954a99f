// Runs random operations on states of a model in three executions: the module of one rank, the
// distributed module in one process, and the distributed module as a job. All must agree.
#pragma once

#include <cstdint>
#include <string>

#include "tests/ranks/random/random_model.h"

namespace scopevm::ranks {

struct Counts {
  int64_t models = 0, refused = 0;  // refused: the model cannot be distributed
  int64_t remote = 0;               // models with a state in memory of another rank
  int64_t calls = 0;                // that succeeded
  int64_t operations = 0;           // of other kinds
  int64_t interrupted = 0;          // by deadlines, cancellations and failed allocations
  int64_t rejected = 0;             // calls that need more rows than a state has room for

  void add(const Counts& other);
};

// Returns what is wrong; empty: nothing. Adds to `counts`. `seed`: of the operations. An operation
// that takes more than `wait_seconds` ends the process by SIGALRM.
std::string compare_executions(const RandomModel& model, uint64_t seed, int64_t operations,
                               unsigned wait_seconds, Counts& counts);

}  // namespace scopevm::ranks
