// Shows the data of bench_json().
function timeText(us) {
  if (us >= 1e6) return `${Number((us / 1e6).toPrecision(4))} s`;
  if (us >= 1e3) return `${Number((us / 1e3).toPrecision(4))} ms`;
  return `${Number(us.toPrecision(4))} us`;
}

// The bars of the histogram: one for each bin. The last bin can have no end.
function drawHistogram() {
  const { context, width, height } = prepare(element("histogram"));
  const bins = data.histogram;
  const most = Math.max(...bins.map((bin) => bin.count));
  const bottom = height - 22, top = 16;
  const slot = width / bins.length;
  const y = (count) => bottom - ((bottom - top) * count) / most;
  context.strokeStyle = css("--line");
  for (const count of ticks(0, most, Math.min(5, most))) context.strokeRect(0, y(count), width, 0);
  context.fillStyle = css("--s0");
  bins.forEach((bin, i) =>
    context.fillRect(i * slot + 1, y(bin.count), Math.max(slot - 2, 1), bottom - y(bin.count)));
  for (const count of ticks(0, most, Math.min(5, most)))
    if (count > 0) drawLabel(context, String(count), 4, y(count) - 3);
  const every = Math.ceil(110 / slot);
  bins.forEach((bin, i) => {
    const isOpen = bin.to_us === null;
    if ((i % every === 0 && i + every / 2 < bins.length) || isOpen)
      drawLabel(context, isOpen ? `from ${timeText(bin.from_us)}` : timeText(bin.from_us),
        Math.min(i * slot + 2, width - 90), height - 6);
  });
}

function addRow(table, cells) {
  const row = element(table).insertRow();
  for (const cell of cells) {
    const added = row.insertCell();
    if (cell instanceof Node) added.append(cell);
    else added.textContent = typeof cell === "number" ? String(cell) : cell.text ?? cell;
    if (typeof cell === "number" || cell.isNumber) added.className = "number";
  }
}

const number = (value, digits) =>
  ({ text: value === null ? "-" : value.toFixed(digits), isNumber: true });

// A bar with the share of a limit, and its percentage.
function shareBar(share) {
  const cell = document.createElement("span");
  if (share === null) {
    cell.textContent = "-";
    return cell;
  }
  const bar = document.createElement("span"), part = document.createElement("span");
  bar.className = "bar";
  part.style.width = `${Math.min(100, 100 * share)}%`;
  bar.append(part);
  cell.append(bar, `${(100 * share).toFixed(0)} %`);
  return cell;
}

function showProfile(profile) {
  element("profile").hidden = false;
  element("limits").textContent = `Of ${profile.calls} calls, one at a time. This machine ` +
    `reads ${(profile.limits.read_bytes_per_second / 1e9).toFixed(1)} GB/s from memory and ` +
    `computes ${(profile.limits.flops_per_second / 1e9).toFixed(1)} GFLOP/s, measured in the ` +
    "same run. Kernels whose tensors are in caches can exceed the bandwidth.";
  let rest = profile.us;
  for (const kernel of profile.kernels) {
    rest -= kernel.us;
    addRow("kernels", [kernel.launches, number(kernel.us / profile.calls, 2),
      number(100 * kernel.share, 1), number(kernel.gflop_per_second, 1),
      number(kernel.gb_per_second, 1),
      shareBar(kernel.share_of_limit), kernel.kernel, kernel.ops]);
  }
  rest = Math.max(0, rest);
  addRow("kernels", [number(null), number(rest / profile.calls, 2),
    number((100 * rest) / profile.us, 1), number(null), number(null), "-",
    "outside of kernels", ""]);
}

// The kernels that a roofline plot can show: its limits are those of the host.
function plottedKernels() {
  const limits = data.profile?.limits;
  if (!limits || !(limits.flops_per_second > 0 && limits.read_bytes_per_second > 0)) return [];
  return data.profile.kernels.filter((kernel) =>
    kernel.device === "cpu" && kernel.flops_per_byte > 0 && kernel.gflop_per_second > 0);
}

function addSvg(parent, name, attributes, text = "") {
  const added = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) added.setAttribute(key, value);
  added.textContent = text;
  parent.append(added);
  return added;
}

// The powers of ten that enclose all values.
function decades(values) {
  const low = Math.floor(Math.log10(Math.min(...values)));
  return { low, high: Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values)))) };
}

const powerText = (power) => String(Number((10 ** power).toPrecision(1)));

