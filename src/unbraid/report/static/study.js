const read = cell => {
  const text = cell.textContent.trim(), number = Number(text.replace("%", "").replace("\u2212", "-"));
  return text === "" || text === "\u2013" ? null : Number.isNaN(number) ? text : number;
};
const compare = (a, b) => a === null || b === null ? (a === null) - (b === null)
  : typeof a === typeof b ? (typeof a === "number" ? a - b : a.localeCompare(b)) : typeof a === "number" ? -1 : 1;
for (const table of document.querySelectorAll("table")) {
  const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach(other => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...body.rows].map(row => [read(row.cells[column]), row]);
      rows.sort(([a], [b]) => a === null || b === null ? compare(a, b) : down ? compare(b, a) : compare(a, b));
      body.replaceChildren(...rows.map(([, row]) => row));
    });
  });
  table.classList.toggle("wide", heads.length > 8);
  if (body.rows.length > 20) {
    const filter = document.createElement("input");
    filter.type = "search";
    filter.className = "filter";
    filter.placeholder = "show rows that contain\u2026";
    filter.setAttribute("aria-label", "show rows that contain");
    filter.addEventListener("input", () => {
      const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
      for (const row of body.rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every(word => text.includes(word));
      }
    });
    table.parentElement.before(filter);
  }
}
for (const cell of document.querySelectorAll("td:first-child")) {
  const id = "run-" + cell.textContent;
  if (document.getElementById(id)) {
    const link = document.createElement("a");
    link.href = "#" + id;
    link.textContent = cell.textContent;
    cell.replaceChildren(link);
  }
}
const reveal = () => {
  const target = location.hash && document.getElementById(location.hash.slice(1));
  if (target) { target.closest("details").open = true; target.scrollIntoView({block: "center"}); }
};
addEventListener("hashchange", reveal);
reveal();
