// Runs ONNX Runtime on generated cases, each a folder with model.onnx and test_data_set_N, and
// replaces the expected results by those of ONNX Runtime. Prints one line after each case, a JSON
// list: its name, and null or why the expected results are still those of NumPy.
//
//   ops.mjs FOLDER NAME...   FOLDER contains the folders of the cases
import {createRequire} from 'node:module';
import fs from 'node:fs';
import path from 'node:path';

const require = createRequire(path.resolve(process.env.SCOPEVM_COMPARE_MODULES, 'package.json'));
const ort = require('onnxruntime-node');

// TensorProto.DataType, and the arrays that store the elements.
const kTypes = {
  1: ['float32', Float32Array], 2: ['uint8', Uint8Array], 3: ['int8', Int8Array],
  4: ['uint16', Uint16Array], 5: ['int16', Int16Array], 6: ['int32', Int32Array],
  7: ['int64', BigInt64Array], 8: ['string', Array], 9: ['bool', Uint8Array],
  10: ['float16', Uint16Array], 11: ['float64', Float64Array], 12: ['uint32', Uint32Array],
  13: ['uint64', BigUint64Array]};
const kCodes = Object.fromEntries(Object.entries(kTypes).map(([code, [name]]) => [name, +code]));

// Calls use(field, value) for each field of a message; value is a BigInt or bytes.
function eachField(bytes, use) {
  let at = 0;
  const varint = () => {
    let value = 0n, shift = 0n, byte;
    do {
      byte = bytes[at++];
      value |= BigInt(byte & 127) << shift;
      shift += 7n;
    } while (byte & 128);
    return value;
  };
  while (at < bytes.length) {
    const key = Number(varint());
    if ((key & 7) === 0) {
      use(key >> 3, varint());
    } else {
      const size = Number(varint());
      use(key >> 3, bytes.subarray(at, at + size));
      at += size;
    }
  }
}

function readTensor(file) {
  const dims = [], strings = [];
  let type = 0, name = '', raw = new Uint8Array();
  eachField(fs.readFileSync(file), (field, value) => {
    if (field === 1) dims.push(Number(value));
    else if (field === 2) type = Number(value);
    else if (field === 6) strings.push(Buffer.from(value).toString());
    else if (field === 8) name = Buffer.from(value).toString();
    else if (field === 9) raw = value;
  });
  const [dtype, Elements] = kTypes[type];
  const data = dtype === 'string' ? strings : new Elements(new Uint8Array(raw).buffer);
  return [name, new ort.Tensor(dtype, data, dims)];
}

function varint(number) {
  const bytes = [];
  for (let rest = BigInt(number); ; rest >>= 7n) {
    if (rest < 128n) return Buffer.from([...bytes, Number(rest)]);
    bytes.push(Number(rest & 127n) | 128);
  }
}
const integer = (field, number) => Buffer.concat([varint(field << 3), varint(number)]);
const content = (field, bytes) =>
    Buffer.concat([varint(field << 3 | 2), varint(bytes.length), bytes]);

function encodeTensor(name, tensor) {
  const parts = [...tensor.dims.map(dim => integer(1, dim)), integer(2, kCodes[tensor.type])];
  if (tensor.type === 'string')
    parts.push(...tensor.data.map(text => content(6, Buffer.from(text))));
  parts.push(content(8, Buffer.from(name)));
  const {buffer, byteOffset, byteLength} = tensor.data;
  if (tensor.type !== 'string') parts.push(content(9, Buffer.from(buffer, byteOffset, byteLength)));
  return Buffer.concat(parts);
}

const filesOf = (data, stem) =>
    fs.readdirSync(data).filter(file => file.startsWith(stem)).sort(
        (a, b) => parseInt(a.slice(stem.length)) - parseInt(b.slice(stem.length)));

async function runCase(folder) {
  const session = await ort.InferenceSession.create(
      path.join(folder, 'model.onnx'),
      {executionProviders: ['cpu'], intraOpNumThreads: 1, logSeverityLevel: 4,
       graphOptimizationLevel: 'disabled'});
  const results = [];
  for (const set of filesOf(folder, 'test_data_set_')) {
    const data = path.join(folder, set);
    const feeds = Object.fromEntries(
        filesOf(data, 'input_').map(file => readTensor(path.join(data, file))));
    results.push([data, await session.run(feeds)]);
  }
  for (const [data, values] of results) {
    for (const file of filesOf(data, 'output_')) {
      const [name] = readTensor(path.join(data, file));
      fs.writeFileSync(path.join(data, file), encodeTensor(name, values[name]));
    }
  }
  await session.release();
}

const [root, ...names] = process.argv.slice(2);
for (const name of names) {
  let failure = null;
  try {
    await runCase(path.join(root, name));
  } catch (error) {
    failure = error.message;
  }
  fs.writeSync(1, JSON.stringify([name, failure]) + '\n');
}
