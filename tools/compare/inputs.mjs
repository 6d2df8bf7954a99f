// Inputs for models: default shapes, names for unnamed dimensions, and valid values for integer
// inputs (for example token ids smaller than the vocabulary).
import {typedArray} from './npy.mjs';

const cross = (a, b) => a.flatMap(x => b.map(y => ({...x, ...y})));
const kBatches = [{batch: 1}, {batch: 3}];
const kBertShapes = cross(kBatches, [{length: 7}, {length: 26}, {length: 128}]);
const kImage = {shapes: kBatches};
const kLstm = {
  shapes: cross(kBatches, [{length: 10}, {length: 50}]),
  checked: [1, 7, 26, 64, 113].map(length => ({batch: 1, length})),
};

const kGpt2 = {
  dims: {attention_mask: ['batch', 'past+length']},
  bounds: ['past>=0'],
  shapes: cross(kBatches, [{length: 1, past: 7}, {length: 1, past: 128}, {length: 5, past: 26}]),
  checked: [0, 1, 32, 511].map(past => ({batch: 1, length: 1, past})),
  values: {
    input_ids: (i, dims, shape, random) => Math.floor(random * 50257),
    position_ids: (i, dims, shape) => shape.past + i % shape.length,
  },
};

// By model name:
//   dims     dims of inputs, instead of those in the model
//   shapes   default shapes
//   checked  additional shapes with --errors-only
//   bounds   values of --dim
//   tolerance  the largest absolute or relative error of floats (1e-4)
//   values   a function for each integer input: (flat index, dims of the input, shape, a random
//            number in [0, 1)) => element
const kModels = {
  ocr_rec: {
    dims: {x: ['n', 3, 48, 'w']},
    shapes: cross([{n: 1}, {n: 6}], [{w: 100}, {w: 320}, {w: 733}]),
    checked: [8, 33, 64, 97, 160, 215, 256, 401, 512, 640, 991, 1280].map(w => ({n: 1, w})),
  },
  ocr_det: {
    dims: {x: ['n', 3, 'h', 'w']},
    shapes: [{n: 1, h: 320, w: 320}, {n: 1, h: 640, w: 480}],
    checked: [{n: 1, h: 736, w: 1280}],
  },
  ocr_cls: {dims: {x: ['n', 3, 48, 192]}, shapes: [{n: 1}, {n: 6}]},
  silero_vad: {
    dims: {input: ['n', 'samples'], state: [2, 'n', 128]},
    shapes: [{n: 1, samples: 512}, {n: 4, samples: 512}],
    checked: [{n: 1, samples: 256}, {n: 3, samples: 256}],
    values: {sr: (i, dims, shape) => shape.samples === 256 ? 8000 : 16000},
  },
  mobilenet_v2: kImage,
  resnet50: kImage,
  bert_base: {shapes: kBertShapes},
  bert_2layer: {shapes: kBertShapes},
  gpt2_decode: kGpt2,
  lstm_op: kLstm,
  lstm_loop: kLstm,
  random_forest: {shapes: [{n: 1}, {n: 1000}]},
  // ONNX Runtime rounds the FLOAT16 weights to which it adds batch normalisations.
  mobilenet_v2_f16: {...kImage, tolerance: 0.05},
  bert_2layer_f16: {shapes: kBertShapes, tolerance: 0.01},
  gpt2_decode_f16: {...kGpt2, tolerance: 0.01},
  // A result that is rounded to another of 256 numbers changes all later ones.
  mobilenet_v2_int8: {...kImage, tolerance: 0.5},
  resnet50_int8: {...kImage, tolerance: 0.5},
  bert_2layer_int8: {shapes: kBertShapes, tolerance: 0.5},
  bert_2layer_int8_dynamic: {shapes: kBertShapes, tolerance: 0.1},
  digits: {shapes: [{n: 1}, {n: 16}]},
};

// Integer inputs of transformers. In attention masks, every row except the first ends in padding.
const kValues = {
  input_ids: (i, dims, shape, random) => Math.floor(random * 30000),
  token_type_ids: (i, dims) => i % dims[1] >= dims[1] / 2 ? 1 : 0,
  attention_mask: (i, dims) => {
    const row = Math.floor(i / dims[1]);
    return i % dims[1] < Math.max(1, dims[1] - 2 * row) ? 1 : 0;
  },
};

export const modelNames = () => Object.keys(kModels);

export function defaultShapes(model, all) {
  const {shapes, checked = []} = kModels[model] ?? {};
  return all && shapes ? [...shapes, ...checked] : shapes;
}

export const toleranceOf = model => kModels[model]?.tolerance ?? 1e-4;
export const boundsOf = model => kModels[model]?.bounds ?? [];

// "batch=3,length=7" -> {batch: 3, length: 7}
export function parseShape(text) {
  return Object.fromEntries(text.split(',').map(part => {
    const [name, value] = part.split('=');
    if (!/^\d+$/.test(value ?? '')) throw new Error(`shape "${text}": expected NAME=NUMBER,...`);
    return [name, Number(value)];
  }));
}

export const shapeText = shape => Object.entries(shape).map(([n, v]) => `${n}=${v}`).join(',');

// The mulberry32 generator. Equal seeds give equal inputs in every run.
export function randomSource(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

function dimValue(dim, shape, input) {
  if (typeof dim === 'number') return dim;
  if (/^\d+$/.test(dim)) return Number(dim);
  const terms = dim.split('+').map(term => shape[term]);
  if (terms.some(term => term === undefined))
    throw new Error(`input "${input}": missing value for dimension "${dim}"`);
  return terms.reduce((a, b) => a + b);
}

// `inputs` is ONNX Runtime's inputMetadata. Returns {name: {dtype, dims, data}}.
export function makeInputs(model, inputs, shape) {
  const random = randomSource(1234);
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const feeds = {};
  for (const {name, type, shape: declared} of inputs) {
    const dims = (kModels[model]?.dims?.[name] ?? declared).map(d => dimValue(d, shape, name));
    const count = dims.reduce((a, b) => a * b, 1);
    const data = new (typedArray(type))(count);
    const value = kModels[model]?.values?.[name] ?? kValues[name];
    const big = type === 'int64' || type === 'uint64';
    for (let i = 0; i < count; ++i) {
      if (type.startsWith('float')) { data[i] = normal(); continue; }
      const number = value ? value(i, dims, shape, random()) : Math.floor(random() * 2);
      data[i] = big ? BigInt(number) : number;
    }
    feeds[name] = {dtype: type, dims, data};
  }
  return feeds;
}
