// Element-wise errors of a result against its reference.
import {readNpy} from './npy.mjs';

const kRelativeFrom = 1e-3;  // relative errors of smaller values are not reported

// Compares the tensor in `file` with `expected`. Elements that are not floats must be equal.
// Returns {abs, rel, bad, count, worst}: the largest errors, the numbers of elements that do not
// agree and of all elements, and a description of the worst element. A float agrees if its absolute
// or its relative error is at most `tolerance`.
export function compareTensors(name, expected, file, tolerance = 1e-4) {
  const actual = readNpy(file);
  if (actual.dtype !== expected.dtype || String(actual.dims) !== String(expected.dims))
    throw new Error(`output "${name}": expected ${expected.dtype}[${expected.dims}] ` +
                    `(ONNX Runtime), given ${actual.dtype}[${actual.dims}]`);
  const exact = !expected.dtype.startsWith('float');
  const result = {abs: 0, rel: 0, bad: 0, count: expected.data.length, worst: ''};
  let largest = -1;
  for (let i = 0; i < result.count; ++i) {
    const want = Number(expected.data[i]), got = Number(actual.data[i]);
    if (Object.is(want, got) || want === got || (Number.isNaN(want) && Number.isNaN(got))) continue;
    const abs = Math.abs(want - got);
    const rel = abs / Math.abs(want);
    if (!(abs <= result.abs)) result.abs = abs;
    if (Math.abs(want) >= kRelativeFrom && !(rel <= result.rel)) result.rel = rel;
    if (!exact && (abs <= tolerance || rel <= tolerance)) continue;
    ++result.bad;
    if (!(Math.min(abs, rel) <= largest)) {
      largest = Math.min(abs, rel);
      result.worst = `${name}[${i}]: ${got}, expected ${want}`;
    }
  }
  return result;
}

export function sumErrors(parts) {
  const worse = (a, b) => Number.isNaN(a) || Number.isNaN(b) ? NaN : Math.max(a, b);
  return parts.reduce((a, b) => ({
    abs: worse(a.abs, b.abs), rel: worse(a.rel, b.rel), bad: a.bad + b.bad,
    count: a.count + b.count, worst: a.worst || b.worst,
  }));
}
