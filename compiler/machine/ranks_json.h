// The members of a machine description that concern ranks (docs/ranks.md). Private to
// machine_json.cpp. Errors of all functions: kInvalidModel, from Member::fail.
#pragma once

#include "compiler/machine/machine.h"
#include "compiler/machine/member.h"
#include "scopevm/status.h"

namespace scopevm::compiler {

// Reads the member `rank` of a device, whose kind is set.
Status read_rank(const Member& member, Device& device);
// Checks that every rank up to the last one has a device, and rank 0 the host.
Status check_ranks(const Member& devices, const Machine& machine);
// Appends an element of `links`. REQUIRES: the devices have been read.
Status read_link(const Member& member, Machine& machine);

}  // namespace scopevm::compiler
