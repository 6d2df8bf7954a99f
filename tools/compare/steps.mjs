// Runs a model with ONNX Runtime for each request on standard input, one JSON object a line:
// {"inputs": {NAME: FILE.npy}, "outputs": {NAME: FILE.npy}}. Prints a line when the model is loaded
// and after each request: null, or the error as a JSON string.
//
//   steps.mjs MODEL.onnx
import fs from 'node:fs';
import readline from 'node:readline';

import {readNpy, writeNpy} from './npy.mjs';
import * as ort from './onnx_runtime.mjs';

async function answer(work) {
  let failure = null;
  try {
    await work();
  } catch (error) {
    failure = error.message;
  }
  fs.writeSync(1, JSON.stringify(failure) + '\n');
}

let session;
await answer(async () => ({session} = await ort.createSession(process.argv[2], 1)));
for await (const line of readline.createInterface({input: process.stdin})) {
  await answer(async () => {
    const {inputs, outputs} = JSON.parse(line);
    const feeds = Object.fromEntries(
        Object.entries(inputs).map(([name, file]) => [name, readNpy(file)]));
    const results = await ort.runOnce(session, ort.toFeeds(feeds));
    for (const [name, file] of Object.entries(outputs)) writeNpy(file, results[name]);
  });
}
