// The extension module scopevm._native: its types, and the functions of the package that it calls.
#include <dlfcn.h>

#include "python/native/native.h"

namespace scopevm::python {
namespace {

// _install(make_error, to_argument, from_tensor, as_array, main_thread); None for no NumPy.
PyObject* install(PyObject*, PyObject* arguments) {
  PyObject* make_error = nullptr;
  PyObject* to_argument = nullptr;
  PyObject* from_tensor = nullptr;
  PyObject* as_array = nullptr;
  unsigned long main_thread = 0;
  if (PyArg_ParseTuple(arguments, "OOOOk", &make_error, &to_argument, &from_tensor, &as_array,
                       &main_thread) == 0)
    return nullptr;
  const auto optional = [](PyObject* object) { return object == Py_None ? nullptr : object; };
  Py_INCREF(make_error);
  Py_INCREF(to_argument);
  Py_INCREF(from_tensor);
  Py_INCREF(as_array);
  hooks() = {make_error, to_argument, optional(from_tensor), optional(as_array), main_thread};
  return Py_NewRef(Py_None);
}

// The file of libscopevm, whose folder can have the compiler's library.
PyObject* library_path(PyObject*, PyObject*) {
  Dl_info info = {};
  if (dladdr(reinterpret_cast<void*>(&scopevm_version), &info) == 0 || info.dli_fname == nullptr)
    return Py_NewRef(Py_None);
  return PyUnicode_DecodeFSDefault(info.dli_fname);
}

// _raise(address of a status): raises its exception and releases it.
PyObject* raise_status(PyObject*, PyObject* address) {
  auto* const status = static_cast<scopevm_status*>(PyLong_AsVoidPtr(address));
  if (PyErr_Occurred() != nullptr || !check(status)) return nullptr;
  return Py_NewRef(Py_None);
}

// _load_external(name): the address of a library of external functions, for the compiler.
PyObject* load_external(PyObject*, PyObject* name) {
  const char* const text = text_of(name);
  const scopevm_external_library* library = nullptr;
  if (text == nullptr || !check(scopevm_external_library_load(text, &library))) return nullptr;
  return PyLong_FromVoidPtr(const_cast<scopevm_external_library*>(library));
}

PyMethodDef kFunctions[] = {{"_install", install, METH_VARARGS, nullptr},
                            {"_library_path", library_path, METH_NOARGS, nullptr},
                            {"_raise", raise_status, METH_O, nullptr},
                            {"_load_external", load_external, METH_O, nullptr},
                            {"_end_calls", end_calls, METH_NOARGS, nullptr},
                            {}};
PyModuleDef kModule = {PyModuleDef_HEAD_INIT, "scopevm._native",
                       "The C API of libscopevm; use the package scopevm.", -1, kFunctions};

}  // namespace

Hooks& hooks() {
  static Hooks hooks = {};
  return hooks;
}

PyTypeObject* add_type(PyObject* module, PyType_Spec& spec) {
  PyObject* const type = PyType_FromSpec(&spec);
  if (type == nullptr || PyModule_AddType(module, reinterpret_cast<PyTypeObject*>(type)) != 0)
    return nullptr;
  return reinterpret_cast<PyTypeObject*>(type);
}

void free_object(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  const auto release = reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free));
  release(self);
  Py_DECREF(type);
}

}  // namespace scopevm::python

// NOLINTNEXTLINE(bugprone-reserved-identifier): the name that Python looks for
PyMODINIT_FUNC PyInit__native() {
  using namespace scopevm::python;  // NOLINT(google-build-using-namespace)
  Ref module(PyModule_Create(&kModule));
  if (!module || !add_tensor(module.get()) || !add_module(module.get()) ||
      !add_scheduler(module.get()) || !add_session(module.get()) || !add_state(module.get()) ||
      !add_call(module.get()) ||
      PyModule_AddStringConstant(module.get(), "version", scopevm_version()) != 0 ||
      PyModule_AddStringConstant(module.get(), "features", scopevm_features()) != 0)
    return nullptr;
  return module.release();
}
