// Access to the private constructors of Module and Session, and to the implementation object of a
// Module, for the library and its tests.
#pragma once

#include <memory>
#include <utility>

#include "scopevm/module.h"
#include "scopevm/session.h"
#include "vm/load/loaded_module.h"

namespace scopevm {

struct ModuleAccess {
  // REQUIRES: `contents` passed verification. `digest`: see LoadedModule::create().
  static Result<Module> from_contents(format::ModuleContents contents, uint64_t digest = 0) {
    SCOPEVM_ASSIGN_OR_RETURN(std::shared_ptr<const vm::LoadedModule> loaded,
                             vm::LoadedModule::create(std::move(contents), digest));
    return Module(std::move(loaded));
  }
  static const std::shared_ptr<const vm::LoadedModule>& loaded(const Module& module) {
    return module.loaded_;
  }
};

struct SessionAccess {
  static Session make(std::shared_ptr<vm::BoundSession> bound) { return Session(std::move(bound)); }
  static const std::shared_ptr<vm::BoundSession>& bound(const Session& session) {
    return session.bound_;
  }
};

}  // namespace scopevm
