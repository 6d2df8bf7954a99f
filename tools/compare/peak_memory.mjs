// Creates an ONNX Runtime session and calls it twice with one thread. Prints the bytes by which the
// peak resident size exceeds the resident size before the session.
//
//   node peak_memory.mjs MODEL.onnx NAME=FILE.npy...
import fs from 'node:fs';

import {readNpy} from './npy.mjs';
import * as ort from './onnx_runtime.mjs';

const status = key =>
    1024 * Number(new RegExp(`${key}:\\s+(\\d+) kB`).exec(fs.readFileSync('/proc/self/status'))[1]);

const [model, ...inputs] = process.argv.slice(2);
const feeds = ort.toFeeds(Object.fromEntries(inputs.map(text => {
  const [name, file] = text.split('=');
  return [name, readNpy(file)];
})));
const before = status('VmRSS');
const {session} = await ort.createSession(model, 1);
await ort.runOnce(session, feeds);
await ort.runOnce(session, feeds);
console.log(status('VmHWM') - before);
