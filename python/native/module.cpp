// scopevm._native.Module: loading, and the signature as tuples.
#include "python/native/native.h"

namespace scopevm::python {
namespace {

PyTypeObject* g_type = nullptr;

ModuleObject& of(PyObject* self) { return *reinterpret_cast<ModuleObject*>(self); }

void dealloc(PyObject* self) {
  delete of(self).inputs;
  delete of(self).outputs;
  scopevm_module_free(of(self).module);
  free_object(self);
}

using Describe = scopevm_status* (*)(const scopevm_module*, size_t, scopevm_value_info*);

bool read_values(const scopevm_module* module, size_t count, Describe describe,
                 std::vector<Value>& to) {
  for (size_t i = 0; i < count; ++i) {
    scopevm_value_info info = {sizeof info};
    if (!check(describe(module, i, &info))) return false;
    Ref text(PyUnicode_InternFromString(info.name));
    if (!text) return false;
    to.push_back({info.name, std::move(text), info.kind, info.dtype});
  }
  return true;
}

// The keys, signature and weights of a load, which refer to Python objects.
struct LoadArguments {
  scopevm_load_options options = {sizeof options};
  std::vector<const char*> keys;
  Held weights;
  int rank = -1;

  // `of_rank`: negative for all ranks.
  bool read(PyObject* public_keys, const char* signature, const char* folder, PyObject* contents,
            int of_rank) {
    const Py_ssize_t count = PySequence_Size(public_keys);
    if (count < 0) return false;
    for (Py_ssize_t i = 0; i < count; ++i) {
      const Ref key(PySequence_GetItem(public_keys, i));  // the tuple keeps it
      const char* const text = key ? text_of(key.get()) : nullptr;
      if (text == nullptr) return false;
      keys.push_back(text);
    }
    if (contents != Py_None && PyObject_GetBuffer(contents, &weights.view, PyBUF_SIMPLE) != 0)
      return false;
    options.public_keys = keys.data();
    options.public_key_count = keys.size();
    options.signature = signature;
    options.weights_folder = folder;
    options.weights = weights.view.buf;
    options.weights_size = static_cast<size_t>(weights.view.len);
    rank = of_rank;
    if (rank >= 0) options.rank = &rank;
    return true;
  }
};

// Takes over the module.
PyObject* create(PyTypeObject* type, scopevm_module* module) {
  const auto allocate = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc));
  Ref self(allocate(type, 0));
  if (!self) {
    scopevm_module_free(module);
    return nullptr;
  }
  ModuleObject& created = of(self.get());
  created.module = module;
  created.inputs = new std::vector<Value>;
  created.outputs = new std::vector<Value>;
  if (!read_values(module, scopevm_module_input_count(module), scopevm_module_input,
                   *created.inputs) ||
      !read_values(module, scopevm_module_output_count(module), scopevm_module_output,
                   *created.outputs))
    return nullptr;
  return self.release();
}

PyObject* load(PyObject* type, PyObject* arguments) {
  return guarded([&]() -> PyObject* {
    PyObject* path = nullptr;
    PyObject* keys = nullptr;
    const char* signature = nullptr;
    const char* folder = nullptr;
    PyObject* contents = nullptr;
    int rank = -1;
    if (PyArg_ParseTuple(arguments, "O&O!zzOi", PyUnicode_FSConverter, &path, &PyTuple_Type, &keys,
                         &signature, &folder, &contents, &rank) == 0)
      return nullptr;
    const Ref owner(path);
    LoadArguments load;
    if (!load.read(keys, signature, folder, contents, rank)) return nullptr;
    const char* const file = PyBytes_AsString(path);
    scopevm_module* module = nullptr;
    scopevm_status* status = nullptr;
    {
      const WithoutGil without;
      status = scopevm_module_load(file, &load.options, &module);
    }
    return check(status) ? create(reinterpret_cast<PyTypeObject*>(type), module) : nullptr;
  });
}

// Releases a buffer on any thread.
void release_view(void* context) {
  // At the end of the process, no thread can take the GIL, and the memory needs no release.
  if (Py_IsInitialized() == 0) return;
  const PyGILState_STATE state = PyGILState_Ensure();
  delete static_cast<Held*>(context);
  PyGILState_Release(state);
}

