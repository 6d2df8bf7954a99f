/* SCOPEVM_API marks what libscopevm.so exports; everything else in it is hidden. */
#pragma once

#define SCOPEVM_API __attribute__((visibility("default")))
