// Sphinx's own weights; among pages that match alike, the page of a class or function comes first.
var Scorer = {
  score: ([page, , , , score]) => score + (page.startsWith("reference/unbraid.") ? 1 : 0),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
