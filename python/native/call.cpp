// scopevm._native.Call: one request that any thread can cancel, and that a scheduler can run.
#include <unordered_set>

#include "python/native/native.h"

namespace scopevm::python {
namespace {

struct CallObject {
  PyObject_HEAD CallSlot* slot;
  SessionObject* session;
  PyObject* done;              // called at the end of a submission, or null
  PyObject* result;            // of the last run; or null
  int64_t copied_input_bytes;  // of the last run
};

PyTypeObject* g_type = nullptr;
// The calls in flight, each with a reference, until `done` has returned. `done` can submit the call
// again, so that it can be contained twice. Guarded by the GIL, like g_has_ended.
std::unordered_multiset<CallObject*>* g_in_flight = nullptr;
bool g_has_ended = false;

CallObject& of(PyObject* self) { return *reinterpret_cast<CallObject*>(self); }

void dealloc(PyObject* self) {
  CallObject& call = of(self);
  if (call.slot != nullptr) {
    {
      // It waits until the function at the end of a submission, which uses the GIL, has returned.
      const WithoutGil without;
      scopevm_call_free(std::exchange(call.slot->call, nullptr));
    }
    delete call.slot;
  }
  Py_XDECREF(call.done);
  Py_XDECREF(call.result);
  Py_XDECREF(reinterpret_cast<PyObject*>(call.session));
  free_object(self);
}

PyObject* create(PyTypeObject* type, PyObject* arguments, PyObject*) {
  return guarded([&]() -> PyObject* {
    PyObject* session = nullptr;
    if (PyArg_ParseTuple(arguments, "O!", session_type(), &session) == 0) return nullptr;
    const auto allocate = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc));
    Ref self(allocate(type, 0));
    if (!self) return nullptr;
    CallObject& call = of(self.get());
    call.slot = new CallSlot;
    call.session = reinterpret_cast<SessionObject*>(Py_NewRef(session));
    if (!check(scopevm_call_create(call.session->session, &call.slot->call))) return nullptr;
    return self.release();
  });
}

bool begin(CallObject& call) {
  if (call.slot->is_busy) {
    invalid_argument("the call is in use: it can run again when it has ended");
    return false;
  }
  call.slot->is_busy = true;
  Py_CLEAR(call.result);
  return true;
}

// Ends a run: keeps its results, and releases what it uses. Keeps a Python error.
void end(CallObject& call, bool has_results) {
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  if (has_results) call.result = results_of(call.session, *call.slot);
  PyErr_Fetch(&type, &value, &trace);
  scopevm_call_stats stats = {sizeof stats};
  scopevm_status_free(scopevm_call_read_stats(call.slot->call, &stats));
  call.copied_input_bytes = stats.copied_input_bytes;  // reset() clears it
  call.slot->reset();
  call.slot->is_busy = false;
  PyErr_Restore(type, value, trace);
}

PyObject* run_now(PyObject* self, PyObject* args, PyObject* named) {
  return guarded([&]() -> PyObject* {
    CallObject& call = of(self);
    if (!begin(call)) return nullptr;
    RunArguments arguments;
    const bool has_run =
        bind(call.session, *call.slot, args, named, arguments) && run(*call.slot, arguments);
    end(call, has_run);
    return Py_XNewRef(has_run ? call.result : nullptr);
  });
}

// On a worker, when a submitted call has ended.
void finish(void* context, const scopevm_status* result) {
  const PyGILState_STATE state = PyGILState_Ensure();
  auto* const call = static_cast<CallObject*>(context);
  end(*call, result == nullptr);
  if (PyErr_Occurred() != nullptr) PyErr_WriteUnraisable(reinterpret_cast<PyObject*>(call));
  {
    const Ref done(std::exchange(call->done, nullptr));
    const Ref returned(done ? PyObject_CallFunctionObjArgs(done.get(), call, nullptr)
                            : Py_NewRef(Py_None));
    if (!returned) PyErr_WriteUnraisable(done.get());
  }
  g_in_flight->erase(g_in_flight->find(call));
  Py_DECREF(reinterpret_cast<PyObject*>(call));
  PyGILState_Release(state);
}

