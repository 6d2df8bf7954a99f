// Shows the data of page_data.h. A colour of --s0 to --s5 is a memory scope, in both drawings.
const colour = (scope) => `var(--s${scope % 6})`;

function timeText(time) {
  if (data.unit === "step") return `step ${Math.round(time) + data.first_step}`;
  const ns = time - data.begin;
  const rounded = (value, digits) => String(Number(value.toFixed(digits)));
  if (ns >= 1e9) return `${rounded(ns / 1e9, 3)} s`;
  if (ns >= 1e6) return `${rounded(ns / 1e6, 3)} ms`;
  return `${rounded(ns / 1e3, 1)} us`;
}

// The address at a position of the axis.
function addressAt(position) {
  let region = data.regions[0];
  for (const next of data.regions) if (next[2] <= position) region = next;
  return region ? region[0] + position - region[2] : 0;
}

const addressText = (position) =>
  data.unit === "step" ? `offset ${addressAt(position)}` : `0x${addressAt(position).toString(16)}`;

// The visible part of both drawings.
const whole = { left: data.begin, right: Math.max(data.end, data.begin + 1), low: 0,
  high: Math.max(1, data.height) };
const view = { ...whole };
let selected = -1;

const xOf = (time, width) => ((time - view.left) / (view.right - view.left)) * width;

// Round times, relative to the begin.
function drawTimes(context, width, height) {
  context.strokeStyle = css("--line");
  const count = data.unit === "step" ? Math.min(width / 160, view.right - view.left) : width / 160;
  for (const time of ticks(view.left - data.begin, view.right - data.begin, count)) {
    const x = xOf(time + data.begin, width);
    context.strokeRect(x, 0, 0, height);
    drawLabel(context, timeText(time + data.begin), x + 4, height - 4);
  }
}

// Round numbers of bytes. `y` is the place of a number.
function drawBytes(context, width, height, most, y) {
  context.strokeStyle = css("--line");
  for (const bytes of ticks(0, most, height / 50, true)) {
    context.strokeRect(0, y(bytes), width, 0);
    if (bytes > 0) drawLabel(context, bytesText(bytes), 4, y(bytes) - 3);
  }
}

// The live bytes of the scopes, one on top of the other.
function drawLive() {
  const { context, width, height } = prepare(element("live"));
  const count = data.samples.length ? data.samples[0].length : 0;
  const step = (whole.right - whole.left) / Math.max(1, count);
  const base = new Float64Array(count);
  const y = (bytes) => height - (bytes / Math.max(1, data.peak.bytes)) * (height - 16);
  data.samples.forEach((samples, scope) => {
    context.fillStyle = css(`--s${scope % 6}`);
    context.beginPath();
    for (let i = 0; i < count; ++i) {
      const top = y(base[i] + samples[i]);
      context.lineTo(xOf(whole.left + i * step, width), top);
      context.lineTo(xOf(whole.left + (i + 1) * step, width), top);
    }
    for (let i = count - 1; i >= 0; --i) {
      context.lineTo(xOf(whole.left + (i + 1) * step, width), y(base[i]));
      context.lineTo(xOf(whole.left + i * step, width), y(base[i]));
      base[i] += samples[i];
    }
    context.fill();
  });
  drawTimes(context, width, height);
  drawBytes(context, width, height, data.peak.bytes, y);
  const x = xOf(data.peak.time, width);
  context.strokeStyle = css("--front");
  context.strokeRect(x, 0, 0, height);
  const label = `peak ${bytesText(data.peak.bytes)}`;
  drawLabel(context, label, Math.max(4, Math.min(x + 4, width - 130)), 12);
}

function rectangleOf(block, width, height) {
  const [begin, end, position, size] = block;
  const scale = height / (view.high - view.low);
  const x = xOf(begin, width);
  const top = height - (position + size - view.low) * scale;
  return [x, top, Math.max(xOf(end, width) - x, 0.5), Math.max(size * scale, 0.5)];
}

function drawDensity(context, width, height) {
  const { columns, rows, cells } = data.density;
  const cellTime = (whole.right - whole.left) / columns;
  const cellBytes = whole.high / rows;
  context.fillStyle = css("--muted");
  for (let row = 0; row < rows; ++row)
    for (let column = 0; column < columns; ++column) {
      const part = cells[row * columns + column];
      if (part === 0) continue;
      const begin = whole.left + column * cellTime;
      context.globalAlpha = (0.7 * part) / 255;
      context.fillRect(...rectangleOf([begin, begin + cellTime, row * cellBytes, cellBytes], width,
        height));
    }
  context.globalAlpha = 1;
}

function drawBlocks() {
  const { context, width, height } = prepare(element("blocks"));
  drawDensity(context, width, height);
  const colours = [0, 1, 2, 3, 4, 5].map((i) => css(`--s${i}`));
  const edge = css("--back");
  data.blocks.forEach((block, i) => {
    const rectangle = rectangleOf(block, width, height);
    if (rectangle[0] > width || rectangle[0] + rectangle[2] < 0) return;
    context.fillStyle = i === selected ? css("--focus") : colours[block[4] % 6];
    context.fillRect(...rectangle);
    if (rectangle[2] > 3 && rectangle[3] > 3) {
      context.strokeStyle = edge;
      context.lineWidth = 0.5;
      context.strokeRect(...rectangle);
    }
  });
  drawTimes(context, width, height);
  for (const [, bytes, position] of data.regions.slice(0, 40)) {
    const y = height - ((position - view.low) / (view.high - view.low)) * height;
    if (y > 12 && y < height - 16 && bytes > 0) drawLabel(context, addressText(position), 4, y - 2);
  }
}

