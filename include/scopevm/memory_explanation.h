/// @file
/// The memory plan of a model, as explain<MemoryExplanation>() in scopevm/compiler.h reports it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace scopevm {

/// The request for which explain<MemoryExplanation>() evaluates the memory plan, and for which
/// explain<TimeExplanation>() predicts the time.
struct MemoryRequest {
  /// Values of dimensions of main, by name. A dimension without a value has a representative one.
  std::map<std::string, int64_t> dims;
  int threads = 1;  ///< of the session
};

/// A step with its live bytes.
struct MemoryPeak {
  int64_t step = 0;   ///< index into MemoryExplanation::Function::steps
  int64_t bytes = 0;  ///< live bytes
};

/// The memory of a call, its peaks, and the options that lower them. The lines and pools of main
/// have the bytes that Module::memory_bound() returns for the same dims. explain() fails with
/// kInvalidArgument if the request has an unknown dimension or violates a check of the model.
struct MemoryExplanation {
  static constexpr std::string_view kKind = "memory";  ///< for explain()

  /// A step of a function. Marks of branches and loops are steps, too.
  struct Step {
    std::string op;    ///< the kernel or the kind of step: "conv", "elementwise", "call", "loop"
    std::string name;  ///< the ops of the model: "conv1+relu1"; can be empty
  };

  /// A buffer of an arena. Values share a buffer if kernels work in place.
  struct Buffer {
    std::string name;                 ///< the first value, or the op of the scratch memory
    std::vector<std::string> values;  ///< all values in the order of their steps, without views
    std::vector<std::string> views;   ///< the views of these values
    bool is_scratch = false;          ///< scratch memory of a kernel
    int64_t first_step = 0;           ///< the step that makes the first value
    int64_t last_step = 0;            ///< the last step at which the buffer is live
    int64_t bytes = 0;                ///< rounded up to the alignment of the pool
    int64_t offset = 0;               ///< in the arena
  };

  /// A buffer that is live at the peak of its arena.
  struct LiveBuffer {
    int64_t buffer = 0;         ///< index into Arena::buffers
    int64_t bytes_without = 0;  ///< the live bytes at the peak if the buffer did not exist
    bool is_accessed = false;   ///< the step at the peak reads or writes it
  };

  /// An option of `compile` or `run` that lowers the plan of the arena.
  struct Alternative {
    std::string option;             ///< "--threads 1", "--place 'x=cpu.global.slow'"
    int64_t lower_bound_bytes = 0;  ///< live bytes at the peak
    int64_t bytes = 0;              ///< height of the plan
  };

  /// The buffers that one plan covers: those of one pool whose sizes become known in one segment.
  struct Arena {
    std::string pool;               ///< "cpu.global.workspace"
    int64_t segment = 0;            ///< 0: sizes that the dims determine; else they depend on data
    int64_t bytes = 0;              ///< height of the plan
    int64_t lower_bound_bytes = 0;  ///< live bytes at the peak; no plan is lower
    MemoryPeak peak;                ///< the first step with the most live bytes
    /// The step with the most live bytes among those at which a buffer is live that is not live at
    /// the peak. No value if no other buffer exists.
    std::optional<MemoryPeak> next_peak;
    std::vector<Buffer> buffers;            ///< by first step
    std::vector<LiveBuffer> live;           ///< at the peak, largest first
    std::vector<Alternative> alternatives;  ///< lowest peak first
  };

  /// A line of MemoryBound: storages of a call in one pool.
  struct Line {
    std::string pool;               ///< "cpu.global"
    std::string what;               ///< "workspace", "calls", or the name of a result or value
    bool is_result = false;         ///< `what` is the name of a result
    bool depends_on_data = false;   ///< the dims do not determine the bytes, which are 0 here
    int64_t bytes = 0;              ///< for the request
    int64_t lower_bound_bytes = 0;  ///< no plan needs less
    /// Of results and values: the first step that writes it. None if no step does.
    std::optional<int64_t> step;
  };

  /// All storages of a call in one pool.
  struct Pool {
    std::string name;                    ///< "cpu.global"
    int64_t bytes = 0;                   ///< sum of the lines
    int64_t lower_bound_bytes = 0;       ///< sum of the lines
    int64_t constant_bytes = 0;          ///< constants, which calls share; not in `bytes`
    std::optional<int64_t> limit_bytes;  ///< limit in the machine description
  };

  /// A function of the module.
  struct Function {
    std::string name;                     ///< "main", or the name in the model
    std::map<std::string, int64_t> dims;  ///< values of its dimensions and data-dependent dims
    std::vector<std::string> assumed;     ///< the names in `dims` that the request does not give
    std::vector<Step> steps;              ///< in execution order
    std::vector<Line> lines;              ///< in the order of MemoryBound
    std::vector<Pool> pools;              ///< those with lines or constants
    std::vector<Arena> arenas;            ///< by segment, then pool
  };

  int threads = 1;                    ///< of the request
  std::vector<Function> functions;    ///< main, then the functions whose calls are not inlined
  std::vector<std::string> warnings;  ///< one message each
};

}  // namespace scopevm
