// A minimal wrapper of ONNX Runtime for the comparison. Loads the package from the folder in
// SCOPEVM_COMPARE_MODULES (`./dev compare` installs it there).
import {createRequire} from 'node:module';
import path from 'node:path';
import {performance} from 'node:perf_hooks';

const folder = process.env.SCOPEVM_COMPARE_MODULES;
if (!folder) throw new Error('SCOPEVM_COMPARE_MODULES is not set: run ./dev compare');
const require = createRequire(path.resolve(folder, 'package.json'));
const ort = require('onnxruntime-node');

export const version = require('onnxruntime-node/package.json').version;

export async function createSession(model, threads) {
  const started = performance.now();
  const session = await ort.InferenceSession.create(model, {
    executionProviders: ['cpu'], intraOpNumThreads: threads, interOpNumThreads: 1,
    graphOptimizationLevel: 'all', executionMode: 'sequential', logSeverityLevel: 3,
  });
  return {session, seconds: (performance.now() - started) / 1000};
}

export const inputsOf = session => session.inputMetadata;

export function toFeeds(tensors) {
  return Object.fromEntries(Object.entries(tensors).map(
      ([name, t]) => [name, new ort.Tensor(t.dtype, t.data, t.dims)]));
}

// Runs once. Returns {name: {dtype, dims, data}}.
export async function runOnce(session, feeds) {
  const results = await session.run(feeds);
  return Object.fromEntries(Object.entries(results).map(
      ([name, t]) => [name, {dtype: t.type, dims: [...t.dims], data: t.data}]));
}

// Runs `count` times. Returns each latency in microseconds.
export async function timeRuns(session, feeds, count) {
  const times = [];
  for (let i = 0; i < count; ++i) {
    const started = performance.now();
    await session.run(feeds);
    times.push((performance.now() - started) * 1000);
  }
  return times;
}
