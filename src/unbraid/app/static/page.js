// The page: fetches what there is, builds a panel per model, and keeps them in step.

import { afterwards, ask, askRows, newest, announce } from "./api.js";
import { drawsAs, drawStrip, element, rowCanvas } from "./draw.js";
import { CodeMap } from "./map.js";
import { Run, share, valueAt } from "./run.js";
import { words } from "./words.js";

const STEPS = 9;
const byId = (id) => document.getElementById(id);

class Page {
  constructor(overview) {
    this.overview = overview;
    this.runs = [];
    this.ends = {};
    drawsAs(overview);
    overview.runs.forEach((info, i) => this.runs.push(new Run(i, info, this)));
    byId("runs").replaceChildren(...this.runs.map((run) => run.panel));
    byId("words").replaceChildren(...this.runs.flatMap(words));
    byId("what").textContent = overview.runs.map((info) => info.title).join(" and ");
    byId("together-label").hidden = this.runs.length === 1;
    this.drawMap = afterwards(() => this.map.draw(), 30);
    this.map = new CodeMap(this);
    this.listen();
    this.runs.forEach((run) => run.refresh());
  }

  listen() {
    byId("middle").addEventListener("click", () => this.runs.forEach((run) => run.moveTo(run.info.start)));
    byId("random").addEventListener("click", () => {
      this.goToExample(Math.floor(Math.random() * this.overview.n_examples));
    });
    byId("file").accept = this.overview.kind === "picture" ? "image/*" : ".csv,.txt,text/plain";
    byId("file").addEventListener("change", (event) => this.encode(event.target.files[0]));
    for (const name of ["dragover", "dragleave", "drop"]) {
      document.addEventListener(name, (event) => {
        event.preventDefault();
        document.body.classList.toggle("dropping", name === "dragover");
        if (name === "drop") this.encode(event.dataTransfer.files[0]);
      });
    }
    this.walk = newest(() => this.drawBetween());
    for (const end of ["a", "b"]) {
      byId(`keep-${end}`).addEventListener("click", () => {
        this.ends[end] = this.runs.map((run) => [...run.position]);
        byId("between").disabled = !(this.ends.a && this.ends.b);
        announce(end === "a" ? "Start set." : "End set.");
        if (!byId("between").disabled) this.walk();
      });
    }
    byId("between").addEventListener("input", (event) => {
      this.runs.forEach((run, i) => run.moveTo(this.between(i, Number(event.target.value))));
    });
  }

  async goToExample(row) {
    try {
      const { codes } = await (await ask("position", { rows: [row] })).json();
      this.runs.forEach((run, i) => run.moveTo(codes[i]));
      announce(`The sliders show example ${row + 1}.`);
    } catch (error) {
      announce(error.message);
    }
  }

  async encode(file) {
    if (!file) return;
    try {
      const { codes } = await (await ask("encode", file)).json();
      this.runs.forEach((run, i) => run.moveTo(codes[i]));
      announce(`${file.name} was encoded; the sliders show its codes.`);
    } catch (error) {
      announce(`${file.name}: ${error.message}`);
    }
  }

  // A matched factor of another model goes to the same share of its data; a mirrored one to the other end.
  followed(mover, info, value) {
    if (!byId("together").checked) return;
    const first = mover.index === 0 ? info.code : info.match?.code;
    if (first === undefined) return;
    const mirrored = (slider) => (slider.match ? slider.match.correlation < 0 : false);
    const wanted = mirrored(info) ? 1 - share(info, value) : share(info, value);
    for (const run of this.runs) {
      const slider = run.info.sliders.find((s) => (run.index === 0 ? s.code : s.match?.code) === first);
      if (run === mover || !slider) continue;
      run.position[slider.code] = valueAt(slider, mirrored(slider) ? 1 - wanted : wanted);
      run.refresh();
    }
  }

  positionChanged() {
    this.drawMap();
  }

  namesChanged() {
    this.runs.forEach((run) => run.refresh());
    this.map.offerAxes();
  }

  between(i, share) {
    return this.ends.a[i].map((start, k) => start + share * (this.ends.b[i][k] - start));
  }

  async drawBetween() {
    const strips = [];
    for (const run of this.runs) {
      const codes = Array.from({ length: STEPS }, (_, k) => this.between(run.index, k / (STEPS - 1)));
      const canvas = rowCanvas({ "aria-label": `From start to end by ${run.info.title}` });
      drawStrip(canvas, await askRows("decode", { run: run.index, codes }, STEPS));
      strips.push(element("div", { className: "strip" }, element("p", {}, run.info.title), canvas));
    }
    byId("between-strips").replaceChildren(...strips);
  }
}

// The first picture may be there before the model is: until then, what moves has to wait.
async function untilLoaded(overview) {
  if (!overview.loading) return;
  announce("Loading the model; the sliders will work in a moment.");
  try {
    await ask("loaded");
    announce("");
  } catch (error) {
    announce(error.message);
  }
}

try {
  const overview = await (await ask("runs")).json();
  new Page(overview);
  document.body.dataset.ready = "yes";
  await untilLoaded(overview);
} catch (error) {
  announce(`The page could not be loaded: ${error.message}`);
}
