// The page: the selected variable, and the panels that show it.
const PAIRS = 6, FEW_PARTICLES = 10; // fewer are not judged, as in svmp summary
let chosenVariable = 0, allPairs = false, tab = null;
const element = (id) => document.getElementById(id);

function addFact(list, name, value) {
  list.append("dt").text(name);
  list.append("dd").text(value);
}

function showHeader() {
  document.title = `${run.file}: svmp report`;
  element("file").textContent = run.file;
  const s = run.sampling, facts = [["variables", run.all.toLocaleString("en")]];
  if (nodes.length && nodes.length !== variables) facts.push(["nodes", nodes.length.toLocaleString("en")]);
  facts.push(run.chains > 1 ? ["chains × draws", `${run.chains} × ${run.particles / run.chains}`] : [units(), run.particles.toLocaleString("en")]);
  for (const [key, name] of [["method", "method"], ["iterations done", "iterations"], ["outcome", "outcome"], ["seed", "seed"]])
    if (record.has(key)) facts.push([name, record.get(key)]);
  if (record.has("seconds")) facts.push([record.has("resumed at") ? "time since resumed" : "time", `${record.get("seconds")} s`]);
  if (s) facts.push(["acceptance", s.acceptance.toFixed(2)]);
  if (s && s.leapfrogs !== undefined) facts.push(["divergent", s.divergent]);
  if (s && s.ebfmi !== undefined) facts.push(["E-BFMI", s.ebfmi.toFixed(2)]);
  for (const [name, value] of facts) addFact(d3.select("#facts").append("div"), name, value);
  const notice = (text, warn) => d3.select("#notices").append("p").attr("class", warn ? "notice warn" : "notice").text(text);
  const outcome = record.get("outcome"), unconverged = (why) => notice(`Not converged: do not use these numbers. ${why}`, true);
  if (outcome === "diverged" || outcome === "stopped" || outcome === "unfinished") notice(`The run did not finish: it ${outcome === "unfinished" ? "is unfinished" : outcome}.`, true);
  if (s && s.divergent > 0 && !record.has("verdict_text")) notice(`${s.divergent} of ${run.particles} trajectories diverged: the draws may miss a narrow part of the posterior.`, true);
  const mixed = run.columns.includes("R-hat") ? allRHat().filter((v) => v > highRHat).length : 0;
  if (mixed && !record.has("verdict_text")) unconverged(`R-hat is above ${highRHat} for ${mixed} of ${run.all} variables: ${run.chains > 1 ? "the chains have not mixed" : "the chain has not settled"}.`);
  const [beyond, of] = (record.get("ksd_beyond") || "0 of 0").split(" of ").map(Number);
  const verdict = record.get("verdict_text");
  if (verdict) {
    notice([verdict, run.advice].filter(Boolean).join(" "), record.get("verdict") !== "passed");
    if (beyond && !verdict.includes(" nodes ")) notice(`By their discrepancy, ${beyond} of ${of} nodes fail.`, true);
  } else if (of && run.particles < FEW_PARTICLES) notice(`Fewer than ${FEW_PARTICLES} particles: too few to judge convergence.`, true);
  else if (beyond) unconverged(`${beyond} of ${of} nodes ${beyond === 1 ? "is" : "are"} farther from the posterior than exact draws would be${worst ? ` (worst: ${worst})` : ""}.`);
  if (/^[dt]pmp$/.test(record.get("method"))) notice("The particles represent modes: their spread is not that of the posterior.", true);
  if (run.shown < run.particles) notice(`The plots show ${run.shown.toLocaleString("en")} of ${run.particles.toLocaleString("en")} ${units()}, evenly spaced; the table uses all of them.`);
}

// What stands in the file for other programs alone.
const forOthers = /^(num_samples|num_warmup|save_warmup|id|thin|verdict_advice \d+)$/;

function showConfiguration() {
  for (const [name, value] of record) if (!forOthers.test(name)) addFact(d3.select("#record").append("div"), name, value);
  element("remarks").textContent = remarks.join("\n");
  if (run.comments.length === 0) element("remarks").textContent = "The file does not record how it was made.";
  element("footer").textContent = `Made by svmp ${run.svmp}. Drawn with D3 ${d3.version} by Mike Bostock (d3js.org), which is included in this page.`;
}

function buildPicture() {
  const tabs = [];
  if (planar.length) tabs.push("Map");
  if (run.graph && (run.graph.edges || isWhole())) tabs.push("Graph");
  if (run.graph && run.all > variables) tabs.length = planar.length ? 1 : 0; // a large graph has its statistics alone
  if (run.graph) for (const [name, value] of run.graph.statistics) addFact(d3.select("#statistics").append("div"), name, value);
  else element("statistics").remove();
  if (!tabs.length && !run.graph) return;
  element("picture").hidden = false;
  document.querySelector(".columns").classList.add("two");
  for (const name of tabs) {
    const button = d3.select("#tabs").append("button").attr("role", "tab").attr("data-tab", name).text(name).node();
    button.addEventListener("click", () => {
      tab = name;
      showPicture();
    });
  }
  tab = tabs[0] || "";
  measures.forEach((measure, k) => d3.select("#colour").append("option").attr("value", k).text(measure.name));
  element("colour").addEventListener("change", showPicture);
}

