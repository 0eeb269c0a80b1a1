// Sphinx's own weights; among pages that match alike, public classes come first, then questions, then other names, then the glossary.
var Scorer = {
  score: ([page, , place, , score]) => score + (
    /^reference\/unbraid\.[^.]+$/.test(page) ? 2 : (page === "faq" && !/^#term/.test(place)) || page === "compare" ? 1.5
      : page.startsWith("reference/unbraid.") ? 1 : page === "benchmarks" || page === "changes" ? -12 : 0),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
