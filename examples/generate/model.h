// A language model: the roles of a module's inputs, outputs and dimensions, and the memory that a
// sequence needs.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "scopevm/call.h"
#include "scopevm/module.h"
#include "scopevm/status.h"

// The memory of a sequence in bytes, over all memory scopes.
struct SequenceBytes {
  int64_t caches = 0;  // from the first step to the end of the sequence
  int64_t call = 0;    // during a step, in addition: the most that any step needs
};

class LanguageModel {
 public:
  // The module has caches in one buffer each (`scopevm compile --state`), the input `input_ids` of
  // integers [1, tokens], and can have the inputs `attention_mask` and `position_ids`. The first
  // output that does not belong to a cache has the logits, of type f32; its last axis is the
  // vocabulary. Errors: kInvalidArgument.
  static scopevm::Result<LanguageModel> create(scopevm::Module module);

  const scopevm::Module& module() const { return module_; }
  // The index of the logits in Call::outputs().
  size_t logits() const { return logits_; }
  // The values of the dimensions in the caches of a sequence of at most `capacity` tokens.
  std::map<std::string, int64_t> cache_dims(int64_t capacity) const;
  // The memory of a sequence of at most `capacity` tokens, whose steps have at most `step` tokens,
  // in a session with `threads` threads. Errors: those of Module::largest_bound(), and kUnsupported
  // if the size of some memory depends on data.
  scopevm::Result<SequenceBytes> bytes(int64_t capacity, int64_t step, int threads) const;
  // Sets the inputs of a step with these tokens, after `past` tokens in the caches.
  scopevm::Status set_inputs(scopevm::Call& call, std::span<const int64_t> tokens,
                             int64_t past) const;

 private:
  enum class Role : uint8_t { kTokens, kMask, kPositions, kState };

  explicit LanguageModel(scopevm::Module module) : module_(std::move(module)) {}
  scopevm::Status find_roles();
  scopevm::Status find_dims();
  scopevm::Status set_input(scopevm::Call& call, size_t input,
                            std::span<const int64_t> values) const;
  // The values of all dimensions in a step.
  std::map<std::string, int64_t> dims(int64_t tokens, int64_t past, int64_t capacity) const;

  scopevm::Module module_;
  std::vector<Role> roles_;  // one per input
  size_t logits_ = 0;
  // The names of the dimensions; empty: the model has no such dimension.
  std::string batch_, tokens_, total_;
  std::vector<std::string> pasts_;  // the numbers of rows in the buffers of the caches
};
