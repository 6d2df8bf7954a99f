// Kernels and shape functions of the modules in test_modules.h, with the ABI of kernel_abi.h.
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

// Replaced by seal() of test_modules.h.
const uint64_t scopevm_launch_checksum = 0x5ea1ed5ea1ed5ea1;

// out = a + b. Buffers: a, b, out. Grid: elements.
void test_add(void* const* buffers, const int64_t* params, int64_t begin, int64_t end,
              int64_t worker, int64_t first) {
  (void)params;
  (void)worker;
  (void)first;
  const float* a = buffers[0];
  const float* b = buffers[1];
  float* out = buffers[2];
  for (int64_t i = begin; i < end; ++i) out[i] = a[i] + b[i];
}

// out = a * factor[0]. Buffers: a, factor, out. Grid: elements.
void test_scale(void* const* buffers, const int64_t* params, int64_t begin, int64_t end,
                int64_t worker, int64_t first) {
  (void)params;
  (void)worker;
  (void)first;
  const float* a = buffers[0];
  const float* factor = buffers[1];
  float* out = buffers[2];
  for (int64_t i = begin; i < end; ++i) out[i] = a[i] * factor[0];
}

// Set by the loader.
bool (*scopevm_stop_check)(void) = NULL;

// Each item waits until the monotonic clock has reached until[0] nanoseconds, and adds 1 to its
// element of out. The kernel can stop after each item. Buffers: until, out (bytes). Grid: elements.
void test_wait(void* const* buffers, const int64_t* params, int64_t begin, int64_t end,
               int64_t worker, int64_t first) {
  (void)params;
  (void)worker;
  (void)first;
  const int64_t* until = buffers[0];
  uint8_t* out = buffers[1];
  for (int64_t i = begin; i < end; ++i) {
    struct timespec now;
    do clock_gettime(CLOCK_MONOTONIC, &now);
    while (now.tv_sec * 1000000000 + now.tv_nsec < until[0]);
    ++out[i];
    if (scopevm_stop_check != NULL && scopevm_stop_check()) return;
  }
}

void test_nothing(void* const* buffers, const int64_t* params, int64_t begin, int64_t end,
                  int64_t worker, int64_t first) {
  (void)buffers;
  (void)params;
  (void)begin;
  (void)end;
  (void)worker;
  (void)first;
}

// Dims: x [n, 4], y [n, 4], threads.
// Slots: 0: bytes of a tensor; 1: bytes of the workspace; 2: elements of a tensor; 3: n of x;
// 4: n of y; 5: lower bound of the workspace.
// Checks: 0: n is equal for x and y; 1: n is at most 1000.
int64_t test_sum_shapes(const int64_t* dims, int64_t* slots) {
  slots[3] = dims[0];
  slots[4] = dims[2];
  if (dims[0] != dims[2]) return 0;
  if (dims[0] > 1000) return 1;
  slots[0] = dims[0] * 16;
  slots[1] = dims[0] * 16 + 64 * dims[4];
  slots[2] = dims[0] * 4;
  slots[5] = dims[0] * 16;
  return -1;
}

// Dims: x [n, 4], y [n, 4], threads.
// Slots: 0 to 5: dims of x, y and z; 6: bytes of a tensor; 7: bytes of the workspace.
int64_t test_external_shapes(const int64_t* dims, int64_t* slots) {
  for (int i = 0; i < 4; ++i) slots[i] = dims[i];
  slots[4] = dims[0];
  slots[5] = 4;
  slots[6] = dims[0] * 16;
  slots[7] = 64 * dims[4];
  return -1;
}

// Dims: x [n], threads. Slots: 0: n - 1; 1: bytes of n - 1 floats.
int64_t test_count_down(const int64_t* dims, int64_t* slots) {
  slots[0] = dims[0] - 1;
  slots[1] = slots[0] * 4;
  return -1;
}