function draw() {
  drawLive();
  drawBlocks();
}

function describe(i) {
  const [begin, end, position, size, scope, name] = data.blocks[i];
  element("status").textContent = `${bytesText(size)} (${size} bytes), ${data.scopes[scope].name}, ` +
    `${addressText(position)}, ${timeText(begin)} to ${timeText(end)}, ${data.names[name]}`;
}

function select(i) {
  selected = i;
  if (i >= 0) describe(i);
  else element("status").textContent = "";
  drawBlocks();
}

function zoom(low, high, factor, centre) {
  const middle = view[low] + (view[high] - view[low]) * centre;
  view[low] = Math.max(whole[low], middle - (middle - view[low]) * factor);
  view[high] = Math.min(whole[high], middle + (view[high] - middle) * factor);
}

function move(low, high, part) {
  const length = view[high] - view[low];
  const change = Math.max(whole[low] - view[low], Math.min(part * length, whole[high] - view[high]));
  view[low] += change;
  view[high] += change;
}

const zoomTime = (factor, centre = 0.5) => zoom("left", "right", factor, centre);
const zoomAddresses = (factor, centre = 0.5) => zoom("low", "high", factor, centre);

const keys = {
  "+": () => zoomTime(0.7), "=": () => zoomTime(0.7), "-": () => zoomTime(1 / 0.7),
  "*": () => zoomAddresses(0.7), "_": () => zoomAddresses(1 / 0.7),
  ArrowLeft: () => move("left", "right", -0.2), ArrowRight: () => move("left", "right", 0.2),
  ArrowDown: () => move("low", "high", -0.2), ArrowUp: () => move("low", "high", 0.2),
  "0": () => Object.assign(view, whole),
  n: () => select(Math.min(selected + 1, data.blocks.length - 1)),
  p: () => select(Math.max(selected - 1, 0)),
};

function addInput(canvas) {
  canvas.addEventListener("keydown", (event) => {
    const action = event.shiftKey && event.key === "+" ? keys["*"] : keys[event.key];
    if (!action || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    action();
    draw();
  });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const factor = (event.deltaY || event.deltaX) > 0 ? 1.2 : 1 / 1.2;
    if (event.shiftKey) zoomAddresses(factor, 1 - event.offsetY / canvas.clientHeight);
    else zoomTime(factor, event.offsetX / canvas.clientWidth);
    draw();
  }, { passive: false });
  canvas.addEventListener("pointermove", (event) => {
    if (event.buttons !== 1) return;
    move("left", "right", -event.movementX / canvas.clientWidth);
    move("low", "high", event.movementY / canvas.clientHeight);
    draw();
  });
}

function blockAt(event, canvas) {
  for (let i = data.blocks.length - 1; i >= 0; --i) {
    const [x, y, width, height] = rectangleOf(data.blocks[i], canvas.clientWidth,
      canvas.clientHeight);
    if (event.offsetX >= x && event.offsetX <= x + width && event.offsetY >= y &&
      event.offsetY <= y + height)
      return i;
  }
  return -1;
}

// Shows the part of the tree below `root`.
function showFlame(root) {
  const flame = element("flame");
  flame.replaceChildren();
  let depth = 0;
  const add = (node, left, width, level) => {
    depth = Math.max(depth, level);
    const box = document.createElement("button");
    box.type = "button";
    box.style.cssText = `left:${left}%;width:${width}%;top:${level * 20}px`;
    box.textContent = node.name;
    box.title = box.ariaLabel = `${node.name}: ${node.bytes} bytes (${bytesText(node.bytes)}), ` +
      `${node.blocks} blocks`;
    box.addEventListener("click", () => showFlame(node));
    flame.append(box);
    let x = left;
    for (const child of node.children) {
      const part = (width * child.bytes) / Math.max(1, node.bytes);
      if (part > 0.1) add(child, x, part, level + 1);
      x += part;
    }
  };
  add(root, 0, 100, 0);
  flame.style.height = `${(depth + 1) * 20}px`;
}

function showLargest() {
  const live = data.blocks
    .filter(([begin, end]) => begin <= data.peak.time && data.peak.time < end)
    .sort((a, b) => b[3] - a[3]).slice(0, 20);
  for (const [, , position, size, scope, name] of live) {
    const row = element("largest").insertRow();
    [size, data.scopes[scope].name, addressText(position), data.names[name]].forEach((text, i) => {
      const cell = row.insertCell();
      cell.textContent = text;
      if (i === 0) cell.className = "number";
    });
  }
}

function showSummary() {
  document.title = `Memory: ${data.title}`;
  element("title").textContent = data.title;
  element("peak-bytes").textContent = `${data.peak.bytes} bytes (${bytesText(data.peak.bytes)})`;
  element("peak-time").textContent = timeText(data.peak.time);
  element("peak-blocks").textContent = data.peak.blocks;
  element("height").textContent = `${data.height} bytes (${bytesText(data.height)})`;
  element("allocations").textContent = data.allocations;
  element("gap").textContent = data.gap;
  element("gap").hidden = data.gap === "";
  data.scopes.forEach((scope, i) => {
    const key = document.createElement("span");
    key.className = "key";
    key.style.background = colour(i);
    element("legend").append(key, `${scope.name}: peak ${scope.peak} bytes   `);
  });
}

showSummary();
showFlame(data.flame);
showLargest();
addInput(element("live"));
addInput(element("blocks"));
element("blocks").addEventListener("click",
  (event) => select(blockAt(event, element("blocks"))));
element("flame").addEventListener("keydown", (event) => {
  if (event.key === "Escape") showFlame(data.flame);
});
addTheme(draw);
