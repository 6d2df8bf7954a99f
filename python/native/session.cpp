// scopevm._native.Session: a module bound to devices, allocators and threads, and its idle calls.
#include "python/native/native.h"

namespace scopevm::python {
namespace {

PyTypeObject* g_type = nullptr;

SessionObject& of(PyObject* self) { return *reinterpret_cast<SessionObject*>(self); }

void dealloc(PyObject* self) {
  SessionObject& session = of(self);
  {
    // The last handle of a scheduler joins its workers, which can need the GIL.
    const WithoutGil without;
    if (session.idle != nullptr)
      for (CallSlot* slot : *session.idle) scopevm_call_free(std::exchange(slot->call, nullptr));
    scopevm_session_free(session.session);
  }
  if (session.idle != nullptr)
    for (CallSlot* slot : *session.idle) delete slot;
  delete session.idle;
  Py_XDECREF(reinterpret_cast<PyObject*>(session.module));
  Py_XDECREF(session.scheduler);
  Py_XDECREF(session.results);
  free_object(self);
}

// The options of a session, which refer to Python objects.
struct Options {
  scopevm_session_options options = {sizeof options};
  NamedNumbers limit_pairs;
  std::vector<scopevm_memory_limit> limits;
  std::vector<scopevm_device_binding> devices;
  std::vector<scopevm_named_allocator> allocators;
  std::vector<const scopevm_external_library*> libraries;
  std::vector<Ref> owners;

  bool read(PyObject* given_limits, PyObject* given_devices, PyObject* given_allocators,
            PyObject* given_libraries) {
    if (!limit_pairs.read(given_limits, "limits")) return false;
    for (size_t i = 0; i < limit_pairs.names.size(); ++i)
      limits.push_back({limit_pairs.names[i], limit_pairs.values[i]});
    const bool is_read = each(given_devices,
                              [&](PyObject* item) {
                                scopevm_device_binding binding = {};
                                if (PyArg_ParseTuple(item, "ssi", &binding.device, &binding.kind,
                                                     &binding.number) == 0)
                                  return false;
                                devices.push_back(binding);
                                return true;
                              }) &&
                         each(given_allocators,
                              [&](PyObject* item) {
                                scopevm_named_allocator named = {};
                                if (PyArg_ParseTuple(item, "ss", &named.scope, &named.text) == 0)
                                  return false;
                                allocators.push_back(named);
                                return true;
                              }) &&
                         each(given_libraries, [&](PyObject* item) {
                           const char* name = nullptr;
                           const scopevm_external_library* library = nullptr;
                           if (PyArg_ParseTuple(item, "s", &name) == 0 ||
                               !check(scopevm_external_library_load(name, &library)))
                             return false;
                           libraries.push_back(library);
                           return true;
                         });
    if (!is_read) return false;
    options.limits = limits.data();
    options.limit_count = limits.size();
    options.limit_size = sizeof(scopevm_memory_limit);
    options.devices = devices.data();
    options.device_count = devices.size();
    options.device_size = sizeof(scopevm_device_binding);
    options.named_allocators = allocators.data();
    options.named_allocator_count = allocators.size();
    options.named_allocator_size = sizeof(scopevm_named_allocator);
    options.external_libraries = libraries.data();
    options.external_library_count = libraries.size();
    return true;
  }

 private:
  // Calls `read` with each tuple of a list.
  template <typename Read>
  bool each(PyObject* list, const Read& read) {
    const Py_ssize_t count = PySequence_Size(list);
    for (Py_ssize_t i = 0; i < count; ++i) {
      Ref item(PySequence_GetItem(list, i));
      if (!item || !read(item.get())) return false;
      owners.push_back(std::move(item));
    }
    return count >= 0;
  }
};

PyObject* create(PyTypeObject* type, PyObject* arguments, PyObject*) {
  return guarded([&]() -> PyObject* {
    PyObject* module = nullptr;
    PyObject* scheduler = nullptr;
    PyObject* results = nullptr;
    PyObject* limits = nullptr;
    PyObject* devices = nullptr;
    PyObject* allocators = nullptr;
    PyObject* libraries = nullptr;
    const char* transport = nullptr;
    Options read;
    if (PyArg_ParseTuple(arguments, "O!OOiOOOOpz", module_type(), &module, &scheduler, &results,
                         &read.options.threads, &limits, &devices, &allocators, &libraries,
                         &read.options.emulate, &transport) == 0)
      return nullptr;
    if (scheduler != Py_None && PyObject_TypeCheck(scheduler, scheduler_type()) == 0) {
      PyErr_SetString(PyExc_TypeError, "scheduler: expected a scopevm.Scheduler");
      return nullptr;
    }
    if (!read.read(limits, devices, allocators, libraries)) return nullptr;
    if (transport != nullptr && !check(scopevm_transport_load(transport, &read.options.transport)))
      return nullptr;
    if (scheduler != Py_None)
      read.options.scheduler = reinterpret_cast<SchedulerObject*>(scheduler)->scheduler;
    const auto allocate = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc));
    Ref self(allocate(type, 0));
    if (!self) return nullptr;
    SessionObject& session = of(self.get());
    const scopevm_module* const handle = reinterpret_cast<ModuleObject*>(module)->module;
    scopevm_status* status = nullptr;
    {
      const WithoutGil without;
      status = scopevm_session_create(handle, &read.options, &session.session);
    }
    if (!check(status)) return nullptr;
    session.idle = new std::vector<CallSlot*>;
    session.module = reinterpret_cast<ModuleObject*>(Py_NewRef(module));
    session.scheduler = scheduler == Py_None ? nullptr : Py_NewRef(scheduler);
    session.results = Py_NewRef(results);
    session.rank = read.options.transport == nullptr ? 0 : read.options.transport->rank;
    return self.release();
  });
}

