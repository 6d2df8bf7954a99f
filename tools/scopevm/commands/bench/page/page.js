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
    `reads ${(profile.limits.read_bytes_per_second / 1e9).toFixed(1)} GB/s from memory, measured ` +
    "in the same run. Kernels whose tensors are in caches can exceed this.";
  let rest = profile.us;
  for (const kernel of profile.kernels) {
    rest -= kernel.us;
    addRow("kernels", [kernel.launches, number(kernel.us / profile.calls, 2),
      number(100 * kernel.share, 1), number(kernel.gb_per_second, 1),
      shareBar(kernel.share_of_limit), kernel.kernel, kernel.ops]);
  }
  rest = Math.max(0, rest);
  addRow("kernels", [number(null), number(rest / profile.calls, 2),
    number((100 * rest) / profile.us, 1), number(null), "-", "outside of kernels", ""]);
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
addTheme(drawHistogram);
