// Runs the scopevm command for the comparison: compiles, runs and measures the peak memory.
import {spawnSync} from 'node:child_process';
import path from 'node:path';
import {performance} from 'node:perf_hooks';
import {fileURLToPath} from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
const kCommand = process.env.SCOPEVM ?? 'build/release/bin/scopevm';

function run(program, args) {
  const done = spawnSync(program, args, {encoding: 'utf8', maxBuffer: 1 << 28});
  if (done.error) throw new Error(`${program}: ${done.error.message}`);
  if (done.status !== 0)
    throw new Error(`${path.basename(program)} ${args[0]}: ${(done.stderr || `terminated by ${done.signal}`).trim()}`);
  return done.stdout;
}

let external = [];  // options of `compile` and `run` for external functions

export function useExternal(library) {
  external = ['--external', library];
}

// `options` are further options of `compile`. Returns seconds.
export function compileModel(file, module, options = []) {
  const started = performance.now();
  run(kCommand, ['compile', file, '-o', module, ...external, ...options]);
  return (performance.now() - started) / 1000;
}

function runArguments(module, inputs, {threads = 1, repeat = 1, outputs = {}}) {
  const named = (flag, files) => Object.entries(files).flatMap(([n, f]) => [flag, `${n}=${f}`]);
  return ['run', module, ...named('--input', inputs), ...named('--output', outputs),
          ...external, '--threads', String(threads), '--repeat', String(repeat), '--stats',
          '--json'];
}

// Returns the parsed output of `scopevm run --stats --json`.
export function runModule(module, inputs, options) {
  return JSON.parse(run(kCommand, runArguments(module, inputs, options)));
}

// Returns the peak resident bytes for two calls with one thread. For scopevm, these are the bytes
// of the whole process. For ONNX Runtime, they are the growth of a Node process that has loaded
// the library.
export function peakBytes(file, module, inputs) {
  const ours = run('/usr/bin/python3', [path.join(here, 'peak_memory.py'), kCommand,
                                        ...runArguments(module, inputs, {repeat: 2})]);
  const theirs = run(process.execPath, [path.join(here, 'peak_memory.mjs'), file,
                                        ...Object.entries(inputs).map(([n, f]) => `${n}=${f}`)]);
  return {scopevm: Number(ours), ort: Number(theirs)};
}
