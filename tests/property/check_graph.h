// Compiles a graph through the public API, runs it and compares every result with the reference's.
// All of that in a child process: a crash or a hang is an outcome.
#pragma once

#include <string>

#include "tests/property/random_graph.h"

namespace scopevm::compiler::property {

enum class Finding {
  kAgrees,
  kUnsupported,   // compile() says so
  kCompileError,  // any other status of compile()
  kRunError,      // of loading or of a call
  kMismatch,
  kCrash,
  kTimeout,
};

struct Verdict {
  Finding finding = Finding::kAgrees;
  std::string detail;          // the message, or the first element that differs
  double compile_seconds = 0;  // of processor time
  int64_t compared = 0;        // elements
  int64_t skipped = 0;         // elements that the reference does not know
  bool is_refused = false;     // it does not fit within CheckOptions::is_squeezed's limit

  // Two verdicts of one kind have one text: details without numbers and places.
  std::string kind() const;
};

const char* name(Finding finding);

struct CheckOptions {
  std::string cpu = "x86-64-v3";
  int cpu_seconds = 60;
  // Scatters the ops over a machine of three devices, by rules that follow from the graph's text.
  bool is_scattered = false;
  // Limits the workspace to a part of what the graph takes, which follows from its text.
  bool is_squeezed = false;
};

// REQUIRES: the calling process has one thread.
Verdict check_graph(const GraphCase& graph, const CheckOptions& options = {});

// The elements of `actual` beyond the error that `expected` allows; empty when there are none.
std::string first_difference(const Array& expected, DType dtype, const void* actual);

}  // namespace scopevm::compiler::property