function showPicture() {
  if (element("picture").hidden) return;
  for (const button of element("tabs").children) button.setAttribute("aria-selected", button.dataset.tab === tab);
  element("colour-label").hidden = tab !== "Graph";
  const drawing = element("drawing");
  drawing.textContent = "";
  if (tab === "Map") {
    drawMap(drawing, pointOf.get(chosenVariable), choose);
    element("picture-caption").textContent = mapCaption();
  } else {
    const focus = nodeOf[chosenVariable] || nodes[0];
    if (tab === "Graph") drawGraph(drawing, focus, measures[Number(element("colour").value)], choose);
    element("picture-caption").textContent = tab ? graphCaption(focus) : "";
  }
}

// Who stands beside variable i: the rest of its node, its neighbours by the graph, or those most correlated with it.
function partners(i) {
  const own = companions(i).filter((j) => j !== i), node = nodeOf[i], known = node && run.graph.edges;
  let others = known ? node.near.flatMap((other) => other.variables) : d3.range(variables);
  others = others.filter((j) => j !== i && !own.includes(j));
  const x = particlesOf(i), r = new Map(others.map((j) => [j, Math.abs(correlation(x, particlesOf(j))) || 0]));
  others.sort((a, b) => r.get(b) - r.get(a) || a - b);
  return {list: [...own, ...(known ? others : others.slice(0, PAIRS - own.length > 0 ? PAIRS : 0))], known};
}

function showDetail() {
  const i = chosenVariable, node = nodeOf[i], about = [];
  element("chosen").textContent = node && node.variables.length > 1 ? `${run.names[i]} of ${node.name}` : run.names[i];
  if (node) about.push(`Markov blanket of ${node.blanket} node${node.blanket === 1 ? "" : "s"}`);
  if (node && ksd.has(node.name)) about.push(`KSD ${short(ksd.get(node.name).value)} relative to exact draws`);
  element("about").textContent = about.join(", ");
  const group = companions(i), marginals = element("marginals");
  marginals.textContent = "";
  for (const j of group.length <= 4 ? group : [i]) {
    drawMarginal(marginals, j);
    if (areChains() && new Set(particlesOf(j)).size > 1) drawTrace(marginals, particlesOf(j), run.names[j]);
  }
  const {list, known} = partners(i), pairs = element("pairs"), few = list.slice(0, allPairs ? 60 : PAIRS);
  pairs.textContent = "";
  element("pairs-title").textContent = !list.length ? "" : known ? `${run.names[i]} against its neighbours` : `${run.names[i]} against the most correlated variables`;
  for (const j of few) drawPair(pairs, i, j, choose);
  element("more-pairs").hidden = few.length === list.length || allPairs;
  element("more-pairs").textContent = `show more (${list.length - few.length} left)`;
}

function choose(i, scroll) {
  chosenVariable = i;
  allPairs = false;
  showPicture();
  showDetail();
  markRow(i);
  const detail = element("detail").getBoundingClientRect();
  if (scroll === true || (scroll !== false && detail.top > window.innerHeight * 0.8)) element("detail").scrollIntoView({block: "nearest"});
}

function step(by) {
  const at = table.found.indexOf(chosenVariable), next = table.found[(at + by + table.found.length) % table.found.length];
  if (next !== undefined) choose(next);
}

// The page opens on what matters: a map, or rasters and series where there are no scalars, else the parameters.
function arrange() {
  const main = document.querySelector("main"), scalars = run.names.some((name) => !isElement(name));
  if (planar.length) {
    const columns = document.querySelector(".columns");
    columns.prepend(element("picture"));
    main.prepend(columns);
  } else if (!scalars && fields.length) main.prepend(element("fields"));
}

showHeader();
buildPicture();
buildTable(choose);
showConfiguration();
showFields();
showPredictive();
arrange();
fillTable(choose);
showConvergence();
showData();
choose(run.all < 51 && !planar.length ? table.order[0] : run.opens, false);
element("before").addEventListener("click", () => step(-1));
element("after").addEventListener("click", () => step(1));
element("more-pairs").addEventListener("click", () => {
  allPairs = true;
  showDetail();
});
let width = window.innerWidth, waiting = 0;
window.addEventListener("resize", () => {
  if (window.innerWidth === width) return; // a phone's bars come and go
  width = window.innerWidth;
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    showPicture();
    showDetail();
    showFields();
    showPredictive();
    showConvergence();
    showData();
  }, 120);
});
window.addEventListener("beforeprint", () => { // on paper there is no button to press
  table.shown = Math.max(table.shown, 500);
  fillTable(choose);
});
document.documentElement.dataset.ready = Math.round(performance.now()); // milliseconds from the start of the load
