// scopevm._native.State: values that calls carry from one to the next.
#include "python/native/native.h"

namespace scopevm::python {
namespace {

PyTypeObject* g_type = nullptr;

StateObject& of(PyObject* self) { return *reinterpret_cast<StateObject*>(self); }

// Runs a function of the C API, which can wait for other ranks and for calls of other threads.
template <typename Function>
bool without_gil(const Function& function) {
  scopevm_status* status = nullptr;
  {
    const WithoutGil without;
    status = function();
  }
  return check(status);
}

void dealloc(PyObject* self) {
  {
    const WithoutGil without;  // it can hold the last reference to the session
    scopevm_state_free(of(self).state);
  }
  Py_XDECREF(reinterpret_cast<PyObject*>(of(self).session));
  free_object(self);
}

// Takes over the state.
PyObject* adopt(PyTypeObject* type, scopevm_state* state, SessionObject* session) {
  const auto allocate = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc));
  PyObject* const self = allocate(type, 0);
  if (self == nullptr) {
    scopevm_state_free(state);
    return nullptr;
  }
  of(self).state = state;
  of(self).session = session;
  Py_INCREF(reinterpret_cast<PyObject*>(session));
  return self;
}

// The dtype of an input; f32 if there is no such input, of which the library reports an error.
int dtype_of(const SessionObject& session, const char* name) {
  for (const Value& input : *session.module->inputs)
    if (std::string(name) == input.name) return input.dtype;
  return SCOPEVM_F32;
}

PyObject* create(PyTypeObject* type, PyObject* arguments, PyObject*) {
  return guarded([&]() -> PyObject* {
    PyObject* given = nullptr;
    PyObject* pairs = nullptr;
    PyObject* dims = nullptr;
    if (PyArg_ParseTuple(arguments, "O!OO", session_type(), &given, &pairs, &dims) == 0)
      return nullptr;
    auto* const session = reinterpret_cast<SessionObject*>(given);
    const Py_ssize_t count = PySequence_Size(pairs);
    NamedNumbers sizes;
    if (count < 0 || !sizes.read(dims, "dims")) return nullptr;
    const auto initial = std::make_unique<Argument[]>(static_cast<size_t>(count));
    std::vector<Ref> owners;
    std::vector<scopevm_state_pair> ties;
    for (Py_ssize_t i = 0; i < count; ++i) {
      Ref pair(PySequence_GetItem(pairs, i));
      scopevm_state_pair tie = {};
      PyObject* value = nullptr;
      if (!pair || PyArg_ParseTuple(pair.get(), "ssO", &tie.input, &tie.output, &value) == 0)
        return nullptr;
      if (value != Py_None) {
        Argument& argument = initial[static_cast<size_t>(i)];
        if (!read_argument(value, dtype_of(*session, tie.input), tie.input, argument))
          return nullptr;
        tie.initial_tensor = argument.owned();
        if (tie.initial_tensor == nullptr) tie.initial = &argument.tensor;
      }
      ties.push_back(tie);
      owners.push_back(std::move(pair));
    }
    scopevm_state_options options = {sizeof options};
    options.pairs = ties.data();
    options.pair_count = ties.size();
    options.pair_size = sizeof(scopevm_state_pair);
    options.dim_names = sizes.names.data();
    options.dim_values = sizes.values.data();
    options.dim_count = sizes.names.size();
    scopevm_state* state = nullptr;
    if (!without_gil([&] { return scopevm_state_create(session->session, &options, &state); }))
      return nullptr;
    return adopt(type, state, session);
  });
}

PyObject* value(PyObject* self, PyObject* name) {
  const char* const input = text_of(name);
  scopevm_tensor tensor = {};
  if (input == nullptr ||
      !without_gil([&] { return scopevm_state_read(of(self).state, input, &tensor); }))
    return nullptr;
  return make_result(tensor);
}

