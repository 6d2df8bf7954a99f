// CBOR encoding of the structs of scopevm/compiler.h, the arguments and results of the functions of
// scopevm/compiler_table.h. The compiler library and the `scopevm` command include this header; it
// does not depend on LLVM.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string_view>
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

// Converts to the type of any member, for member_count().
struct AnyMember {
  template <typename T>
  operator T() const;  // NOLINT(google-explicit-constructor)
};

// The members of an aggregate.
template <typename T, typename... Members>
consteval size_t member_count() {
  if constexpr (requires { T{Members{}..., AnyMember{}}; })
    return member_count<T, Members..., AnyMember>();
  else
    return sizeof...(Members);
}

// Encodes a struct, of which all members must be listed.
#define SCOPEVM_MESSAGE(Type, ...)                                             \
  static_assert(std::ranges::count(std::string_view(#__VA_ARGS__), ',') + 1 == \
                    static_cast<std::ptrdiff_t>(member_count<Type>()),         \
                "members of " #Type " are missing");                           \
  NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Type, __VA_ARGS__)

SCOPEVM_MESSAGE(DimBound, min, max, multiple_of)
// Without the callbacks and external libraries, which cross the boundary as C pointers.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Tuning, requests)
SCOPEVM_MESSAGE(MemoryRequest, dims, threads)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CompileOptions, model_path, target_cpus, dims, variants,
                                   machine_json, machine_name, places, tuning, external_functions,
                                   external_functions_name, allow_unmatched, dump_after, threads,
                                   inline_limit, image_layout, fast_conv, memory_request,
                                   reproducer_path)
SCOPEVM_MESSAGE(PassTime, pass, seconds)
SCOPEVM_MESSAGE(StageTime, stage, seconds, peak_bytes, passes)
// Without the module, whose bytes are passed separately.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TunedModel, functions, seconds, is_chosen)
SCOPEVM_MESSAGE(MeasuredForm, name, seconds, is_chosen)
SCOPEVM_MESSAGE(TunedConvolution, name, forms)
// Without the module, too.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CompileOutput, times, tuned, convolutions, warnings)
SCOPEVM_MESSAGE(ShapeExplanation::Value, name, op, type, elements, depth)
SCOPEVM_MESSAGE(ShapeExplanation::Symbol, name, model_name, definition, bound, is_bound)
SCOPEVM_MESSAGE(ShapeExplanation::Check, condition, message)
SCOPEVM_MESSAGE(ShapeExplanation::Function, name, values, symbols, checks)
SCOPEVM_MESSAGE(ShapeExplanation, functions)
SCOPEVM_MESSAGE(FormulaDefinition, name, formula)
SCOPEVM_MESSAGE(CopyExplanation::Copy, value, formula, bytes, times, from, to, producer_reason,
                consumer_reason, is_spill, seconds, function, times_depend_on, has_own_dims,
                definitions)
SCOPEVM_MESSAGE(CopyExplanation::Node, name, op, place, reads)
SCOPEVM_MESSAGE(CopyExplanation::Limit, pool, limit_bytes, needed_bytes, moved, seconds,
                lower_bound_seconds)
SCOPEVM_MESSAGE(PartSeconds, library, own)
SCOPEVM_MESSAGE(ExternalExplanation::Part, function, library, patterns, ops, calls, is_taken,
                workspace, reason, seconds)
SCOPEVM_MESSAGE(ExternalExplanation, parts, tuned, warnings)
SCOPEVM_MESSAGE(LayoutExplanation::Op, name, kind, is_blocked, seconds, other_seconds, is_measured,
                forms, kernel_of)
SCOPEVM_MESSAGE(LayoutExplanation::Conversion, value, to_blocked, formula, definitions, seconds)
SCOPEVM_MESSAGE(LayoutExplanation, ops, conversions, warnings)
SCOPEVM_MESSAGE(MemoryExplanation::Step, op, name)
SCOPEVM_MESSAGE(MemoryExplanation::Buffer, name, values, views, is_scratch, first_step, last_step,
                bytes, offset)
SCOPEVM_MESSAGE(MemoryExplanation::LiveBuffer, buffer, bytes_without, is_accessed)
SCOPEVM_MESSAGE(MemoryExplanation::Lifespan, lower, upper, bytes, offset)
SCOPEVM_MESSAGE(MemoryExplanation::Change, kind, value, operand, steps, before, pool, pool_bytes,
                accessed_bytes, option)
SCOPEVM_MESSAGE(MemoryExplanation::Suggestion, changes, lower_bound_bytes, bytes, peak_step,
                lifespans)
SCOPEVM_MESSAGE(MemoryExplanation::Alternative, option, lower_bound_bytes, bytes)
SCOPEVM_MESSAGE(MemoryPeak, step, bytes)
SCOPEVM_MESSAGE(MemoryExplanation::Arena, pool, segment, bytes, lower_bound_bytes, peak, next_peak,
                buffers, live, suggestions, alternatives)
SCOPEVM_MESSAGE(MemoryExplanation::Line, pool, what, is_result, depends_on_data, bytes,
                lower_bound_bytes, step)
SCOPEVM_MESSAGE(MemoryExplanation::Pool, name, bytes, lower_bound_bytes, constant_bytes,
                limit_bytes)
SCOPEVM_MESSAGE(MemoryExplanation::Function, name, dims, assumed, steps, lines, pools, arenas)
SCOPEVM_MESSAGE(MemoryExplanation, threads, functions, warnings)
SCOPEVM_MESSAGE(CopyExplanation, copies, limits, nodes, is_proved, notes, warnings)

#undef SCOPEVM_MESSAGE

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
