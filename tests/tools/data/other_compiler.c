/* A libscopevm_compiler of another version: install_layouts.test loads it. */
#include "scopevm/compiler_table.h"

const scopevm_compiler_table* scopevm_get_compiler_table(void) {
  static const scopevm_compiler_table table = {
      .struct_size = sizeof table, .version = 999, .release = "9.8.7"};
  return &table;
}
