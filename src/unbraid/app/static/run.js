// One model: its picture, a slider per factor, traversal strips, the nearest real examples and downloads.

import { afterwards, ask, askRows, download, newest, announce } from "./api.js";
import { dial } from "./dial.js";
import { drawRow, drawStrip, element, format, rowCanvas } from "./draw.js";
import { trust } from "./words.js";

const STEPS = 9;
const client = crypto.randomUUID ? crypto.randomUUID() : String(Math.random());
let number = 0;

export class Run {
  constructor(index, info, page) {
    Object.assign(this, { index, info, page, position: [...info.start], sliders: new Map(), rest: null, moves: 0, shown: {} });
    this.picture = rowCanvas({ className: "now pixels" });
    this.caption = element("figcaption");
    this.strips = element("div");
    this.near = element("div", { className: "row" });
    this.draw = newest(() => this.drawNow());
    this.drawRest = afterwards(newest(() => this.drawStripsAndNear()), 150);
    this.panel = this.build();
  }

  build() {
    const title = element("h2", { id: `run-${this.index}` }, this.info.title);
    const sliders = element("div", { className: "sliders" }, ...this.sliderBoxes());
    const figure = element("figure", {}, this.picture, this.caption);
    const nearWords = this.info.decodes
      ? "Nearest real examples"
      : "Nearest real examples (this model cannot decode: the picture above is the first of them)";
    return element("section", { className: "run", "aria-labelledby": title.id },
      title,
      element("div", { className: "stage" }, figure, sliders),
      trust(this.info),
      element("h3", {}, nearWords), this.near,
      element("h3", {}, "Each factor varied alone, from here"), this.strips,
      this.downloads());
  }

  // Codes that hardly move the data are folded away: a VAE may have many of them.
  sliderBoxes() {
    const { sliders } = this.info;
    const [loud, quiet] = [false, true].map((q) => sliders.filter((s) => s.quiet === q).map((s) => this.slider(s)));
    if (!quiet.length) return loud;
    const what = quiet.length === 1 ? "1 code that hardly moves" : `${quiet.length} codes that hardly move`;
    this.rest = element("details", {}, element("summary", {}, `${what} the data`), ...quiet);
    this.rest.addEventListener("toggle", () => this.drawRest());
    return [...loud, this.rest];
  }

  slider(info) {
    const range = element("input", {
      type: "range", min: info.low, max: info.high, step: (info.high - info.low) / 200,
      id: `slider-${this.index}-${info.code}`,
    });
    const name = element("input", {
      type: "text", value: info.name, maxLength: 60, "aria-label": `Name of code ${info.code + 1}`,
      id: `name-${this.index}-${info.code}`, spellcheck: false, title: "Click to rename",
    });
    const value = element("output", { className: "value" });
    range.addEventListener("input", () => this.moved(info, Number(range.value)));
    name.addEventListener("change", () => this.rename(info, name));
    name.addEventListener("keydown", (event) => event.key === "Enter" && name.blur());
    const box = element("div", { className: "slider" }, name, value,
      element("div", { className: "track" }, histogram(info.counts), range));
    const matched = info.match ? element("p", { className: "value matched" }) : null;
    if (matched) box.append(matched);
    if (info.reach !== null) box.title = `Moves the data by ${info.reach} (root mean square, 10th to 90th percentile).`;
    const face = info.circle ? dial(info, (angle) => this.moved(info, angle)) : null;
    if (face) box.append(face.face);
    this.sliders.set(info.code, { info, range, value, name, matched, face });
    return box;
  }

  matchWords(match) {
    const first = this.page.runs[0].info.sliders.find((s) => s.code === match.code);
    const mirrored = match.correlation < 0 ? ", mirrored" : "";
    return `matches “${first.name}” of ${this.page.runs[0].info.title}, correlation ${Math.abs(match.correlation).toFixed(2)}${mirrored}`;
  }

  downloads() {
    const tools = element("div", { className: "tools", role: "group", "aria-label": "Downloads" });
    const add = (text, work) => {
      const button = element("button", { type: "button" }, text);
      button.addEventListener("click", newest(work));
      tools.append(button);
    };
    add("Picture (PNG)", async () => {
      download(await new Promise((done) => this.picture.toBlob(done)), "picture.png");
    });
    if (this.page.overview.kind === "picture") {
      add("Moving factors (GIF)", async () => {
        download(await (await ask("gif", { run: this.index, codes: [this.position] })).blob(), "factors.gif");
      });
    }
    tools.append(element("a", { className: "button", href: `codes.csv?run=${this.index}`, download: "codes.csv" },
      "Codes (CSV)"));
    return tools;
  }

  moved(info, value) {
    this.position[info.code] = value;
    this.page.followed(this, info, value);
    this.refresh();
  }

  moveTo(position) {
    this.position = [...position];
    this.refresh();
  }

