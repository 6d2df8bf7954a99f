// Reads the lines of `./dev compare all --json` and prints them as the tables of bench/README.md.
//
//   ./dev compare all --json | node tools/compare/table.mjs
import fs from 'node:fs';

const results = fs.readFileSync(0, 'utf8').split('\n').filter(line => line.startsWith('{'))
    .map(line => JSON.parse(line));
const ms = (us, digits = 2) => (us / 1000).toFixed(digits);
const mb = bytes => (bytes / 1e6).toFixed(1);
const row = cells => console.log(`| ${cells.join(' | ')} |`);

const done = results.filter(r => !r.failure);
const threads = [...new Set(done.flatMap(r => r.latency.map(l => l.threads)))];
row(['model', 'shape',
     ...threads.flatMap(t => [`scopevm, ${t}`, `ORT, ${t}`, `ratio, ${t}`])]);
row(['---', '---', ...threads.flatMap(() => ['---:', '---:', '---:'])]);
for (const r of done)
  row([r.model, r.shape.replaceAll(',', ', '),
       ...r.latency.flatMap(l => [ms(l.scopevm_us), ms(l.ort_us), l.ratio.toFixed(2)])]);

console.log();
row(['model', 'shape', 'largest absolute error', 'largest relative error']);
row(['---', '---', '---:', '---:']);
for (const r of done)
  row([r.model, r.shape.replaceAll(',', ', '), r.errors.abs.toExponential(1),
       r.errors.rel.toExponential(1) + (r.errors.bad ? `, ${r.errors.bad} above 1e-4` : '')]);

console.log();
row(['model', 'shape', 'compile, s', 'load, ms', 'session, ms', 'scopevm, MB', 'ORT, MB',
     'bound, MB', 'ratio']);
row(['---', '---', ...Array(7).fill('---:')]);
for (const r of done) {
  const bound = r.memory.reduce((sum, m) => sum + m.bound_bytes, 0);
  const lower = r.memory.reduce((sum, m) => sum + m.lower_bound_bytes, 0);
  row([r.model, r.shape.replaceAll(',', ', '), r.compile_s.toFixed(1),
       r.load_us === null ? '' : ms(r.load_us), ms(r.session_us, 1),
       r.peak ? mb(r.peak.scopevm) : '', r.peak ? mb(r.peak.ort) : '', mb(bound),
       lower ? (bound / lower).toFixed(3) : '']);
}

const failed = results.filter(r => r.failure);
if (failed.length) console.log('\nFailed:\n');
for (const r of failed) console.log(`* ${r.model}: ${r.failure.split('\n')[0]}`);
