// The map of codes: dots, the example under the pointer, a line drawn around some, and arrow keys from dot to dot.

import { askRows, newest, announce } from "./api.js";
import { colour, drawRow, format, rowCanvas } from "./draw.js";

const EDGE = 14;
const byId = (id) => document.getElementById(id);

export class CodeMap {
  constructor(page) {
    Object.assign(this, { page, line: [], chosen: new Set(), at: null, seen: new Map() });
    this.canvas = byId("map");
    this.menus = { run: byId("map-run"), x: byId("map-x"), y: byId("map-y") };
    for (const id of ["pointed", "mean"]) {
      const fresh = rowCanvas();
      Object.assign(byId(id), { width: fresh.width, height: fresh.height });
    }
    this.showPointed = newest(() => this.drawPointed());
    byId("map-run-label").hidden = page.runs.length === 1;
    page.runs.forEach((run, i) => this.menus.run.append(new Option(run.info.title, i)));
    this.menus.run.addEventListener("change", () => this.offerAxes());
    for (const menu of [this.menus.x, this.menus.y]) menu.addEventListener("change", () => this.draw());
    this.listen();
    this.offerAxes();
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  get run() {
    return this.page.runs[Number(this.menus.run.value)];
  }

  offerAxes() {
    const { sliders } = this.run.info;
    const before = [this.menus.x.selectedIndex, this.menus.y.selectedIndex];
    for (const [menu, first, old] of [[this.menus.x, 0, before[0]], [this.menus.y, sliders.length > 1 ? 1 : 2, before[1]]]) {
      menu.replaceChildren(
        ...sliders.map((s, i) => new Option(s.name, i)),
        new Option("projection 1", sliders.length), new Option("projection 2", sliders.length + 1),
      );
      menu.selectedIndex = old >= 0 && old < menu.length ? old : first;
    }
    this.draw();
  }

  axis(menu) {
    const { points, projection } = this.run.info;
    return [...points, ...projection][Number(menu.value)];
  }

  // Places of the dots on the canvas, in pixels.
  place() {
    const { width, height } = this.canvas;
    const scaled = (values, from, to) => {
      const [low, high] = [Math.min(...values), Math.max(...values)];
      return values.map((v) => from + ((to - from) * (v - low)) / (high - low || 1));
    };
    const [x, y] = [this.axis(this.menus.x), this.axis(this.menus.y)];
    const [across, up] = [scaled(x, EDGE, width - EDGE), scaled(y, height - EDGE, EDGE)];
    this.dots = across.map((left, i) => [left, up[i]]);
    this.here = this.position(x, y);
  }

  // Where the sliders stand; a projection has no place for them.
  position(x, y) {
    const { sliders } = this.run.info;
    const parts = [[this.menus.x, x, this.canvas.width, 1], [this.menus.y, y, this.canvas.height, -1]].map(
      ([menu, values, length, sign]) => {
        const slider = sliders[Number(menu.value)];
        if (!slider) return null;
        const [low, high] = [Math.min(...values), Math.max(...values)];
        const part = (this.run.position[slider.code] - low) / (high - low || 1);
        const inner = (length - 2 * EDGE) * part;
        return sign > 0 ? EDGE + inner : length - EDGE - inner;
      });
    return parts.includes(null) ? null : parts;
  }

  draw() {
    const scale = devicePixelRatio || 1;
    this.canvas.width = Math.round(this.canvas.clientWidth * scale);
    this.canvas.height = Math.round(this.canvas.clientHeight * scale);
    this.place();
    const pen = this.canvas.getContext("2d");
    const radius = 2.6 * scale;
    const dot = ([x, y], size) => {
      pen.beginPath();
      pen.arc(x, y, size, 0, 7);
      pen.fill();
    };
    pen.fillStyle = colour("--accent");
    pen.globalAlpha = 0.55;
    this.dots.forEach((d, i) => this.chosen.has(i) || dot(d, radius));
    pen.globalAlpha = 1;
    pen.fillStyle = colour("--look-edge");
    this.chosen.forEach((i) => dot(this.dots[i], radius));
    pen.strokeStyle = colour("--ink");
    pen.lineWidth = 1.5 * scale;
    if (this.at !== null) this.ring(pen, this.dots[this.at], 3 * radius);
    if (this.here) {
      const [x, y] = this.here;
      pen.strokeRect(x - 2 * radius, y - 2 * radius, 4 * radius, 4 * radius);
    }
    if (this.line.length) {
      pen.beginPath();
      this.line.forEach(([x, y]) => pen.lineTo(x, y));
      pen.stroke();
    }
  }

  ring(pen, [x, y], radius) {
    pen.beginPath();
    pen.arc(x, y, radius, 0, 7);
    pen.stroke();
  }

  listen() {
    const spot = (event) => {
      const box = this.canvas.getBoundingClientRect();
      const scale = this.canvas.width / box.width;
      return [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
    };
    this.canvas.addEventListener("pointerdown", (event) => {
      this.canvas.setPointerCapture(event.pointerId);
      this.line = [spot(event)];
      this.drawing = true;
    });
    this.canvas.addEventListener("pointermove", (event) => {
      if (this.drawing) this.line.push(spot(event));
      else this.point(this.nearestDot(spot(event)));
      this.draw();
    });
    this.canvas.addEventListener("pointerup", (event) => {
      const end = spot(event);
      const [x, y] = this.line[0] ?? end;
      const length = this.line.reduce((far, [a, b]) => Math.max(far, Math.hypot(a - x, b - y)), 0);
      this.drawing = false;
      if (length < 12) this.page.goToExample(this.nearestDot(end));
      else this.select();
      this.line = [];
      this.draw();
    });
    this.canvas.addEventListener("keydown", (event) => this.walk(event));
  }

  nearestDot([x, y]) {
    const far = this.dots.map(([a, b]) => Math.hypot(a - x, b - y));
    return far.indexOf(Math.min(...far));
  }

  // The nearest dot that lies more in the direction of the key than across it.
  walk(event) {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (event.key === "Enter" && this.at !== null) this.page.goToExample(this.at);
    if (!step) return;
    event.preventDefault();
    const [x, y] = this.at === null ? [this.canvas.width / 2, this.canvas.height / 2] : this.dots[this.at];
    let [best, nearest] = [null, Infinity];
    this.dots.forEach(([a, b], i) => {
      const along = (a - x) * step[0] + (b - y) * step[1];
      const across = Math.abs((a - x) * step[1]) + Math.abs((b - y) * step[0]);
      if (along > 0.5 && along >= across && Math.hypot(along, across) < nearest) {
        [best, nearest] = [i, Math.hypot(along, across)];
      }
    });
    if (best === null) return;
    this.point(best);
    this.draw();
  }

  point(i) {
    if (i === this.at) return;
    this.at = i;
    this.showPointed();
  }

  async drawPointed() {
    const i = this.at;
    if (!this.seen.has(i)) {
      if (this.seen.size > 200) this.seen.clear();
      this.seen.set(i, (await askRows("examples", { rows: [i] }, 1))[0]);
    }
    drawRow(byId("pointed"), this.seen.get(i));
    const { sliders, points } = this.run.info;
    const name = this.page.overview.examples?.[i] ?? `Example ${i + 1}`;
    const words = `${name}: ${sliders.map((s, k) => `${s.name} ${format(points[k][i])}`).join(", ")}`;
    byId("pointed-words").textContent = words;
    byId("pointed").setAttribute("aria-label", words);
    this.canvas.setAttribute("aria-label", `Map of the codes. ${words}`);
  }

  async select() {
    const path = new Path2D();
    this.line.forEach(([x, y]) => path.lineTo(x, y));
    path.closePath();
    const pen = this.canvas.getContext("2d");
    const rows = this.dots.flatMap(([x, y], i) => (pen.isPointInPath(path, x, y) ? [i] : []));
    this.chosen = new Set(rows);
    const words = `Mean of ${rows.length} example${rows.length === 1 ? "" : "s"}`;
    byId("mean-words").textContent = rows.length ? words : "No examples selected.";
    if (!rows.length) return;
    try {
      drawRow(byId("mean"), (await askRows("mean", { rows }, 1))[0]);
      byId("mean").setAttribute("aria-label", words);
    } catch (error) {
      announce(error.message);
    }
  }
}
