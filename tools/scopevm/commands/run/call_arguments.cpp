// Declares and parses the arguments of calls; see call_arguments.h.
#include "tools/scopevm/commands/run/call_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "scopevm/allocators.h"
#include "tools/command_line/arguments.h"
#include "tools/ranks/emulated_links.h"
#include "tools/ranks/launcher.h"
#include "tools/scopevm/commands/run/allocator_option.h"
#include "tools/scopevm/commands/run/inputs.h"

namespace scopevm::tool {
namespace {

// "pool, arena or direct".
std::string allocator_list() {
  const std::vector<std::string> names = allocator_names();
  return fmt::format("{} or {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}

// Parses "gpu=opencl:0". Errors: kInvalidArgument.
Result<DeviceBinding> parse_binding(const std::string& text) {
  SCOPEVM_ASSIGN_OR_RETURN(const auto parts, split_assignment(text));
  const size_t colon = parts.second.find(':');
  const auto number = colon == std::string::npos
                          ? Result<int64_t>(Status(StatusCode::kInvalidArgument, ""))
                          : parse_number(std::string_view(parts.second).substr(colon + 1));
  if (!number.ok() || colon == 0 || *number < 0 || *number > INT32_MAX)
    return Status(StatusCode::kInvalidArgument,
                  "--device " + text + ": expected NAME=KIND:NUMBER, such as gpu=opencl:0");
  return DeviceBinding{parts.first, parts.second.substr(0, colon), static_cast<int>(*number)};
}

}  // namespace

void declare_inputs(CLI::App& command, CallArguments& arguments) {
  command.add_option("MODULE", arguments.module, "Module file")->required();
  command.add_option("VALUES", arguments.values,
                     "Dimensions and scalar inputs: n=512 rate=16000. With dimensions, inputs "
                     "that are not given are random");
  command
      .add_option(
          "--input", arguments.inputs,
          "NAME=FILE.npy, NAME=random:1x3x48x320[:LOW..HIGH], NAME=16000 or NAME=string:A,B,C; "
          "for a sequence: NAME=FILE.npy,random:3x4,... (one value per element); NAME=none "
          "for an optional without a value")
      ->allow_extra_args(false);
}

void declare_threads(CLI::App& command, CallArguments& arguments) {
  command.add_option("--threads", arguments.threads, "Number of worker threads; 0: one per CPU")
      ->check(thread_count())
      ->capture_default_str();
}

void declare_session(CLI::App& command, CallArguments& arguments) {
  command.add_option("--seed", arguments.seed, "Seed of random inputs")
      ->check(integer_in<uint64_t>(0))
      ->capture_default_str();
  command
      .add_option("--memory-limit", arguments.limits,
                  "[DEVICE.]SCOPE=BYTES: limit the memory of a scope; a call that needs "
                  "more fails")
      ->allow_extra_args(false);
  command
      .add_option("--allocator", arguments.allocators,
                  "[DEVICE.]SCOPE=NAME[:OPTION=VALUE,...]: allocate a scope with this allocator: " +
                      allocator_list())
      ->allow_extra_args(false);
  command
      .add_option("--device", arguments.devices,
                  "NAME=KIND:NUMBER: bind a device of the module to a device of this host")
      ->allow_extra_args(false);
  command
      .add_option("--external", arguments.external_libraries,
                  "NAME or PATH of a plug-in that computes external functions of the module; "
                  "NAME denotes libscopevm_NAME.so")
      ->allow_extra_args(false);
}

void declare_transport(CLI::App& command, CallArguments& arguments) {
  command.add_option("--transport", arguments.transport,
                     "NAME or PATH of a plug-in that connects the processes of a job, one for each "
                     "rank of the module; none: no job (default: mpi in processes that mpirun has "
                     "started)");
  command.add_option("--emulate-links", arguments.links,
                     "BYTES_PER_SECOND:SECONDS: delay the messages of a job on one machine like "
                     "links with this bandwidth and latency");
}

Result<LoadOptions> load_options(const CallArguments& arguments) {
  LoadOptions options;
  const std::string name = transport_name(arguments.transport);
  if (name == kMpi) {
    // The processes connect when each has loaded the module, and only if it has several ranks.
    options.rank = launched_rank();
  } else if (!name.empty()) {
    SCOPEVM_ASSIGN_OR_RETURN(const Transport transport, Transport::load(name));
    options.rank = transport.get()->rank;
  }
  return options;
}

Status add_transport(const CallArguments& arguments, const Module& module,
                     SessionOptions& session) {
  const bool is_needed = module.ranks() > 1 || !arguments.transport.empty();
  const std::string name = is_needed ? transport_name(arguments.transport) : "";
  if (name.empty() && !arguments.links.empty())
    return {StatusCode::kInvalidArgument,
            "--emulate-links: this process has no messages, because it is not a part of a job of "
            "several ranks"};
  if (name.empty()) return {};
  // Before the processes connect: an error would not end the others.
  const Result<EmulatedLink> link =
      arguments.links.empty() ? EmulatedLink() : parse_link(arguments.links);
  SCOPEVM_RETURN_IF_ERROR(link.status());
  SCOPEVM_ASSIGN_OR_RETURN(const Transport transport, Transport::load(name));
  session.transport = transport.get();
  if (arguments.links.empty()) return {};
  // Like the transport, until the process ends.
  static const auto* const links = new EmulatedLinks(*transport.get(), *link);
  session.transport = links->transport();
  return {};
}

Result<std::vector<DeviceBinding>> parse_devices(const std::vector<std::string>& texts) {
  SCOPEVM_RETURN_IF_ERROR(parse_named(texts, {}, "device").status());
  std::vector<DeviceBinding> devices;
  for (const std::string& text : texts) {
    SCOPEVM_ASSIGN_OR_RETURN(DeviceBinding binding, parse_binding(text));
    devices.push_back(std::move(binding));
  }
  return devices;
}

Result<SessionOptions> session_options(const CallArguments& arguments) {
  SessionOptions session;
  SCOPEVM_ASSIGN_OR_RETURN(const std::vector<NamedText> limits,
                           parse_named(arguments.limits, {}, "the limit of"));
  for (const NamedText& limit : limits) {
    SCOPEVM_ASSIGN_OR_RETURN(const int64_t bytes, parse_bytes(limit.text));
    session.memory_limits.push_back({limit.name, bytes});
  }
  SCOPEVM_ASSIGN_OR_RETURN(const std::vector<NamedText> allocators,
                           parse_named(arguments.allocators, {}, "the allocator of"));
  for (const NamedText& allocator : allocators) {
    SCOPEVM_ASSIGN_OR_RETURN(ScopeAllocator made,
                             parse_scope_allocator(allocator.name, allocator.text));
    session.allocators.push_back(std::move(made));
  }
  SCOPEVM_ASSIGN_OR_RETURN(session.devices, parse_devices(arguments.devices));
  session.threads = arguments.threads;
  return session;
}

Status add_external_libraries(const CallArguments& arguments, SessionOptions& session) {
  for (const std::string& name : arguments.external_libraries) {
    SCOPEVM_ASSIGN_OR_RETURN(const ExternalLibrary library, ExternalLibrary::load(name));
    session.external_libraries.push_back(library.get());
  }
  return {};
}

}  // namespace scopevm::tool
