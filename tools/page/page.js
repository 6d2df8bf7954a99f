// What all pages share: the data, colours, units, round ticks and the theme. Without dependencies:
// pages work offline.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const element = (id) => document.getElementById(id);
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function bytesText(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (bytes >= 1024 && unit < units.length - 1) {
    bytes /= 1024;
    ++unit;
  }
  return `${unit === 0 ? bytes : bytes.toFixed(1).replace(/\.0$/, "")} ${units[unit]}`;
}

// The smallest round number that is not below `least`: 1, 2 or 5 times a power of ten; for bytes,
// a power of two.
function roundStep(least, isBytes) {
  if (!(least > 0)) return 1;
  if (isBytes) return 2 ** Math.max(0, Math.ceil(Math.log2(least)));
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least * (1 - 1e-9));
}

// Round numbers from `low` to `high`, at most `count` and a few more.
function ticks(low, high, count, isBytes = false) {
  const step = roundStep((high - low) / count, isBytes);
  const found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high; ++i) found.push(i * step);
  return found;
}

// Clears a canvas and gives it one pixel per pixel of the screen.
function prepare(canvas) {
  const scale = window.devicePixelRatio || 1;
  const width = canvas.clientWidth, height = canvas.clientHeight;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const context = canvas.getContext("2d");
  context.scale(scale, scale);
  return { context, width, height };
}

// Text on a background, so that it is legible on top of a drawing.
function drawLabel(context, text, x, y) {
  context.font = "12px system-ui, sans-serif";
  context.globalAlpha = 0.75;
  context.fillStyle = css("--back");
  context.fillRect(x - 2, y - 11, context.measureText(text).width + 4, 14);
  context.globalAlpha = 1;
  context.fillStyle = css("--front");
  context.fillText(text, x, y);
}

// Shows the system's theme, and the other one after each click. `draw` draws the canvases.
function addTheme(draw) {
  const set = (theme) => {
    document.documentElement.dataset.theme = theme;
    draw();
  };
  element("theme").addEventListener("click",
    () => set(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
  window.addEventListener("resize", draw);
  set(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
}

