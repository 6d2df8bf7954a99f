// Machine descriptions with several ranks (docs/ranks.md).
#pragma once

#include <string>

#include "scopevm/c/transport.h"
#include "scopevm/status.h"

namespace scopevm::tool {

// A description with a rank for each NUMA node that has CPUs, as JSON. `folder` lists the nodes.
// Errors: kNotFound (the folder lists none).
Result<std::string> describe_numa_nodes(const std::string& folder = "/sys/devices/system/node");

// Measures the links of all pairs of ranks, one after another: the latency of the smallest message
// and the bandwidth of large ones. All ranks call this. Returns the description on rank 0, and an
// empty string on the others. Errors: kDevice (the transport failed).
Result<std::string> describe_job(const scopevm_transport& transport);

}  // namespace scopevm::tool
