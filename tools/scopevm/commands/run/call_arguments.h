// Arguments that `run`, `bench` and `debug` share: the module, its inputs, and the options of the
// session.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scopevm/session.h"
#include "tools/command_line/parser.h"

namespace scopevm::tool {

struct CallArguments {
  std::string module;
  // NAME=NUMBER: values of dimensions, for random inputs, and of inputs
  std::vector<std::string> values;
  // NAME=FILE.npy, NAME=random:DIMS[:LOW..HIGH], NAME=string:A,B, NAME=NUMBER or NAME=none; for a
  // sequence, NAME=VALUE,VALUE,... with values of the first four forms
  std::vector<std::string> inputs;
  std::vector<std::string> limits;      // [DEVICE.]SCOPE=BYTES
  std::vector<std::string> allocators;  // [DEVICE.]SCOPE=NAME[:OPTION=VALUE,...]
  std::vector<std::string> devices;     // NAME=KIND:NUMBER
  // names or paths of plug-ins with external libraries
  std::vector<std::string> external_libraries;
  std::string transport;  // name or path of a plug-in; empty: see add_transport()
  std::string links;      // BYTES_PER_SECOND:SECONDS; empty: messages are not delayed
  int threads = 1;
  uint64_t seed = 1;
};

// The module, the values and the inputs.
void declare_inputs(CLI::App& command, CallArguments& arguments);
void declare_threads(CLI::App& command, CallArguments& arguments);
// The seed of random inputs, limits, allocators, devices and external libraries.
void declare_session(CLI::App& command, CallArguments& arguments);
// The transport and the links of add_transport().
void declare_transport(CLI::App& command, CallArguments& arguments);

// Parses "gpu=opencl:0". Errors: kInvalidArgument, also if a device is given twice.
Result<std::vector<DeviceBinding>> parse_devices(const std::vector<std::string>& texts);

// The options of a session, except for the external libraries. Errors: kInvalidArgument, and those
// of parse_scope_allocator().
Result<SessionOptions> session_options(const CallArguments& arguments);
// Loads the external libraries. Errors: those of ExternalLibrary::load().
Status add_external_libraries(const CallArguments& arguments, SessionOptions& session);

// The options with which a module is loaded: with the weights of this rank only, in a job. Errors:
// those of Transport::load().
Result<LoadOptions> load_options(const CallArguments& arguments);

// Connects to the other processes of a job with the transport of the arguments. Without one, that
// is "mpi" if the module has several ranks and mpirun has started this process. Errors: those of
// Transport::load() and parse_link(), and kInvalidArgument (links without a job).
Status add_transport(const CallArguments& arguments, const Module& module, SessionOptions& session);

}  // namespace scopevm::tool
