/** @file
 * Visibility of symbols. SCOPEVM_API marks the symbols that the shared libraries export. All other
 * symbols have hidden visibility. libscopevm.so exports functions of C only. */
#pragma once

/** Exports a symbol of the library. */
#define SCOPEVM_API __attribute__((visibility("default")))
