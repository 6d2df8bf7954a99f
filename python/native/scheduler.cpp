// scopevm._native.Scheduler: workers and the memory that sessions share.
#include "python/native/native.h"

namespace scopevm::python {
namespace {

PyTypeObject* g_type = nullptr;

SchedulerObject& of(PyObject* self) { return *reinterpret_cast<SchedulerObject*>(self); }

void dealloc(PyObject* self) {
  {
    // The last handle joins the workers, which can need the GIL for their last calls.
    const WithoutGil without;
    scopevm_scheduler_free(of(self).scheduler);
  }
  free_object(self);
}

bool read_cpus(PyObject* given, std::vector<int>& cpus) {
  const Py_ssize_t count = PySequence_Size(given);
  if (count < 0) return false;
  for (Py_ssize_t i = 0; i < count; ++i) {
    const Ref item(PySequence_GetItem(given, i));
    const long cpu = item ? PyLong_AsLong(item.get()) : -1;
    if (PyErr_Occurred() != nullptr) return false;
    cpus.push_back(static_cast<int>(cpu));
  }
  return true;
}

PyObject* create(PyTypeObject* type, PyObject* arguments, PyObject*) {
  return guarded([&]() -> PyObject* {
    scopevm_scheduler_options options = {sizeof options};
    PyObject* capacities = nullptr;
    PyObject* cpus = nullptr;
    Py_ssize_t waiting = 0;
    Py_ssize_t suspended = 0;
    long long ageing = 0;
    long long spin = 0;
    if (PyArg_ParseTuple(arguments, "iOniLnOL", &options.workers, &capacities, &waiting,
                         &options.max_bypass, &ageing, &suspended, &cpus, &spin) == 0)
      return nullptr;
    NamedNumbers pools;
    std::vector<int> numbers;
    if (!pools.read(capacities, "capacities") || !read_cpus(cpus, numbers)) return nullptr;
    std::vector<scopevm_pool_capacity> sizes;
    for (size_t i = 0; i < pools.names.size(); ++i)
      sizes.push_back({pools.names[i], pools.values[i]});
    if (waiting < 0 || suspended < 0)
      return invalid_argument("max_waiting and max_suspended must be at least 0");
    options.capacities = sizes.data();
    options.capacity_count = sizes.size();
    options.capacity_size = sizeof(scopevm_pool_capacity);
    options.max_waiting = static_cast<size_t>(waiting);
    options.max_suspended = static_cast<size_t>(suspended);
    options.ageing_ns = ageing;
    options.spin_ns = spin;
    options.cpus = numbers.data();
    options.cpu_count = numbers.size();
    const auto allocate = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc));
    Ref self(allocate(type, 0));
    if (!self || !check(scopevm_scheduler_create(&options, &of(self.get()).scheduler)))
      return nullptr;
    return self.release();
  });
}

PyObject* stats(PyObject* self, PyObject*) {
  scopevm_scheduler_stats stats = {sizeof stats};
  if (!check(scopevm_scheduler_read_stats(of(self).scheduler, &stats))) return nullptr;
  Ref pools(PyList_New(0));
  for (size_t i = 0; pools && i < stats.pool_count; ++i) {
    scopevm_pool_use use = {sizeof use};
    if (!check(scopevm_scheduler_pool_use(of(self).scheduler, i, &use))) return nullptr;
    const Ref row(Py_BuildValue("(sLLL)", use.pool, static_cast<long long>(use.capacity_bytes),
                                static_cast<long long>(use.reserved_bytes),
                                static_cast<long long>(use.held_bytes)));
    if (!row || PyList_Append(pools.get(), row.get()) != 0) return nullptr;
  }
  if (!pools) return nullptr;
  return Py_BuildValue("(innnO)", scopevm_scheduler_workers(of(self).scheduler),
                       static_cast<Py_ssize_t>(stats.waiting), static_cast<Py_ssize_t>(stats.ready),
                       static_cast<Py_ssize_t>(stats.running), pools.get());
}

PyMethodDef kMethods[] = {{"_stats", stats, METH_NOARGS, nullptr}, {}};
PyType_Slot kSlots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
                        {Py_tp_new, reinterpret_cast<void*>(create)},
                        {Py_tp_methods, kMethods},
                        {0, nullptr}};
PyType_Spec kSpec = {"scopevm._native.Scheduler", sizeof(SchedulerObject), 0,
                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, kSlots};

}  // namespace

PyTypeObject* scheduler_type() { return g_type; }

bool add_scheduler(PyObject* module) { return (g_type = add_type(module, kSpec)) != nullptr; }

}  // namespace scopevm::python
