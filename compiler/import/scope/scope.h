// The names that the nodes of a graph or of a function body can use.
#pragma once

#include <onnx/onnx_pb.h>

#include <map>
#include <string>

#include "compiler/import/model/small_types.h"
#include "mlir/IR/Value.h"

namespace scopevm::compiler::frontend {

// A value: a nested graph works on a copy of the scope around it.
class Scope {
 public:
  // Null if there is no value of this name.
  mlir::Value find(const std::string& name) const;
  bool contains(const std::string& name) const { return values_.contains(name); }
  // False if the name is defined already.
  [[nodiscard]] bool define(const std::string& name, mlir::Value value);
  // Replaces the value of the name, which has no small type then.
  void bind(const std::string& name, mlir::Value value);
  // Removes the values whose names `graph` defines again, which hides them.
  void hide_names_of(const onnx::GraphProto& graph);

  // The small type whose carriers the value of this name has. Null if it has none.
  const SmallType* small_type(const std::string& name) const;
  // REQUIRES: the name has a value. `type` can be null.
  void set_small_type(const std::string& name, const SmallType* type);

  // Declares an input or initializer of an unsupported type. A node that reads it is an error.
  void declare_unsupported(const std::string& name, std::string reason);
  // Null if the name does not denote such an input or initializer.
  const std::string* why_unsupported(const std::string& name) const;

 private:
  std::map<std::string, mlir::Value> values_;
  std::map<std::string, const SmallType*> small_types_;  // by name
  std::map<std::string, std::string> unsupported_;       // reason by name
};

}  // namespace scopevm::compiler::frontend
