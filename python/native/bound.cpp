// The memory bound of a module as tuples, and pairs of names and numbers.
#include "python/native/native.h"

namespace scopevm::python {
namespace {

// Releases the bound at the end of a block.
struct Bound {
  scopevm_bound* bound = nullptr;
  Bound() = default;
  Bound(const Bound&) = delete;
  Bound& operator=(const Bound&) = delete;
  ~Bound() { scopevm_bound_free(bound); }
};

PyObject* scopes_of(const scopevm_bound* bound) {
  Ref list(PyList_New(0));
  for (size_t i = 0; list && i < scopevm_bound_scope_count(bound); ++i) {
    scopevm_bound_scope_info info = {sizeof info};
    if (!check(scopevm_bound_scope(bound, i, &info))) return nullptr;
    const Ref row(Py_BuildValue("(ssLL)", info.device, info.scope,
                                static_cast<long long>(info.bytes),
                                static_cast<long long>(info.lower_bound_bytes)));
    if (!row || PyList_Append(list.get(), row.get()) != 0) return nullptr;
  }
  return list.release();
}

PyObject* lines_of(const scopevm_bound* bound) {
  Ref list(PyList_New(0));
  for (size_t i = 0; list && i < scopevm_bound_line_count(bound); ++i) {
    scopevm_bound_line_info info = {sizeof info};
    if (!check(scopevm_bound_line(bound, i, &info))) return nullptr;
    const Ref row(Py_BuildValue(
        "(sssOOLLs)", info.device, info.scope, info.what, info.is_result != 0 ? Py_True : Py_False,
        info.depends_on_data != 0 ? Py_True : Py_False, static_cast<long long>(info.bytes),
        static_cast<long long>(info.lower_bound_bytes), info.formula));
    if (!row || PyList_Append(list.get(), row.get()) != 0) return nullptr;
  }
  return list.release();
}

PyObject* definitions_of(const scopevm_bound* bound) {
  Ref list(PyList_New(0));
  for (size_t i = 0; list && i < scopevm_bound_definition_count(bound); ++i) {
    const char* name = nullptr;
    const char* formula = nullptr;
    if (!check(scopevm_bound_definition(bound, i, &name, &formula))) return nullptr;
    const Ref row(Py_BuildValue("(ss)", name, formula));
    if (!row || PyList_Append(list.get(), row.get()) != 0) return nullptr;
  }
  return list.release();
}

}  // namespace

bool NamedNumbers::read(PyObject* pairs, const char* what) {
  const Py_ssize_t count = PySequence_Size(pairs);
  if (count < 0) return false;
  for (Py_ssize_t i = 0; i < count; ++i) {
    Ref pair(PySequence_GetItem(pairs, i));
    if (!pair) return false;
    const char* name = nullptr;
    long long value = 0;
    if (PyTuple_Check(pair.get()) == 0 || PyArg_ParseTuple(pair.get(), "sL", &name, &value) == 0) {
      if (PyErr_Occurred() == nullptr)
        PyErr_Format(PyExc_TypeError, "%s: expected pairs of a name and an integer", what);
      return false;
    }
    names.push_back(name);
    values.push_back(value);
    owners.push_back(std::move(pair));
  }
  return true;
}

PyObject* module_bound(PyObject* self, PyObject* arguments) {
  return guarded([&]() -> PyObject* {
    PyObject* least = nullptr;
    PyObject* most = nullptr;
    int threads = 1;
    if (PyArg_ParseTuple(arguments, "OOi", &least, &most, &threads) == 0) return nullptr;
    NamedNumbers low;
    NamedNumbers high;
    if (!low.read(least, "dimensions") || (most != Py_None && !high.read(most, "dimensions")))
      return nullptr;
    const scopevm_module* const module = reinterpret_cast<ModuleObject*>(self)->module;
    Bound bound;
    scopevm_status* status = nullptr;
    {
      const WithoutGil without;
      status = most == Py_None ? scopevm_bound_create(module, low.names.data(), low.values.data(),
                                                      low.names.size(), threads, &bound.bound)
                               : scopevm_bound_create_largest(
                                     module, low.names.data(), low.values.data(),
                                     high.values.data(), low.names.size(), threads, &bound.bound);
    }
    if (!check(status)) return nullptr;
    const Ref scopes(scopes_of(bound.bound));
    const Ref lines(scopes ? lines_of(bound.bound) : nullptr);
    const Ref definitions(lines ? definitions_of(bound.bound) : nullptr);
    if (!definitions) return nullptr;
    return Py_BuildValue("(sOOO)", scopevm_bound_function(bound.bound), scopes.get(), lines.get(),
                         definitions.get());
  });
}

}  // namespace scopevm::python
