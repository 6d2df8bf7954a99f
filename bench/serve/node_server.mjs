// A minimal server for one model with ONNX Runtime, for the comparison of compare_node.py: the
// requests of the Open Inference Protocol with binary data, over Node's HTTP server.
//
//   node node_server.mjs MODEL THREADS     THREADS: of a call; 0: ONNX Runtime's default
//
// Prints its address. SCOPEVM_COMPARE_MODULES is the folder of the package onnxruntime-node.
import http from 'node:http';
import {createRequire} from 'node:module';
import path from 'node:path';

const require = createRequire(path.resolve(process.env.SCOPEVM_COMPARE_MODULES, 'package.json'));
const ort = require('onnxruntime-node');
const [model, threads] = process.argv.slice(2);
const session = await ort.InferenceSession.create(model, {
  executionProviders: ['cpu'], intraOpNumThreads: Number(threads), interOpNumThreads: 1,
  graphOptimizationLevel: 'all', executionMode: 'sequential', logSeverityLevel: 3,
});

const kJsonBytes = 'inference-header-content-length';
const kTypes = {
  FP32: ['float32', Float32Array, 'FP32'],
  INT64: ['int64', BigInt64Array, 'INT64'],
};
const byName = Object.fromEntries(Object.values(kTypes).map(type => [type[0], type]));

function feedsOf(body, jsonBytes) {
  const {inputs} = JSON.parse(body.toString('utf8', 0, jsonBytes));
  const feeds = {};
  let at = jsonBytes;
  for (const {name, datatype, shape, parameters} of inputs) {
    const [type, Elements] = kTypes[datatype];
    const bytes = body.buffer.slice(body.byteOffset + at,
                                    body.byteOffset + at + parameters.binary_data_size);
    feeds[name] = new ort.Tensor(type, new Elements(bytes), shape);
    at += parameters.binary_data_size;
  }
  return feeds;
}

async function infer(body, jsonBytes) {
  const results = await session.run(feedsOf(body, jsonBytes));
  const outputs = [], blobs = [];
  for (const [name, {type, dims, data}] of Object.entries(results)) {
    blobs.push(Buffer.from(data.buffer, data.byteOffset, data.byteLength));
    outputs.push({name, datatype: byName[type][2], shape: dims,
                  parameters: {binary_data_size: data.byteLength}});
  }
  return [Buffer.from(JSON.stringify({model_name: 'model', model_version: '1', outputs})), blobs];
}

const server = http.createServer((request, response) => {
  const parts = [];
  request.on('data', part => parts.push(part));
  request.on('end', async () => {
    try {
      const body = parts.length === 1 ? parts[0] : Buffer.concat(parts);
      const [json, blobs] = await infer(body, Number(request.headers[kJsonBytes]));
      const length = blobs.reduce((sum, blob) => sum + blob.length, json.length);
      response.writeHead(200, {'Content-Type': 'application/octet-stream',
                               'Inference-Header-Content-Length': json.length,
                               'Content-Length': length});
      response.write(json);
      for (const blob of blobs) response.write(blob);
      response.end();
    } catch (error) {
      response.writeHead(400, {'Content-Type': 'application/json'});
      response.end(JSON.stringify({error: String(error)}));
    }
  });
});
server.keepAliveTimeout = 0;
server.listen(0, '127.0.0.1', () => {
  console.log(`http 127.0.0.1:${server.address().port}`);
});
