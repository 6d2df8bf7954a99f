/** @file
 * Visibility of symbols. SCOPEVM_API marks the symbols that libscopevm.so and
 * libscopevm_compiler.so export. All other symbols have hidden visibility. */
#pragma once

/** Exports a symbol of the library. */
#define SCOPEVM_API __attribute__((visibility("default")))