PyObject* memory(PyObject* self, PyObject*) {
  const scopevm_module* const module = of(self).module->module;
  Ref list(PyList_New(0));
  for (size_t i = 0; list && i < scopevm_module_scope_count(module); ++i) {
    scopevm_allocator_stats stats = {sizeof stats};
    if (!check(scopevm_session_memory_stats(of(self).session, i, &stats))) return nullptr;
    const Ref row(Py_BuildValue(
        "(ssLLLLL)", scopevm_module_scope_device(module, i), scopevm_module_scope_name(module, i),
        static_cast<long long>(stats.live_bytes), static_cast<long long>(stats.peak_bytes),
        static_cast<long long>(stats.cached_bytes), static_cast<long long>(stats.reserved_bytes),
        static_cast<long long>(stats.allocations)));
    if (!row || PyList_Append(list.get(), row.get()) != 0) return nullptr;
  }
  return list.release();
}

PyObject* trim(PyObject* self, PyObject*) {
  {
    const WithoutGil without;
    scopevm_session_trim(of(self).session);
  }
  return Py_NewRef(Py_None);
}

PyObject* warm_up(PyObject* self, PyObject* pairs) {
  return guarded([&]() -> PyObject* {
    NamedNumbers dims;
    if (!dims.read(pairs, "dims")) return nullptr;
    scopevm_status* status = nullptr;
    {
      const WithoutGil without;
      status = scopevm_session_warm_up(of(self).session, dims.names.data(), dims.values.data(),
                                       dims.names.size(), nullptr);
    }
    return check(status) ? Py_NewRef(Py_None) : nullptr;
  });
}

PyObject* reserve(PyObject* self, PyObject* arguments) {
  return guarded([&]() -> PyObject* {
    PyObject* least = nullptr;
    PyObject* most = nullptr;
    int calls = 1;
    NamedNumbers low;
    NamedNumbers high;
    if (PyArg_ParseTuple(arguments, "OOi", &least, &most, &calls) == 0 ||
        !low.read(least, "dims") || !high.read(most, "dims"))
      return nullptr;
    scopevm_status* status = nullptr;
    {
      const WithoutGil without;
      status = scopevm_session_reserve(of(self).session, low.names.data(), low.values.data(),
                                       high.values.data(), low.names.size(), calls);
    }
    return check(status) ? Py_NewRef(Py_None) : nullptr;
  });
}

PyObject* metrics(PyObject* self, PyObject* name) {
  const char* const model = text_of(name);
  if (model == nullptr) return nullptr;
  const scopevm_metrics_source source = {model, of(self).session};
  scopevm_metrics* metrics = nullptr;
  if (!check(scopevm_metrics_read(&source, 1, sizeof source, &metrics))) return nullptr;
  PyObject* const text = PyUnicode_FromString(scopevm_metrics_text(metrics));
  scopevm_metrics_free(metrics);
  return text;
}

PyObject* follow(PyObject* self, PyObject*) {
  scopevm_status* status = nullptr;
  {
    const WithoutGil without;
    status = scopevm_session_follow(of(self).session, nullptr);
  }
  return check(status) ? Py_NewRef(Py_None) : nullptr;
}

PyObject* get_module(PyObject* self, void*) {
  return Py_NewRef(reinterpret_cast<PyObject*>(of(self).module));
}

PyObject* get_scheduler(PyObject* self, void*) {
  return Py_NewRef(of(self).scheduler == nullptr ? Py_None : of(self).scheduler);
}

PyObject* get_threads(PyObject* self, void*) {
  return PyLong_FromLong(scopevm_session_threads(of(self).session));
}

PyObject* get_rank(PyObject* self, void*) { return PyLong_FromLong(of(self).rank); }

PyMethodDef kMethods[] = {
    {"follow", follow, METH_NOARGS,
     "Computes the parts of another rank than 0, until rank 0 has released its session."},
    {"_memory", memory, METH_NOARGS, nullptr},
    {"_warm_up", warm_up, METH_O, nullptr},
    {"_reserve", reserve, METH_VARARGS, nullptr},
    {"_metrics", metrics, METH_O, nullptr},
    {"trim", trim, METH_NOARGS, "Returns cached memory to the operating system and the devices."},
    {}};
PyGetSetDef kMembers[] = {
    {"module", get_module, nullptr, "The module.", nullptr},
    {"scheduler", get_scheduler, nullptr, "The scheduler, or None.", nullptr},
    {"rank", get_rank, nullptr, "The number of this process in its job; 0 without one.", nullptr},
    {"threads", get_threads, nullptr, "The number of threads of parallel loops.", nullptr},
    {}};
PyType_Slot kSlots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
                        {Py_tp_new, reinterpret_cast<void*>(create)},
                        {Py_tp_call, reinterpret_cast<void*>(call_session)},
                        {Py_tp_methods, kMethods},
                        {Py_tp_getset, kMembers},
                        {0, nullptr}};
PyType_Spec kSpec = {"scopevm._native.Session", sizeof(SessionObject), 0,
                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, kSlots};

}  // namespace

PyTypeObject* session_type() { return g_type; }

bool add_session(PyObject* module) { return (g_type = add_type(module, kSpec)) != nullptr; }

}  // namespace scopevm::python