PyObject* from_buffer(PyObject* type, PyObject* arguments) {
  return guarded([&]() -> PyObject* {
    PyObject* buffer = nullptr;
    int may_share = 0;
    PyObject* keys = nullptr;
    const char* signature = nullptr;
    const char* folder = nullptr;
    PyObject* contents = nullptr;
    int rank = -1;
    if (PyArg_ParseTuple(arguments, "OpO!zzOi", &buffer, &may_share, &PyTuple_Type, &keys,
                         &signature, &folder, &contents, &rank) == 0)
      return nullptr;
    auto held = std::make_unique<Held>();
    if (PyObject_GetBuffer(buffer, &held->view, PyBUF_SIMPLE) != 0) return nullptr;
    LoadArguments load;
    if (!load.read(keys, signature, folder, contents, rank)) return nullptr;
    const void* const bytes = held->view.buf;
    const auto size = static_cast<size_t>(held->view.len);
    // The weights are copied with the module, because only one buffer has a release function.
    const bool is_shared =
        may_share != 0 && contents == Py_None && reinterpret_cast<uintptr_t>(bytes) % 64 == 0;
    scopevm_module* module = nullptr;
    scopevm_status* status = nullptr;
    {
      const WithoutGil without;
      status = is_shared ? scopevm_module_load_memory(bytes, size, release_view, held.get(),
                                                      &load.options, &module)
                         : scopevm_module_load_bytes(bytes, size, &load.options, &module);
    }
    if (!check(status)) return nullptr;
    if (is_shared) (void)held.release();
    return create(reinterpret_cast<PyTypeObject*>(type), module);
  });
}

PyObject* describe_values(const scopevm_module* module, size_t count, Describe describe) {
  Ref list(PyList_New(0));
  for (size_t i = 0; list && i < count; ++i) {
    scopevm_value_info info = {sizeof info};
    if (!check(describe(module, i, &info))) return nullptr;
    Ref dims(PyTuple_New(static_cast<Py_ssize_t>(info.rank)));
    for (size_t axis = 0; dims && axis < info.rank; ++axis)
      if (PyTuple_SetItem(dims.get(), static_cast<Py_ssize_t>(axis),
                          PyUnicode_FromString(info.dims[axis])) != 0)
        return nullptr;
    if (!dims) return nullptr;
    const Ref row(Py_BuildValue("(sisOOL)", info.name, info.kind, scopevm_dtype_name(info.dtype),
                                dims.get(), info.has_default != 0 ? Py_True : Py_False,
                                static_cast<long long>(info.state_output)));
    if (!row || PyList_Append(list.get(), row.get()) != 0) return nullptr;
  }
  return list.release();
}

PyObject* inputs(PyObject* self, PyObject*) {
  const scopevm_module* const module = of(self).module;
  return describe_values(module, scopevm_module_input_count(module), scopevm_module_input);
}

PyObject* outputs(PyObject* self, PyObject*) {
  const scopevm_module* const module = of(self).module;
  return describe_values(module, scopevm_module_output_count(module), scopevm_module_output);
}

PyObject* dimensions(PyObject* self, PyObject*) {
  const scopevm_module* const module = of(self).module;
  Ref list(PyList_New(0));
  for (size_t i = 0; list && i < scopevm_module_dimension_count(module); ++i) {
    scopevm_dimension_info info = {sizeof info};
    if (!check(scopevm_module_dimension(module, i, &info))) return nullptr;
    const Ref row(Py_BuildValue(
        "(sLLLO)", info.name, static_cast<long long>(info.min), static_cast<long long>(info.max),
        static_cast<long long>(info.multiple_of), info.is_batch != 0 ? Py_True : Py_False));
    if (!row || PyList_Append(list.get(), row.get()) != 0) return nullptr;
  }
  return list.release();
}

PyObject* scopes(PyObject* self, PyObject*) {
  const scopevm_module* const module = of(self).module;
  Ref list(PyList_New(0));
  for (size_t i = 0; list && i < scopevm_module_scope_count(module); ++i) {
    const Ref row(Py_BuildValue("(ss)", scopevm_module_scope_device(module, i),
                                scopevm_module_scope_name(module, i)));
    if (!row || PyList_Append(list.get(), row.get()) != 0) return nullptr;
  }
  return list.release();
}

PyMethodDef kMethods[] = {{"_load", load, METH_VARARGS | METH_CLASS, nullptr},
                          {"_from_buffer", from_buffer, METH_VARARGS | METH_CLASS, nullptr},
                          {"_inputs", inputs, METH_NOARGS, nullptr},
                          {"_outputs", outputs, METH_NOARGS, nullptr},
                          {"_dimensions", dimensions, METH_NOARGS, nullptr},
                          {"_scopes", scopes, METH_NOARGS, nullptr},
                          {"_bound", module_bound, METH_VARARGS, nullptr},
                          {}};
PyType_Slot kSlots[] = {
    {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)}, {Py_tp_methods, kMethods}, {0, nullptr}};
PyType_Spec kSpec = {"scopevm._native.Module", sizeof(ModuleObject), 0,
                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                     kSlots};

}  // namespace

PyTypeObject* module_type() { return g_type; }

bool add_module(PyObject* module) { return (g_type = add_type(module, kSpec)) != nullptr; }

}  // namespace scopevm::python
