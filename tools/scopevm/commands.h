// The commands of scopevm, each with its parsed options. main.cpp parses the command line; these
// functions execute the command and return the exit code. A file named "-" is stdin or stdout.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scopevm/compiler.h"

namespace scopevm::tool {

struct RunOptions {
  std::string module;
  // NAME=NUMBER: values of dimensions, for random inputs, and of inputs
  std::vector<std::string> values;
  // NAME=FILE.npy, NAME=random:DIMS[:LOW..HIGH], NAME=string:A,B, NAME=NUMBER or NAME=none; for a
  // sequence, NAME=VALUE,VALUE,... with values of the first four forms
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;     // NAME=FILE.npy
  std::vector<std::string> limits;      // [DEVICE.]SCOPE=BYTES
  std::vector<std::string> allocators;  // [DEVICE.]SCOPE=NAME[:OPTION=VALUE,...]
  std::vector<std::string> reserve;     // NAME=VALUE or NAME=LEAST..MOST; "all": no range
  std::vector<std::string> devices;     // NAME=KIND:NUMBER
  // names or paths of plug-ins with external libraries
  std::vector<std::string> external_libraries;
  std::string trace;         // a file; empty: none
  std::string memory_trace;  // a file; empty: none
  int threads = 1;
  int repeat = 1;
  int timeout_ms = 0;  // 0: none
  uint64_t seed = 1;
  bool emulate = false;
  bool stats = false;
  bool json = false;
};
int run(const RunOptions& options);

struct BoundOptions {
  std::string module;
  std::vector<std::string> dims;  // NAME=VALUE or NAME=LEAST..MOST
  int threads = 1;
  bool json = false;
};
int bound(const BoundOptions& options);

struct InspectOptions {
  std::string module;
  bool json = false;
};
int inspect(const InspectOptions& options);

struct TextOptions {
  std::string input;
  std::string output = "-";
  bool elide_data = false;  // dis only
};
int disassemble(const TextOptions& options);
int assemble(const TextOptions& options);
int verify(const std::string& path);

// The option --tune and those that need it.
struct TuneOptions {
  bool is_enabled = false;
  std::vector<std::string> requests;  // the dims of each: "n=1,length=128"
  int threads = 1;                    // of the sessions that are measured
  std::string cache;                  // see TuningCache::open()
};

struct CompileCommand {
  std::string model;
  std::string output;
  std::vector<std::string> dims;      // see add_dim_bounds()
  std::vector<std::string> variants;  // each in the syntax of `dims`
  std::vector<std::string> target_cpus;
  std::string machine;              // path; empty: one CPU
  std::vector<std::string> places;  // in the syntax of CompileOptions::places
  bool allow_unmatched = false;     // a rule of `places` that matches nothing is a warning
  std::vector<std::string> external_libraries;  // names or paths of plug-ins
  std::string external_functions;               // a file of declarations; empty: none
  TuneOptions tune;
  std::string dump_after;
  std::string reproducer;  // a file; empty: none
  int threads = 0;
  int64_t inline_limit = CompileOptions().inline_limit;
  ImageLayout image_layout = ImageLayout::kAuto;
  bool fast_conv = false;
  bool timing = false;
  bool json = false;
};
int compile(const CompileCommand& options);

struct ExplainCommand {
  std::string model;
  std::vector<std::string> dims;  // as in CompileCommand
  std::string machine;
  std::vector<std::string> places;
  bool allow_unmatched = false;
  std::vector<std::string> external_libraries;
  std::string external_functions;
  TuneOptions tune;
  bool shapes = false;
  bool copies = false;
  bool layout = false;
  bool memory = false;
  std::vector<std::string> values;  // NAME=VALUE: the dims of MemoryRequest
  int threads = 1;                  // of MemoryRequest
  int64_t inline_limit = CompileOptions().inline_limit;
  ImageLayout image_layout = ImageLayout::kAuto;
  bool fast_conv = false;
  std::string svg;  // a file; empty: none
  bool json = false;
};
int explain(const ExplainCommand& options);

// Prints a machine description of this host.
int machine();

}  // namespace scopevm::tool
