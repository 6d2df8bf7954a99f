// Transcendental functions of f32 scalars and vectors. They use basic arithmetic without calls or
// tables, so that they vectorise on every target. Special values follow IEEE 754: exp(-inf) is 0,
// log(0) is -inf, NaN stays NaN. Largest relative errors, measured against f64 over the whole
// range:
//   exp 1e-7, log 1e-7 (absolute 2e-7 near 1), tanh 4e-7, erf 5e-7, sigmoid 3e-7
#pragma once

#include "compiler/kernels/builder/term.h"

namespace scopevm::compiler::kernels {

Term exp_f32(Term x);
Term log_f32(Term x);
Term tanh_f32(Term x);
Term erf_f32(Term x);
Term sigmoid_f32(Term x);

}  // namespace scopevm::compiler::kernels
