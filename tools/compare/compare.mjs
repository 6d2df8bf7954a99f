// Runs ONNX Runtime and scopevm alternately on the same inputs. Prints the largest error, the
// latency ratio for each number of threads, the times of session creation and module load, and the
// peak memory of both.
//
//   ./dev compare MODEL [SHAPE...]          MODEL: a name in models/ or examples/, an .onnx file,
//                                           or `all`
//                                           SHAPE: NAME=NUMBER,...   (default: see inputs.mjs)
//     --rounds N      rounds per thread count (5)
//     --threads LIST  thread counts (1,2)
//     --errors-only   no times and no peak memory; more default shapes
//     --json          one JSON object per shape or stream, or {model, failure}; input of table.mjs
//     --stream STEPS  STEPS calls, each with state from the previous call: see stream.mjs
//     --external NAME   with external functions of this library, such as dnnl
//     --tune          with --external: only the faster ones (scopevm compile --tune)
//     --fast-conv     with Winograd's algorithm (scopevm compile --fast-conv)
//     --reference FOLDER   only write the inputs and ONNX Runtime's outputs to FOLDER as .npy
//
// A float agrees if its absolute or its relative error is at most 1e-4 (or more for models in
// FLOAT16: inputs.mjs); other elements must be
// equal. Exits with 1 if an output element or a token does not agree, if the memory used differs
// from the module's formulas, or if the comparison fails. Exits with 2 after a usage error.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';

import {compareTensors, sumErrors} from './errors.mjs';
import {boundsOf, defaultShapes, makeInputs, modelNames, parseShape, shapeText, toleranceOf}
    from './inputs.mjs';
import {writeNpy} from './npy.mjs';
import * as ort from './onnx_runtime.mjs';
import {fileName, writeReference} from './reference.mjs';
import {compileModel, peakBytes, runModule, useExternal} from './scopevm.mjs';
import {compareStreams} from './stream.mjs';

const median = values => {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
};

function parseArguments(argv) {
  const options = {rounds: 5, threads: [1, 2], json: false, errorsOnly: false, positional: []};
  for (let i = 0; i < argv.length; ++i) {
    const value = () => argv[++i] ?? usage(`${argv[i - 1]} requires a value`);
    if (argv[i] === '--rounds') options.rounds = Number(value());
    else if (argv[i] === '--threads') options.threads = value().split(',').map(Number);
    else if (argv[i] === '--reference') options.reference = value();
    else if (argv[i] === '--stream') options.stream = Number(value());
    else if (argv[i] === '--errors-only') options.errorsOnly = true;
    else if (argv[i] === '--external') options.external = value();
    else if (argv[i] === '--tune') options.tune = true;
    else if (argv[i] === '--fast-conv') options.fastConv = true;
    else if (argv[i] === '--json') options.json = true;
    else if (argv[i].startsWith('--')) usage(`unknown option ${argv[i]}`);
    else options.positional.push(argv[i]);
  }
  if (options.positional.length === 0) usage('missing MODEL');
  if (options.tune && !options.external) usage('--tune requires --external');
  if (options.external) useExternal(options.external);
  return options;
}

function usage(message) {
  console.error(`compare: ${message}\nusage: ./dev compare MODEL [NAME=NUMBER,...] [--rounds N] ` +
                '[--threads 1,2] [--errors-only] [--stream STEPS] [--external NAME [--tune]] ' +
                '[--fast-conv] ' +
                '[--json] [--reference FOLDER]');
  process.exit(2);
}

function findModel(text) {
  const candidates = [text, `models/${text}.onnx`, `examples/${text}/${text}.onnx`];
  const file = candidates.find(f => f.endsWith('.onnx') && fs.existsSync(f));
  if (!file) usage(`model "${text}" not found; run ./dev models`);
  return {file, name: path.basename(file, '.onnx')};
}

// Returns the number of runs that take about half a second, for the latency of one run in us.
const repeats = micros => Math.min(500, Math.max(3, Math.round(5e5 / micros)));

// Measures both runtimes alternately. Returns medians over the rounds, and the median of the
// rounds' ratios.
async function timeBoth(session, feeds, module, inputs, threads, rounds) {
  const first = await ort.timeRuns(session, feeds, 2);
  const count = repeats(Math.min(...first));
  const theirs = [], ours = [], ratios = [];
  for (let round = 0; round < rounds; ++round) {
    theirs.push(median(await ort.timeRuns(session, feeds, count)));
    await sleep(50);  // ONNX Runtime's pool spins for a while after its last run
    ours.push(runModule(module, inputs, {threads, repeat: count}).latency_us.median);
    ratios.push(ours.at(-1) / theirs.at(-1));
  }
  return {threads, ort_us: median(theirs), scopevm_us: median(ours), ratio: median(ratios)};
}

async function compareShape(context, shape) {
  const {file, name, module, sessions, options, work} = context;
  const first = sessions[options.threads[0]];
  const inputs = makeInputs(name, ort.inputsOf(first), shape);
  const feeds = ort.toFeeds(inputs);
  const expected = await ort.runOnce(first, feeds);
  const files = {};
  for (const [input, tensor] of Object.entries(inputs)) {
    files[input] = path.join(work, `input_${fileName(input)}.npy`);
    writeNpy(files[input], tensor);
  }
  const outputs = Object.fromEntries(Object.keys(expected).map(
      output => [output, path.join(work, `output_${fileName(output)}.npy`)]));
  const stats = runModule(module, files, {threads: 1, repeat: 2, outputs});
  const errors = sumErrors(Object.keys(expected).map(
      output => compareTensors(output, expected[output], outputs[output], toleranceOf(name))));
  const result = {model: name, shape: shapeText(shape), errors, memory: stats.memory,
                  load_us: stats.load_us ?? null, latency: []};
  if (!options.errorsOnly) {
    for (const threads of options.threads)
      result.latency.push(
          await timeBoth(sessions[threads], feeds, module, files, threads, options.rounds));
    result.peak = peakBytes(file, module, files);
  }
  return result;
}

