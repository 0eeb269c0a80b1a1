// Sphinx's own weights; among pages that match alike, public classes come first, then questions, then other names. A term of the
// glossary, which Sphinx puts 100 points ahead, comes after the name that it explains.
var Scorer = {
  score: ([page, , place, , score]) => score + (
    /^#term-/.test(place) ? -90 : /^reference\/unbraid\.[^.]+$/.test(page) ? 2 : page === "faq" || page === "compare" ? 1.5
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
