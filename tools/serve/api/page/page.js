// Shows the status of the server, and reads it again each second.
function timeText(ns) {
  if (ns >= 1e9) return `${Number((ns / 1e9).toPrecision(3))} s`;
  if (ns >= 1e6) return `${Number((ns / 1e6).toPrecision(3))} ms`;
  return `${Number((ns / 1e3).toPrecision(3))} us`;
}

const number = (value) => ({ text: String(value), isNumber: true });
const bytes = (value) => ({ text: value === null ? "no limit" : bytesText(value), isNumber: true });
const mean = (ns, count) => ({ text: count > 0 ? timeText(ns / count) : "-", isNumber: true });

function addRow(table, cells) {
  const row = element(table).insertRow();
  for (const cell of cells) {
    const added = row.insertCell();
    if (cell instanceof Node) added.append(cell);
    else added.textContent = cell.text ?? cell;
    if (cell.isNumber) added.className = "number";
  }
}

// The part of a pool's capacity that is in use.
function useBar(used, capacity) {
  const cell = document.createElement("span");
  const share = capacity > 0 ? Math.min(1, used / capacity) : 0;
  const bar = document.createElement("span"), part = document.createElement("span");
  bar.className = "bar";
  part.style.width = `${100 * share}%`;
  bar.append(part);
  cell.append(bar, `${(100 * share).toFixed(0)} %`);
  return cell;
}

// The numbers of requests by latency: each bar is for twice the latency of the one before it.
function latencyBars(counts) {
  const kind = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(kind, "svg");
  const first = counts.findIndex((count) => count > 0);
  const last = counts.findLastIndex((count) => count > 0);
  svg.setAttribute("class", "latency");
  svg.setAttribute("role", "img");
  if (first < 0) {
    svg.setAttribute("aria-label", "no requests");
    return svg;
  }
  // Bar i is for less than 2^i us.
  const label = `from ${timeText(first > 0 ? 1e3 * 2 ** (first - 1) : 0)} to ${timeText(1e3 * 2 ** last)}`;
  svg.setAttribute("aria-label", label);
  const title = document.createElementNS(kind, "title");
  title.textContent = label;
  svg.append(title);
  const shown = counts.slice(first, last + 1), most = Math.max(...shown);
  svg.setAttribute("viewBox", `0 0 ${Math.max(10 * shown.length, 140)} 28`);
  shown.forEach((count, i) => {
    const bar = document.createElementNS(kind, "rect");
    const height = count > 0 ? Math.max(1, (28 * count) / most) : 0;
    for (const [name, value] of [["x", 10 * i], ["y", 28 - height], ["width", 9],
      ["height", height]]) bar.setAttribute(name, value);
    svg.append(bar);
  });
  return svg;
}

function showSummary(status) {
  const summary = element("summary");
  summary.replaceChildren();
  const { http, scheduler } = status;
  for (const [name, value] of [["Version", status.version],
    ["Uptime", timeText(1e9 * status.uptime_s)], ["Workers", scheduler.workers],
    ["Wait for memory", scheduler.waiting], ["Wait for a worker", scheduler.ready],
    ["Running", scheduler.running], ["Connections", http.connections],
    ["HTTP requests", http.requests], ["Clients that left", http.left]]) {
    const term = document.createElement("dt"), description = document.createElement("dd");
    const pair = document.createElement("div");
    term.textContent = name;
    description.textContent = value;
    pair.append(term, description);
    summary.append(pair);
  }
}

function showModels(models) {
  for (const model of models) {
    const name = `${model.name}/${model.version ?? "-"}`;
    const statistics = model.statistics;
    if (!statistics) {
      addRow("models", [name, `not ready: ${model.reason}`]);
      continue;
    }
    const times = statistics.inference_stats;
    addRow("models", [name, model.reason ? `ready; ${model.reason}` : "ready",
      number(times.success.count), number(times.fail.count), number(statistics.pending_count),
      number(statistics.sequence_count), number(statistics.execution_count),
      mean(times.compute_infer.ns, times.compute_infer.count),
      mean(times.success.ns, times.success.count), latencyBars(model.latency)]);
    for (const pool of model.pools.filter((pool) => pool.peak + pool.cached > 0))
      addRow("memory", [name, pool.name, bytes(pool.live), bytes(pool.peak), bytes(pool.cached)]);
  }
}

function show(status) {
  element("title").textContent = "scopevm serve";
  element("state").textContent = status.is_ready ? "Ready." : "Not ready.";
  for (const table of ["pools", "models", "memory"]) element(table).replaceChildren();
  showSummary(status);
  for (const pool of status.scheduler.pools)
    addRow("pools", [pool.name, bytes(pool.capacity), bytes(pool.reserved), bytes(pool.held),
      useBar(pool.reserved + pool.held, pool.capacity)]);
  if (status.scheduler.pools.length === 0) addRow("pools", ["none: --capacity sets one"]);
  showModels(status.models);
}

async function refresh() {
  try {
    const response = await fetch("status.json");
    show(await response.json());
  } catch {
    element("state").textContent = "The server does not answer.";
    element("state").className = "failed";
  }
}

show(data);
addTheme(() => {});
if (location.protocol.startsWith("http")) setInterval(refresh, 1000);