PyObject* submit(PyObject* self, PyObject* args, PyObject* named) {
  return guarded([&]() -> PyObject* {
    CallObject& call = of(self);
    if (g_has_ended) return invalid_argument("the interpreter ends: no call can be submitted");
    if (!begin(call)) return nullptr;
    RunArguments arguments;
    arguments.is_submission = true;
    if (!bind(call.session, *call.slot, args, named, arguments)) {
      end(call, false);
      return nullptr;
    }
    std::vector<scopevm_memory_limit> budgets;
    for (size_t i = 0; i < arguments.budget.names.size(); ++i)
      budgets.push_back({arguments.budget.names[i], arguments.budget.values[i]});
    scopevm_run_options options = {sizeof options};
    options.timeout_ns = arguments.timeout_ns;
    options.request_id = arguments.request_id;
    scopevm_submit_options given = {sizeof given};
    given.run = &options;
    const long priority = arguments.priority;  // the library checks the range
    given.priority = static_cast<int>(priority < -2000 ? -2000 : priority > 2000 ? 2000 : priority);
    given.data_budgets = budgets.data();
    given.data_budget_count = budgets.size();
    given.data_budget_size = sizeof(scopevm_memory_limit);
    call.done = arguments.done.release();
    g_in_flight->insert(&call);
    Py_INCREF(self);  // for finish()
    scopevm_status* status = nullptr;
    {
      const WithoutGil without;
      status = scopevm_call_submit(call.slot->call, &given, finish, &call);
    }
    if (status == nullptr) return Py_NewRef(self);
    Py_DECREF(self);
    g_in_flight->erase(g_in_flight->find(&call));
    Py_CLEAR(call.done);
    check(status);
    end(call, false);
    return nullptr;
  });
}

// Waits in short steps on the main thread, so that Python's handlers of signals run.
bool wait_for(const CallObject& call, double seconds) {
  constexpr int64_t kStepNs = 50'000'000;
  int64_t left = seconds < 0 ? -1 : seconds > 9e9 ? -1 : static_cast<int64_t>(seconds * 1e9);
  const bool is_main = PyThread_get_thread_ident() == hooks().main_thread;
  while (true) {
    const int64_t step = is_main && (left < 0 || left > kStepNs) ? kStepNs : left;
    scopevm_status* status = nullptr;
    {
      const WithoutGil without;
      status = scopevm_call_wait(call.slot->call, step);
    }
    const bool is_waiting = scopevm_status_code(status) == SCOPEVM_DEADLINE_EXCEEDED &&
                            scopevm_call_is_in_flight(call.slot->call) != 0;
    if (!is_waiting || step == left) return check(status);
    scopevm_status_free(status);
    if (PyErr_CheckSignals() != 0) return false;
    if (left > 0) left -= step;
  }
}

PyObject* wait(PyObject* self, PyObject* args, PyObject* named) {
  static const char* const kNames[] = {"timeout", nullptr};
  PyObject* timeout = Py_None;
  if (PyArg_ParseTupleAndKeywords(args, named, "|O", const_cast<char**>(kNames), &timeout) == 0)
    return nullptr;
  const double seconds = timeout == Py_None ? -1 : PyFloat_AsDouble(timeout);
  if (PyErr_Occurred() != nullptr) return nullptr;
  const CallObject& call = of(self);
  const double positive = timeout == Py_None ? -1 : seconds > 0 ? seconds : 0;
  if (!wait_for(call, positive)) return nullptr;
  if (call.result == nullptr) return invalid_argument("the call has no results: it has not run");
  return Py_NewRef(call.result);
}

PyObject* cancel(PyObject* self, PyObject*) {
  scopevm_call_cancel(of(self).slot->call);
  return Py_NewRef(Py_None);
}

PyObject* memory_of(const scopevm_call* call, size_t count) {
  Ref list(PyList_New(0));
  for (size_t i = 0; list && i < count; ++i) {
    scopevm_memory_use use = {sizeof use};
    if (!check(scopevm_call_memory_use(call, i, &use))) return nullptr;
    const Ref row(Py_BuildValue(
        "(ssLLLL)", use.device, use.scope, static_cast<long long>(use.bound_bytes),
        static_cast<long long>(use.lower_bound_bytes), static_cast<long long>(use.peak_bytes),
        static_cast<long long>(use.allocations)));
    if (!row || PyList_Append(list.get(), row.get()) != 0) return nullptr;
  }
  return list.release();
}

