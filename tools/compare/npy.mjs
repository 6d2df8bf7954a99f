// Reads and writes .npy files (little-endian, C order), the exchange format of `scopevm run`.
// Writes version 1.0 of the format. A tensor here is {dtype, dims, data}, with the dtype names of
// ONNX Runtime for JavaScript.
import fs from 'node:fs';

const kTypes = {
  float32: ['<f4', Float32Array], float64: ['<f8', Float64Array], int8: ['|i1', Int8Array],
  int16: ['<i2', Int16Array], int32: ['<i4', Int32Array], int64: ['<i8', BigInt64Array],
  uint8: ['|u1', Uint8Array], uint16: ['<u2', Uint16Array], uint32: ['<u4', Uint32Array],
  uint64: ['<u8', BigUint64Array], bool: ['|b1', Uint8Array],
};

export function typedArray(dtype) {
  if (!(dtype in kTypes)) throw new Error(`unsupported element type ${dtype}`);
  return kTypes[dtype][1];
}

export function writeNpy(path, {dtype, dims, data}) {
  const descr = kTypes[dtype][0];
  const shape = dims.length === 1 ? `${dims[0]},` : dims.join(', ');
  const head = `{'descr': '${descr}', 'fortran_order': False, 'shape': (${shape}), }`;
  const length = Math.ceil((10 + head.length + 1) / 64) * 64 - 10;
  const header = Buffer.alloc(10 + length, ' ');
  header.write('\x93NUMPY\x01\x00', 0, 'latin1');
  header.writeUInt16LE(length, 8);
  header.write(head, 10, 'latin1');
  header.write('\n', 10 + length - 1, 'latin1');
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  fs.writeFileSync(path, Buffer.concat([header, bytes]));
}

export function readNpy(path) {
  const file = fs.readFileSync(path);
  if (file.toString('latin1', 0, 6) !== '\x93NUMPY') throw new Error(`${path}: not a .npy file`);
  const [start, length] =
      file[6] === 1 ? [10, file.readUInt16LE(8)] : [12, file.readUInt32LE(8)];
  const header = file.toString('latin1', start, start + length);
  const descr = /'descr':\s*'([^']*)'/.exec(header)[1];
  const dims = /'shape':\s*\(([^)]*)\)/.exec(header)[1].split(',').filter(s => s.trim())
      .map(Number);
  const dtype = Object.keys(kTypes).find(name => kTypes[name][0] === descr);
  if (!dtype) throw new Error(`${path}: unsupported element type ${descr}`);
  const Type = kTypes[dtype][1];
  const body = file.subarray(start + length);
  const data = new Type(body.buffer.slice(body.byteOffset, body.byteOffset + body.byteLength));
  return {dtype, dims, data};
}