// "1 step", "2 steps"
const countText = (count, noun) => `${count} ${noun}${count === 1 ? '' : 's'}`;

function print(result) {
  const e = result.errors;
  console.log(`${result.model} ${result.shape}`);
  console.log(`  error      abs ${e.abs.toExponential(2)}, rel ${e.rel.toExponential(2)} ` +
              `(where |value| >= 1e-3); ${e.bad} of ${countText(e.count, 'element')} above ` +
              toleranceOf(result.model) + (e.worst ? ` [${e.worst}]` : ''));
  for (const l of result.latency)
    console.log(`  ${countText(l.threads, 'thread').padEnd(9)}  scopevm ` +
                `${(l.scopevm_us / 1000).toFixed(3)} ms, ONNX Runtime ` +
                `${(l.ort_us / 1000).toFixed(3)} ms, ratio ${l.ratio.toFixed(2)}`);
  if (result.load_us !== null && result.session_us)
    console.log(`  load       scopevm ${(result.load_us / 1000).toFixed(2)} ms, ONNX Runtime ` +
                `${(result.session_us / 1000).toFixed(1)} ms`);
  if (result.peak)
    console.log(`  peak       scopevm ${(result.peak.scopevm / 1e6).toFixed(1)} MB, ONNX Runtime ` +
                `${(result.peak.ort / 1e6).toFixed(1)} MB more than an idle Node process`);
  for (const m of result.memory ?? [])
    console.log(`  ${m.scope}: bound ${m.bound_bytes}, used ${m.peak_bytes}, lower bound ` +
                `${m.lower_bound_bytes}, ${countText(m.allocations, 'allocation')}`);
}

function reportStream(result, options) {
  const e = result.errors;
  const differing = result.differing_tokens === undefined ?
      '' : `, ${countText(result.differing_tokens, 'differing token')}`;
  if (options.json) console.log(JSON.stringify(result));
  else
    console.log(`  ${result.stream}: ${countText(result.steps, 'step')}, ` +
                `abs ${e.abs.toExponential(2)} (last step ${result.last.toExponential(2)}), ` +
                `${e.bad} of ${countText(e.count, 'element')} above 1e-4${differing}`);
  if (e.bad > 0 || result.differing_tokens > 0) process.exitCode = 1;
}

// Returns the scopes whose bound is not exact, that is, differs from the bytes that the call used.
const offends = memory => (memory ?? []).filter(m => m.bound_bytes !== m.peak_bytes);

async function compareModel({file, name}, shapes, options) {
  const work = fs.mkdtempSync(path.join(os.tmpdir(), 'scopevm-compare-'));
  const sessions = {};
  try {
    const module = path.join(work, `${name}.bc`);
    const compileSeconds = compileModel(
        file, module,
        [...boundsOf(name).flatMap(b => ['--dim', b]), ...(options.tune ? ['--tune'] : []),
         ...(options.fastConv ? ['--fast-conv'] : [])]);
    if (!options.json)
      console.log(`${name}: compiled in ${compileSeconds.toFixed(1)} s; ONNX Runtime ${ort.version}`);
    const creation = [];
    for (const threads of options.threads) {
      for (let i = 0; i < (options.errorsOnly ? 1 : 3); ++i) {
        const {session, seconds} = await ort.createSession(file, threads);
        creation.push(seconds * 1e6);
        await sessions[threads]?.release();
        sessions[threads] = session;
      }
    }
    if (options.stream) {
      for (const result of await compareStreams(sessions[options.threads[0]], name, module,
                                                options.stream, work))
        reportStream({model: name, ...result}, options);
      return;
    }
    for (const shape of shapes) {
      const result = await compareShape({file, name, module, sessions, options, work}, shape);
      result.session_us = median(creation);
      result.compile_s = compileSeconds;
      if (options.json) console.log(JSON.stringify(result));
      else print(result);
      if (result.errors.bad > 0 || offends(result.memory).length > 0) process.exitCode = 1;
    }
  } finally {
    for (const session of Object.values(sessions)) await session.release();
    fs.rmSync(work, {recursive: true, force: true});
  }
}

async function main() {
  const options = parseArguments(process.argv.slice(2));
  const [wanted, ...rest] = options.positional;
  const requested = rest.map(parseShape);
  if (options.stream !== undefined && !(options.stream > 0))
    usage('--stream: expected a positive number of steps');
  for (const name of wanted === 'all' ? modelNames() : [wanted]) {
    const model = findModel(name);
    const shapes = requested.length ? requested : defaultShapes(model.name, options.errorsOnly) ??
        usage(`model "${model.name}" has no default shapes: expected SHAPE`);
    try {
      if (options.reference) await writeReference(options.reference, model, shapes);
      else await compareModel(model, shapes, options);
    } catch (error) {
      process.exitCode = 1;
      if (options.json) console.log(JSON.stringify({model: model.name, failure: error.message}));
      else console.log(`${model.name}: ${error.message}`);
    }
  }
}

await main().catch(error => {
  console.error(`compare: ${error.message}`);
  process.exitCode = 1;
});