PyObject* set_value(PyObject* self, PyObject* arguments) {
  return guarded([&]() -> PyObject* {
    const char* input = nullptr;
    PyObject* given = nullptr;
    if (PyArg_ParseTuple(arguments, "sO", &input, &given) == 0) return nullptr;
    Argument argument;
    if (!read_argument(given, dtype_of(*of(self).session, input), input, argument)) return nullptr;
    scopevm_state* const state = of(self).state;
    const bool is_set = without_gil([&] {
      return argument.owned() != nullptr ? scopevm_state_write(state, input, argument.owned())
                                         : scopevm_state_set_value(state, input, &argument.tensor);
    });
    return is_set ? Py_NewRef(Py_None) : nullptr;
  });
}

PyObject* reset(PyObject* self, PyObject*) {
  return without_gil([&] { return scopevm_state_reset(of(self).state); }) ? Py_NewRef(Py_None)
                                                                          : nullptr;
}

PyObject* fork(PyObject* self, PyObject*) {
  scopevm_state* copy = nullptr;
  const bool is_forked = without_gil([&] { return scopevm_state_fork(of(self).state, &copy); });
  return is_forked ? adopt(Py_TYPE(self), copy, of(self).session) : nullptr;
}

PyObject* snapshot(PyObject* self, PyObject*) {
  size_t size = 0;
  if (!without_gil([&] { return scopevm_state_snapshot(of(self).state, nullptr, 0, &size); }))
    return nullptr;
  Ref bytes(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size)));
  char* const data = bytes ? PyBytes_AsString(bytes.get()) : nullptr;
  if (data == nullptr) return nullptr;
  size_t written = 0;
  if (!without_gil([&] { return scopevm_state_snapshot(of(self).state, data, size, &written); }))
    return nullptr;
  if (written != size) return invalid_argument("the state has changed during the snapshot");
  return bytes.release();
}

PyObject* restore(PyObject* self, PyObject* given) {
  Held held;
  if (PyObject_GetBuffer(given, &held.view, PyBUF_SIMPLE) != 0) return nullptr;
  const bool is_restored = without_gil([&] {
    return scopevm_state_restore(of(self).state, held.view.buf, static_cast<size_t>(held.view.len));
  });
  return is_restored ? Py_NewRef(Py_None) : nullptr;
}

PyObject* get_steps(PyObject* self, void*) {
  return PyLong_FromLongLong(scopevm_state_steps(of(self).state));
}

PyObject* get_session(PyObject* self, void*) {
  return Py_NewRef(reinterpret_cast<PyObject*>(of(self).session));
}

PyMethodDef kMethods[] = {
    {"value", value, METH_O, "value(name): a copy of the current value of an input."},
    {"set_value", set_value, METH_VARARGS,
     "set_value(name, value): replaces the current value of an input by a copy."},
    {"reset", reset, METH_NOARGS, "Replaces all values by the initial ones."},
    {"fork", fork, METH_NOARGS, "A new state with the same values."},
    {"snapshot", snapshot, METH_NOARGS, "The values as bytes, for restore()."},
    {"restore", restore, METH_O, "restore(snapshot): replaces the values by those of a snapshot."},
    {}};
PyGetSetDef kMembers[] = {
    {"steps", get_steps, nullptr, "The number of calls that have changed the state.", nullptr},
    {"session", get_session, nullptr, "The session.", nullptr},
    {}};
PyType_Slot kSlots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
                        {Py_tp_new, reinterpret_cast<void*>(create)},
                        {Py_tp_methods, kMethods},
                        {Py_tp_getset, kMembers},
                        {0, nullptr}};
PyType_Spec kSpec = {"scopevm._native.State", sizeof(StateObject), 0,
                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, kSlots};

}  // namespace

PyTypeObject* state_type() { return g_type; }

bool add_state(PyObject* module) { return (g_type = add_type(module, kSpec)) != nullptr; }

}  // namespace scopevm::python