// Both axes are logarithmic.
function drawRoofline() {
  const kernels = plottedKernels();
  if (kernels.length === 0) return;
  element("roofline").hidden = false;
  const svg = element("roofline").querySelector("svg");
  svg.replaceChildren();
  const width = svg.clientWidth, height = svg.clientHeight;
  const left = 70, right = width - 20, top = 30, bottom = height - 50;
  const peak = data.profile.limits.flops_per_second / 1e9;
  const bandwidth = data.profile.limits.read_bytes_per_second / 1e9;
  const ridge = peak / bandwidth;
  const columns = decades([...kernels.map((kernel) => kernel.flops_per_byte), ridge]);
  const rows = decades([...kernels.map((kernel) => kernel.gflop_per_second), peak,
    bandwidth * 10 ** columns.low]);
  const x = (value) =>
    left + ((Math.log10(value) - columns.low) / (columns.high - columns.low)) * (right - left);
  const y = (value) =>
    bottom - ((Math.log10(value) - rows.low) / (rows.high - rows.low)) * (bottom - top);
  const line = (kind, x1, y1, x2, y2) => addSvg(svg, "line", { class: kind, x1, y1, x2, y2 });
  for (let power = columns.low; power <= columns.high; ++power) {
    line("grid", x(10 ** power), top, x(10 ** power), bottom);
    addSvg(svg, "text", { x: x(10 ** power), y: bottom + 18, "text-anchor": "middle" },
      powerText(power));
  }
  for (let power = rows.low; power <= rows.high; ++power) {
    line("grid", left, y(10 ** power), right, y(10 ** power));
    addSvg(svg, "text", { x: left - 8, y: y(10 ** power) + 4, "text-anchor": "end" },
      powerText(power));
  }
  addSvg(svg, "text", { x: (left + right) / 2, y: height - 10, "text-anchor": "middle" },
    "Arithmetic intensity, FLOP per byte");
  addSvg(svg, "text", { x: 8, y: 18 }, "Rate, GFLOP/s");
  const first = 10 ** columns.low;
  line("limit", x(first), y(bandwidth * first), x(ridge), y(peak));
  line("limit", x(ridge), y(peak), right, y(peak));
  addSvg(svg, "text", { class: "name", x: right - 4, y: y(peak) - 6, "text-anchor": "end" },
    `${peak.toFixed(1)} GFLOP/s`);
  const at = Math.sqrt(first * ridge);
  addSvg(svg, "text", { class: "name", x: x(at) - 8, y: y(bandwidth * at) - 6,
    "text-anchor": "end" }, `${bandwidth.toFixed(1)} GB/s`);
  const most = Math.max(...kernels.map((kernel) => kernel.share));
  const named = kernels.slice(0, 6);  // the longest times
  for (const kernel of kernels) {
    const cx = x(kernel.flops_per_byte), cy = y(kernel.gflop_per_second);
    const r = Math.max(2, 22 * Math.sqrt(kernel.share / most));
    const point = addSvg(svg, "circle", { cx, cy, r });
    addSvg(point, "title", {}, `${kernel.kernel}: ${kernel.ops}\n` +
      `${kernel.gflop_per_second.toFixed(1)} GFLOP/s, ` +
      `${Number(kernel.flops_per_byte.toPrecision(3))} FLOP per byte\n` +
      `${(100 * kernel.share).toFixed(1)} % of the time` +
      (kernel.share_of_limit === null ? "" :
        `, ${(100 * kernel.share_of_limit).toFixed(0)} % of the limit`));
  }
  for (const kernel of named) {
    const isRight = x(kernel.flops_per_byte) > (left + right) / 2;
    addSvg(svg, "text", { class: "name", x: x(kernel.flops_per_byte) + (isRight ? -6 : 6),
      y: y(kernel.gflop_per_second) + 4, "text-anchor": isRight ? "end" : "start" },
      kernel.kernel);
  }
}

function showSummary() {
  document.title = `Benchmark: ${data.module}`;
  element("title").textContent = `${data.module}, ${data.function}`;
  const latency = data.latency_us;
  const lines = [["Requests", String(data.requests)], ["In flight", String(data.in_flight)],
    ["Requests per second", data.requests_per_second.toFixed(1)]];
  for (const name of ["min", "median", "mean", "p90", "p99", "max"])
    lines.push([`Latency, ${name}`, timeText(latency[name])]);
  if (data.warm_up) lines.push(["First request", timeText(data.warm_up.first_us)]);
  for (const [name, value] of lines) {
    const line = document.createElement("div"), term = document.createElement("dt"),
      description = document.createElement("dd");
    term.textContent = name;
    description.textContent = value;
    line.append(term, description);
    element("summary").append(line);
  }
  for (const use of data.memory)
    if (use.bound_bytes > 0 || use.peak_bytes > 0)
      addRow("memory", [use.device, use.scope, use.bound_bytes, use.peak_bytes,
        use.all_calls_peak_bytes]);
}

showSummary();
if (data.profile) showProfile(data.profile);
addTheme(() => {
  drawHistogram();
  drawRoofline();
});
