// Handles of scopevm/module.h and scopevm/session.h for objects of the VM, and vice versa, for
// tests and benchmarks.
#pragma once

#include <memory>
#include <utility>

#include "scopevm/module.h"
#include "scopevm/session.h"
#include "vm/api/c_support.h"
#include "vm/load/loaded_module.h"

namespace scopevm {

struct ModuleAccess {
  // REQUIRES: `contents` passed verification. `digest`: see LoadedModule::create().
  static Result<Module> from_contents(format::ModuleContents contents, uint64_t digest = 0) {
    SCOPEVM_ASSIGN_OR_RETURN(std::shared_ptr<const vm::LoadedModule> loaded,
                             vm::LoadedModule::create(std::move(contents), digest));
    return Module::adopt(vm::make_handle(std::move(loaded)));
  }
  static const std::shared_ptr<const vm::LoadedModule>& loaded(const Module& module) {
    return module.c_module()->loaded;
  }
};

struct SessionAccess {
  static Session make(std::shared_ptr<vm::BoundSession> bound) {
    return *Session::adopt(new scopevm_session{std::move(bound)});
  }
  static const std::shared_ptr<vm::BoundSession>& bound(const Session& session) {
    return session.c_session()->bound;
  }
};

}  // namespace scopevm
