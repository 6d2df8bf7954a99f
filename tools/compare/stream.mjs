// Compares models whose inputs include outputs of the previous step. Each runtime has its own
// state, so that errors can accumulate. The outputs of every step are compared.
//
//   ./dev compare silero_vad --stream 200     chunks of speech-like sound, at 16 kHz and at 8 kHz
//   ./dev compare gpt2_decode --stream 64     greedy decoding; the tokens must be the same
import path from 'node:path';

import {compareTensors, sumErrors} from './errors.mjs';
import {randomSource} from './inputs.mjs';
import {readNpy, writeNpy} from './npy.mjs';
import * as ort from './onnx_runtime.mjs';
import {fileName} from './reference.mjs';
import {runModule} from './scopevm.mjs';

const tensor = (dtype, dims, data) => ({dtype, dims, data});

// A stream has a name, the inputs of the first step, and next(outputs, step), which returns the
// inputs of the following step. Inputs that next() does not return are unchanged. In a stream of
// tokens, token(outputs) returns the token of a step.
function sound(rate, samples) {
  // A periodic sound with varying pitch and loudness, and noise.
  const chunk = step => {
    const random = randomSource(step);
    const data = new Float32Array(samples);
    for (let i = 0; i < samples; ++i) {
      const t = (step * samples + i) / rate;
      const pitch = 120 + 40 * Math.sin(2 * Math.PI * 0.7 * t);
      const loudness = Math.max(0, Math.sin(2 * Math.PI * 0.4 * t));
      let voice = 0;
      for (let k = 1; k <= 12; ++k) voice += Math.sin(2 * Math.PI * pitch * k * t) / k;
      data[i] = 0.2 * loudness * voice + 0.01 * (random() - 0.5);
    }
    return tensor('float32', [1, samples], data);
  };
  return {
    name: `${rate} Hz, ${samples} samples`,
    first: {
      input: chunk(0), state: tensor('float32', [2, 1, 128], new Float32Array(256)),
      sr: tensor('int64', [], BigInt64Array.of(BigInt(rate))),
    },
    next: (outputs, step) => ({input: chunk(step), state: outputs.stateN}),
  };
}

function decoding(inputs) {
  const random = randomSource(7);
  const prompt = BigInt64Array.from({length: 5}, () => BigInt(Math.floor(random() * 50257)));
  const ones = length => tensor('int64', [1, length], new BigInt64Array(length).fill(1n));
  const first = {
    input_ids: tensor('int64', [1, 5], prompt),
    position_ids: tensor('int64', [1, 5], BigInt64Array.of(0n, 1n, 2n, 3n, 4n)),
    attention_mask: ones(5),
  };
  for (const {name} of inputs)
    if (name.startsWith('past_')) first[name] = tensor('float32', [1, 12, 0, 64], new Float32Array());
  return {
    name: 'greedy',
    first,
    next: (outputs, step) => {
      const token = greedyToken(outputs.logits);
      const after = {
        input_ids: tensor('int64', [1, 1], BigInt64Array.of(BigInt(token))),
        position_ids: tensor('int64', [1, 1], BigInt64Array.of(BigInt(4 + step))),
        attention_mask: ones(5 + step),
      };
      for (const [name, value] of Object.entries(outputs))
        if (name.startsWith('present')) after[name.replace('present', 'past_key_values')] = value;
      return after;
    },
    token: outputs => greedyToken(outputs.logits),
  };
}

// Returns the index of the maximum of the last row.
function greedyToken({dims, data}) {
  const row = data.subarray(data.length - dims.at(-1));
  let best = 0;
  for (let i = 1; i < row.length; ++i)
    if (row[i] > row[best]) best = i;
  return best;
}

function streamsOf(model, inputs) {
  if (model === 'silero_vad') return [sound(16000, 512), sound(8000, 256)];
  if (model === 'gpt2_decode') return [decoding(inputs)];
  throw new Error(`no stream is defined for model "${model}"`);
}

function runOurs(module, inputs, names, work) {
  const files = {}, outputs = {};
  for (const [name, value] of Object.entries(inputs)) {
    files[name] = path.join(work, `input_${fileName(name)}.npy`);
    writeNpy(files[name], value);
  }
  for (const name of names) outputs[name] = path.join(work, `output_${fileName(name)}.npy`);
  runModule(module, files, {outputs});
  return outputs;
}

// Runs the streams of the model. Returns one object with errors for each stream.
export async function compareStreams(session, model, module, steps, work) {
  const results = [];
  for (const stream of streamsOf(model, ort.inputsOf(session))) {
    let theirs = stream.first, ours = stream.first;
    const errors = [], tokens = {theirs: [], ours: []};
    for (let step = 1; step <= steps; ++step) {
      const expected = await ort.runOnce(session, ort.toFeeds(theirs));
      const files = runOurs(module, ours, Object.keys(expected), work);
      const actual = Object.fromEntries(
          Object.entries(files).map(([name, file]) => [name, readNpy(file)]));
      errors.push(sumErrors(Object.keys(expected).map(
          name => compareTensors(name, expected[name], files[name]))));
      tokens.theirs.push(stream.token?.(expected));
      tokens.ours.push(stream.token?.(actual));
      theirs = {...theirs, ...stream.next(expected, step)};
      ours = {...ours, ...stream.next(actual, step)};
    }
    const differing = tokens.ours.filter((token, i) => token !== tokens.theirs[i]).length;
    results.push({stream: stream.name, steps, errors: sumErrors(errors), last: errors.at(-1).abs,
                  ...(stream.token ? {differing_tokens: differing} : {})});
  }
  return results;
}
