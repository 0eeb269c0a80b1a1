// Rows on canvases: pictures pixel by pixel, curves as lines; colours are those of the page.

const CURVE = { width: 512, height: 320 };
const SMALL_CURVE = { width: 134, height: 84 }; // a canvas that is scaled down much loses its line
let data = null;

export function drawsAs(overview) {
  data = overview;
}

export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// Blue over grey to orange: order is seen without red and green.
export function ramp(share) {
  return `hsl(${share < 0.5 ? 212 : 28} ${20 + 130 * Math.abs(share - 0.5)}% 50%)`;
}

export function element(name, attributes = {}, ...children) {
  const found = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key in found && key !== "list") found[key] = value;
    else found.setAttribute(key, value);
  }
  found.append(...children);
  return found;
}

export function rowCanvas(attributes = {}) {
  return element("canvas", { className: "pixels", role: "img", ...size(1), ...attributes });
}

function size(n) {
  if (data.kind === "curve") return CURVE;
  return { width: n * data.width, height: data.height };
}

export function drawRow(canvas, row, small = false) {
  drawStrip(canvas, [row], small);
}

// Several rows in one canvas: pictures side by side, curves over each other from blue to orange.
export function drawStrip(canvas, rows, small = false) {
  const { width, height } = data.kind === "curve" && small ? SMALL_CURVE : size(rows.length);
  Object.assign(canvas, { width, height });
  canvas.classList.toggle("pixels", data.kind === "picture");
  const pen = canvas.getContext("2d");
  if (data.kind === "picture") {
    rows.forEach((row, i) => {
      pen.drawImage(row.sheet, row.left, row.top, row.width, row.height, i * data.width, 0, data.width, data.height);
    });
    return;
  }
  const colours = rows.map((_, i) => (rows.length > 1 ? ramp(i / (rows.length - 1)) : colour("--accent")));
  drawLines(canvas, rows, colours, data.low, data.high);
}

function drawLines(canvas, lines, colours, low, high) {
  const pen = canvas.getContext("2d");
  const { width, height } = canvas;
  const edge = width / 64;
  pen.clearRect(0, 0, width, height);
  pen.lineWidth = 2;
  lines.forEach((line, k) => {
    pen.strokeStyle = colours[k];
    pen.beginPath();
    let drawn = false;
    line.forEach((value, i) => {
      if (value === null) return;
      const x = edge + ((width - 2 * edge) * i) / Math.max(1, line.length - 1);
      const y = height - edge - ((height - 2 * edge) * (value - low)) / (high - low || 1);
      if (drawn) pen.lineTo(x, y);
      else pen.moveTo(x, y);
      drawn = true;
    });
    pen.stroke();
  });
}

export function drawHistory(canvas, panel) {
  Object.assign(canvas, { width: 480, height: 256 });
  const values = panel.lines.flat().filter((value) => value !== null);
  drawLines(canvas, panel.lines, panel.lines.map(() => colour("--accent")), Math.min(...values), Math.max(...values));
}

export function format(value) {
  return Number(value.toPrecision(3)).toString();
}
