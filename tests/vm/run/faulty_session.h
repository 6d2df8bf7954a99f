// Sessions whose OpenCL devices use the fault-injecting API of tests/runtime/device/faulty_api.h.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "runtime/opencl/opencl.h"
#include "scopevm/session.h"
#include "tests/runtime/device/faulty_api.h"
#include "vm/api/module_access.h"
#include "vm/run/call/bound_session.h"

namespace scopevm::testing {

inline Result<std::shared_ptr<runtime::Device>> open_faulty(const std::string&, int number) {
  SCOPEVM_RETURN_IF_ERROR(runtime::opencl::load_api().status());
  return runtime::opencl::open_device(faulty_api(), number);
}

inline Result<Session> make_faulty_session(const Module& module) {
  SCOPEVM_ASSIGN_OR_RETURN(auto bound,
                           vm::BoundSession::create(ModuleAccess::loaded(module), {}, open_faulty));
  return SessionAccess::make(std::move(bound));
}

}  // namespace scopevm::testing
