// Writes inputs and ONNX Runtime's outputs: for each shape, a folder with input_NAME.npy and
// output_NAME.npy.
//
//   ./dev compare --reference FOLDER MODEL.onnx [shapes]
import fs from 'node:fs';
import path from 'node:path';

import {makeInputs, shapeText} from './inputs.mjs';
import {writeNpy} from './npy.mjs';
import * as ort from './onnx_runtime.mjs';

export const fileName = tensor => tensor.replaceAll('/', '_');

export async function writeReference(folder, {file, name}, shapes) {
  const {session} = await ort.createSession(file, 2);
  for (const shape of shapes) {
    const target = path.join(folder, name, shapeText(shape));
    fs.mkdirSync(target, {recursive: true});
    const inputs = makeInputs(name, ort.inputsOf(session), shape);
    const outputs = await ort.runOnce(session, ort.toFeeds(inputs));
    for (const [input, tensor] of Object.entries(inputs))
      writeNpy(path.join(target, `input_${fileName(input)}.npy`), tensor);
    for (const [output, tensor] of Object.entries(outputs)) {
      writeNpy(path.join(target, `output_${fileName(output)}.npy`), tensor);
      const size = tensor.data.reduce((m, v) => Math.max(m, Math.abs(Number(v))), 0);
      console.log(`${target}: ${output} [${tensor.dims}] largest ${size.toPrecision(4)}`);
    }
  }
}