PyObject* copies_of(const scopevm_call* call, size_t count) {
  Ref list(PyList_New(0));
  for (size_t i = 0; list && i < count; ++i) {
    scopevm_copy_use use = {sizeof use};
    if (!check(scopevm_call_copy_use(call, i, &use))) return nullptr;
    const Ref row(Py_BuildValue("(ssssLL)", use.from_device, use.from_scope, use.to_device,
                                use.to_scope, static_cast<long long>(use.copies),
                                static_cast<long long>(use.bytes)));
    if (!row || PyList_Append(list.get(), row.get()) != 0) return nullptr;
  }
  return list.release();
}

PyObject* stats(PyObject* self, PyObject*) {
  const CallObject& call = of(self);
  if (call.slot->is_busy) return invalid_argument("the call has not ended");
  scopevm_call_stats stats = {sizeof stats};
  if (!check(scopevm_call_read_stats(call.slot->call, &stats))) return nullptr;
  const Ref memory(memory_of(call.slot->call, stats.memory_count));
  const Ref copies(memory ? copies_of(call.slot->call, stats.copy_count) : nullptr);
  if (!copies) return nullptr;
  return Py_BuildValue("(LsdLOO)", static_cast<long long>(stats.latency_ns), stats.function,
                       stats.emulated_seconds, static_cast<long long>(call.copied_input_bytes),
                       memory.get(), copies.get());
}

PyObject* get_in_flight(PyObject* self, void*) { return PyBool_FromLong(of(self).slot->is_busy); }

PyObject* get_session(PyObject* self, void*) {
  return Py_NewRef(reinterpret_cast<PyObject*>(of(self).session));
}

PyCFunction with_names(PyObject* (*function)(PyObject*, PyObject*, PyObject*)) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

PyMethodDef kMethods[] = {
    {"run", with_names(run_now), METH_VARARGS | METH_KEYWORDS,
     "Runs the call on this thread, with the arguments of a session's call."},
    {"submit", with_names(submit), METH_VARARGS | METH_KEYWORDS,
     "Queues the call in the scheduler, with the arguments of Session.submit()."},
    {"wait", with_names(wait), METH_VARARGS | METH_KEYWORDS,
     "Waits for the end of a submitted call, and returns its results. Raises the error of the "
     "call, "
     "or DeadlineExceeded if it has not ended after `timeout` seconds."},
    {"cancel", cancel, METH_NOARGS,
     "Cancels the run in progress or the submitted one, or else the next one. Any thread can call "
     "this method."},
    {"_stats", stats, METH_NOARGS, nullptr},
    {}};
PyGetSetDef kMembers[] = {
    {"is_in_flight", get_in_flight, nullptr, "Whether a run is in progress or submitted.", nullptr},
    {"session", get_session, nullptr, "The session.", nullptr},
    {}};
PyType_Slot kSlots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
                        {Py_tp_new, reinterpret_cast<void*>(create)},
                        {Py_tp_methods, kMethods},
                        {Py_tp_getset, kMembers},
                        {0, nullptr}};
PyType_Spec kSpec = {"scopevm._native.Call", sizeof(CallObject), 0,
                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, kSlots};

}  // namespace

bool add_call(PyObject* module) {
  if (g_in_flight == nullptr) g_in_flight = new std::unordered_multiset<CallObject*>;
  return (g_type = add_type(module, kSpec)) != nullptr;
}

PyObject* end_calls(PyObject*, PyObject*) {
  g_has_ended = true;
  // The cancellation of a call that waits for a worker can call finish(), which changes the set.
  std::vector<Ref> calls;
  for (CallObject* call : *g_in_flight)
    calls.push_back(Ref::borrowed(reinterpret_cast<PyObject*>(call)));
  for (const Ref& call : calls) scopevm_call_cancel(of(call.get()).slot->call);
  while (!g_in_flight->empty()) {
    CallObject* const call = *g_in_flight->begin();
    const Ref owner(Py_NewRef(reinterpret_cast<PyObject*>(call)));
    const WithoutGil without;
    scopevm_status_free(scopevm_call_wait(call->slot->call, -1));
  }
  return Py_NewRef(Py_None);
}

}  // namespace scopevm::python
