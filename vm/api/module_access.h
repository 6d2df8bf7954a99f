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
  // REQUIRES: `contents` passed verification.
  static Result<Module> from_contents(format::ModuleContents contents) {
    SCOPEVM_ASSIGN_OR_RETURN(std::shared_ptr<const vm::LoadedModule> loaded,
                             vm::LoadedModule::create(std::move(contents)));
    return Module(std::move(loaded));
  }
  static const std::shared_ptr<const vm::LoadedModule>& loaded(const Module& module) {
    return module.loaded_;
  }
};

struct SessionAccess {
  static Session make(std::shared_ptr<vm::BoundSession> bound) { return Session(std::move(bound)); }
};

}  // namespace scopevm