  refresh() {
    this.moves += 1;
    delete this.panel.dataset.settled;
    for (const { info, range, value, matched, face } of this.sliders.values()) {
      const now = this.position[info.code];
      if (Number(range.value) !== now) range.value = now;
      value.textContent = format(now);
      if (matched) matched.textContent = this.matchWords(info.match);
      if (face) face.point(now);
      range.setAttribute("aria-label", info.name);
      range.setAttribute("aria-valuetext", `${format(now)}, ${Math.round(100 * share(info, now))} % of the data below`);
    }
    this.draw();
    this.drawRest();
    this.page.positionChanged();
  }

  // The panel is settled once its picture and all below it show the newest position.
  showed(part, moves) {
    this.shown[part] = moves;
    if (this.shown.now === this.moves && this.shown.rest === this.moves) this.panel.dataset.settled = this.moves;
  }

  async rename(info, field) {
    try {
      const answer = await (await ask("name", { run: this.index, code: info.code, name: field.value })).json();
      info.name = field.value = answer.name;
      announce(this.info.saved ? `Saved with the run: ${answer.name}.` : `Named ${answer.name} while this page is open.`);
      this.page.namesChanged();
    } catch (error) {
      field.value = info.name;
      announce(error.message);
    }
  }

  async drawNow() {
    const { moves } = this;
    const question = { run: this.index, codes: [this.position], client: `${client}-${this.index}`, number: ++number };
    const rows = await askRows("decode", question, 1);
    if (!rows) return;
    drawRow(this.picture, rows[0]);
    const where = this.info.sliders.map((s) => `${s.name} ${format(question.codes[0][s.code])}`).join(", ");
    this.picture.setAttribute("aria-label", `${this.info.decodes ? "Decoded data" : "Nearest example"} at ${where}`);
    this.picture.dataset.drawn = question.number;
    this.showed("now", moves);
  }

  async drawStripsAndNear() {
    const { moves } = this;
    const sliders = this.info.sliders.filter((s) => !s.quiet || this.rest.open);
    const codes = sliders.flatMap((s) => steps(s).map((value) => this.position.with(s.code, value)));
    const rows = await askRows("decode", { run: this.index, codes }, codes.length);
    this.strips.replaceChildren(...sliders.map((s, i) => {
      const label = `${s.name}, from ${format(s.low)} to ${format(s.high)}`;
      const canvas = rowCanvas({ "aria-label": `The data as ${label}` });
      drawStrip(canvas, rows.slice(i * STEPS, (i + 1) * STEPS));
      return element("div", { className: "strip" }, element("p", {}, label), canvas);
    }));
    const found = (await (await ask("nearest", { run: this.index, codes: [this.position] })).json()).rows;
    const pictures = await askRows("examples", { rows: found }, found.length);
    this.near.replaceChildren(...pictures.map((row, i) => {
      const canvas = rowCanvas({ "aria-hidden": "true", role: "presentation" });
      drawRow(canvas, row, true);
      const button = element("button", { type: "button", "aria-label": `Go to example ${found[i] + 1}` }, canvas);
      button.addEventListener("click", () => this.page.goToExample(found[i]));
      return button;
    }));
    this.showed("rest", moves);
  }
}

function steps(slider) {
  const inset = (slider.circle ? 0 : 0.03) * (slider.high - slider.low);
  const width = slider.high - slider.low - 2 * inset;
  return Array.from({ length: STEPS }, (_, i) => slider.low + inset + (width * i) / (STEPS - 1));
}

// The share of the data below a value, by the histogram; and the value of a share.
export function share(info, value) {
  const total = info.counts.reduce((a, b) => a + b, 0);
  const place = ((value - info.low) / (info.high - info.low)) * info.counts.length;
  const below = info.counts.reduce((sum, count, i) => sum + count * Math.min(1, Math.max(0, place - i)), 0);
  return below / total;
}

export function valueAt(info, wanted) {
  const total = info.counts.reduce((a, b) => a + b, 0);
  const width = (info.high - info.low) / info.counts.length;
  let below = 0;
  for (let i = 0; i < info.counts.length; i += 1) {
    const inside = info.counts[i] / total;
    if (inside > 0 && below + inside >= wanted) return info.low + width * (i + (wanted - below) / inside);
    below += inside;
  }
  return info.high;
}

function histogram(counts) {
  const space = "http://www.w3.org/2000/svg";
  const picture = document.createElementNS(space, "svg");
  picture.setAttribute("viewBox", `0 0 ${counts.length} 100`);
  picture.setAttribute("preserveAspectRatio", "none");
  picture.setAttribute("aria-hidden", "true");
  const most = Math.max(...counts);
  counts.forEach((count, i) => {
    const bar = document.createElementNS(space, "rect");
    const height = (100 * count) / most;
    for (const [key, value] of Object.entries({ x: i + 0.06, y: 100 - height, width: 0.88, height })) {
      bar.setAttribute(key, value);
    }
    picture.append(bar);
  });
  return picture;
}
