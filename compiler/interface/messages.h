// CBOR encoding of the structs of scopevm/compiler.h, the arguments and results of the functions of
// scopevm/compiler_table.h. The compiler library and the `scopevm` command include this header; it
// does not depend on LLVM.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <vector>

#include "scopevm/compiler.h"

namespace nlohmann {

template <typename T>
struct adl_serializer<std::optional<T>> {
  static void to_json(json& out, const std::optional<T>& value) {
    out = value ? json(*value) : json();
  }
  static void from_json(const json& in, std::optional<T>& value) {
    if (in.is_null())
      value.reset();
    else
      value = in.get<T>();
  }
};

}  // namespace nlohmann

namespace scopevm {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DimBound, min, max, multiple_of)
// Without the callbacks and external libraries, which cross the boundary as C pointers.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Tuning, requests)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MemoryRequest, dims, threads)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CompileOptions, model_path, target_cpus, dims, variants,
                                   machine_json, machine_name, places, tuning, external_functions,
                                   external_functions_name, allow_unmatched, dump_after, threads,
                                   inline_limit, image_layout, fast_conv, memory_request,
                                   reproducer_path)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PassTime, pass, seconds)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StageTime, stage, seconds, peak_bytes, passes)
// Without the module, whose bytes are passed separately.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TunedModel, functions, seconds, is_chosen)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MeasuredForm, name, seconds, is_chosen)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TunedConvolution, name, forms)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CompileOutput, times, tuned, convolutions, warnings)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ShapeExplanation::Value, name, op, type, elements, depth)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ShapeExplanation::Symbol, name, model_name, definition, bound,
                                   is_bound)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ShapeExplanation::Check, condition, message)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ShapeExplanation::Function, name, values, symbols, checks)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ShapeExplanation, functions)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FormulaDefinition, name, formula)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CopyExplanation::Copy, value, formula, bytes, times, from, to,
                                   producer_reason, consumer_reason, is_spill, seconds, function,
                                   times_depend_on, has_own_dims, definitions)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CopyExplanation::Node, name, op, place, reads)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CopyExplanation::Limit, pool, limit_bytes, needed_bytes, moved,
                                   seconds, lower_bound_seconds)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PartSeconds, library, own)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ExternalExplanation::Part, function, library, patterns, ops,
                                   calls, is_taken, workspace, reason, seconds)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ExternalExplanation, parts, tuned, warnings)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LayoutExplanation::Op, name, kind, is_blocked, seconds,
                                   other_seconds, is_measured, forms, kernel_of)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LayoutExplanation::Conversion, value, to_blocked, formula,
                                   definitions, seconds)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LayoutExplanation, ops, conversions, warnings)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MemoryExplanation::Step, op, name)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MemoryExplanation::Buffer, name, values, views, is_scratch,
                                   first_step, last_step, bytes, offset)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MemoryExplanation::LiveBuffer, buffer, bytes_without,
                                   is_accessed)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MemoryExplanation::Lifespan, lower, upper, bytes, offset)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MemoryExplanation::Change, kind, value, operand, steps, before,
                                   pool, pool_bytes, accessed_bytes, option)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MemoryExplanation::Suggestion, changes, lower_bound_bytes, bytes,
                                   peak_step, lifespans)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MemoryExplanation::Alternative, option, lower_bound_bytes, bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MemoryPeak, step, bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MemoryExplanation::Arena, pool, segment, bytes,
                                   lower_bound_bytes, peak, next_peak, buffers, live, suggestions,
                                   alternatives)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MemoryExplanation::Line, pool, what, is_result, depends_on_data,
                                   bytes, lower_bound_bytes, step)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MemoryExplanation::Pool, name, bytes, lower_bound_bytes,
                                   constant_bytes, limit_bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MemoryExplanation::Function, name, dims, assumed, steps, lines,
                                   pools, arenas)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MemoryExplanation, threads, functions, warnings)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CopyExplanation, copies, limits, nodes, is_proved, notes,
                                   warnings)

}  // namespace scopevm

namespace scopevm::compiler {

template <typename T>
std::vector<uint8_t> encode(const T& value) {
  return nlohmann::json::to_cbor(nlohmann::json(value));
}

// Errors: kInternal (the bytes are not a message of this type).
template <typename T>
Result<T> decode(std::span<const uint8_t> bytes) {
  try {
    return nlohmann::json::from_cbor(bytes.begin(), bytes.end()).get<T>();
  } catch (const nlohmann::json::exception& error) {
    return Status(StatusCode::kInternal,
                  std::string("malformed compiler message: ") + error.what());
  }
}

}  // namespace scopevm::compiler
