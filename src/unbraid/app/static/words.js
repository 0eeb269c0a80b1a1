// What each model says about itself: how far to trust it, beside its picture; figures, how settings were chosen, and how
// the training went, at the end.

import { drawHistory, element, format } from "./draw.js";

export function words(run, i) {
  const info = run.info;
  if (!info.choices.length && !info.facts.length && !info.training.length) return [];
  const parts = [element("h2", { id: `words-${i}` }, `Figures of ${info.title}`)];
  if (info.choices.length) parts.push(...info.choices.map((text) => element("p", { className: "hint" }, text)));
  if (info.facts.length) parts.push(element("div", { className: "scroll", tabIndex: 0, role: "region",
    "aria-label": `Table of the figures of ${info.title}` }, facts(info)));
  if (info.training.length) parts.push(...training(info));
  return element("section", { "aria-labelledby": `words-${i}` }, ...parts);
}

export function trust(info) {
  if (info.concerns.length) {
    return element("div", { className: "trust look", role: "note" },
      element("p", {}, element("strong", {}, "Warnings:")), ...info.concerns.map((text) => element("p", {}, text)));
  }
  return element("div", { className: info.checked ? "trust good" : "trust", role: "note" }, element("p", {}, info.note));
}

function facts(info) {
  const head = element("tr", {}, ...["figure", "value", "what it means"].map((t) => element("th", { scope: "col" }, t)));
  const rows = info.facts.map(([name, value, meaning]) => element("tr", {},
    element("th", { scope: "row" }, name), element("td", {}, value), element("td", {}, meaning)));
  return element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows));
}

function training(info) {
  const panels = info.training.map((panel) => {
    const last = panel.lines.map((line) => line.at(-1)).filter((value) => value !== null);
    const end = last.length ? format(Math.min(...last)) : "not recorded";
    const label = `${panel.name}: ${end} after ${panel.steps.at(-1)} steps`;
    const canvas = element("canvas", { role: "img", "aria-label": `Training curve, ${label}` });
    drawHistory(canvas, panel);
    return element("figure", {}, element("figcaption", {}, label), canvas);
  });
  return [element("h3", {}, "Training"), element("div", { className: "curves" }, ...panels)];
}
