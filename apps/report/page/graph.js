// The graph: all of it up to some hundred nodes; for larger graphs, the nodes around the selected one.
const WHOLE = 500, NEAR = 60;

const measures = [
  {name: "KSD relative to exact draws", known: ksd.size > 0, of: (node) => (ksd.has(node.name) ? ksd.get(node.name).value : NaN)},
  {name: "standard deviation", known: true, of: (node) => Math.sqrt(d3.mean(node.variables, (i) => number(i, "sd") ** 2))},
  {name: "mean", known: nodes.every((node) => node.variables.length <= 1), of: (node) => (node.variables.length ? number(node.variables[0], "mean") : NaN)},
  {name: "size of the Markov blanket", known: true, of: (node) => node.blanket},
].filter((measure) => measure.known);

const isWhole = () => nodes.length <= WHOLE;

// The nodes to draw when `focus` is looked at: all, or its neighbours, theirs, and so on.
function visible(focus) {
  if (isWhole()) return nodes;
  const shown = new Set([focus]);
  for (const node of shown) { // a set goes on with what is added to it
    for (const other of node.near) if (shown.size < NEAR) shown.add(other);
    if (shown.size >= NEAR) break;
  }
  return [...shown];
}

const layouts = new Map(); // whole graph: "all"; else by focus
function layout(shown, key) {
  if (layouts.has(key)) return layouts.get(key);
  const flat = shown.map((node) => pointOf.get(node.variables[0])).every((point, k) => point && shown[k].variables.length === 2);
  const spots = shown.map((node, k) => ({id: node.id, index: k}));
  const at = new Map(spots.map((spot) => [spot.id, spot]));
  if (flat)
    spots.forEach((spot, k) => {
      spot.x = number(shown[k].variables[0], "mean");
      spot.y = -number(shown[k].variables[1], "mean");
    });
  else {
    const links = [];
    for (const node of shown) for (const other of node.near) if (other.id > node.id && at.has(other.id)) links.push({source: at.get(node.id), target: at.get(other.id)});
    const pull = d3.forceLink(links).distance(30).iterations(shown.length < 200 ? 3 : 1);
    if (links.length < 4 * shown.length) pull.strength(0.8);
    const forces = d3.forceSimulation(spots).force("push", d3.forceManyBody().strength(-90).distanceMax(400)).force("link", pull)
      .force("x", d3.forceX().strength(0.03)).force("y", d3.forceY().strength(0.03)).stop();
    const until = performance.now() + 1200; // the picture is there at once, if not at rest
    for (let tick = 0; tick < 300 && performance.now() < until; tick++) forces.tick();
  }
  at.most = flat ? Infinity : 3; // how much it may be enlarged
  layouts.set(key, at);
  return at;
}

function drawGraph(parent, focus, measure, choose) {
  const shown = visible(focus), at = layout(shown, isWhole() ? "all" : focus.id);
  const width = widthOf(parent), height = Math.round(Math.min(width * 0.8, 560, 150 + 9 * shown.length)), margin = 22;
  const xs = d3.extent(shown, (node) => at.get(node.id).x), ys = d3.extent(shown, (node) => at.get(node.id).y);
  const fit = Math.min((width - 2 * margin) / (xs[1] - xs[0] || 1), (height - 2 * margin) / (ys[1] - ys[0] || 1), at.most);
  const x = (node) => width / 2 + (at.get(node.id).x - (xs[0] + xs[1]) / 2) * fit, y = (node) => height / 2 + (at.get(node.id).y - (ys[0] + ys[1]) / 2) * fit;

  const values = shown.map(measure.of), known = values.filter(Number.isFinite);
  const ends = known.length ? d3.extent(known) : [0, 1];
  const colour = d3.scaleSequential((t) => d3.interpolateViridis(0.08 + 0.87 * t)).domain(ends[0] < ends[1] ? ends : [ends[0] - 0.5, ends[1] + 0.5]);

  const plot = svg(parent, width, height, "the graph of the model"), inner = plot.append("g");
  const lines = (pairs, className) => inner.append("path").attr("class", className)
    .attr("d", pairs.map(([a, b]) => `M${x(a).toFixed(1)},${y(a).toFixed(1)}L${x(b).toFixed(1)},${y(b).toFixed(1)}`).join(""));
  const pairs = [];
  for (const node of shown) for (const other of node.near) if (other.id > node.id && at.has(other.id)) pairs.push([node, other]);
  const touches = ([a, b]) => a === focus || b === focus;
  lines(pairs.filter((pair) => !touches(pair)), "edges").attr("stroke-width", pairs.length > 1500 ? 0.5 : 1);
  lines(pairs.filter(touches), "edges near");
  const radius = Math.max(3.5, Math.min(9, Math.sqrt(width * height / shown.length) / 7));
  shown.forEach((node, k) => {
    const beyond = ksd.has(node.name) && ksd.get(node.name).excess > 1;
    const circle = inner.append("circle").attr("class", `node${Number.isFinite(values[k]) ? "" : " unknown"}${beyond ? " beyond" : ""}${node === focus ? " chosen" : ""}`)
      .attr("cx", x(node)).attr("cy", y(node)).attr("r", radius).attr("tabindex", 0).attr("role", "button").attr("data-node", node.name).attr("aria-label", node.name);
    if (Number.isFinite(values[k])) circle.attr("fill", colour(values[k]));
    circle.append("title").text(`${node.name}\n${measure.name}: ${Number.isFinite(values[k]) ? short(values[k]) : "not recorded"}`);
    const go = () => node.variables.length && choose(node.variables[0]);
    circle.node().addEventListener("click", go);
    circle.node().addEventListener("keydown", (event) => event.key === "Enter" && go());
  });
  const named = shown.length <= 40 ? [focus, ...shown.filter((node) => node !== focus)] : [focus]; // the chosen one has its label
  const place = labelPlacer(radius + 4, radius + 12);
  for (const node of named) {
    const spot = place(x(node), y(node), node.name);
    if (spot !== null) inner.append("text").attr("class", `label${node === focus ? " chosen" : ""}`).attr("x", x(node)).attr("y", spot).attr("text-anchor", "middle").text(node.name);
  }
  zoomable(plot, inner);
  d3.select(parent).append("div").attr("class", "caption").text(measure.name);
  drawColours(parent, colour, measure.name);
}

// Drag and pinch; the wheel with Ctrl alone, so that the page still scrolls.
function zoomable(plot, inner) {
  const may = (event) => (event.type === "wheel" ? event.ctrlKey || event.metaKey : event.touches ? event.touches.length > 1 : !event.button);
  const zoom = d3.zoom().scaleExtent([1, 20]).filter((event) => may(d3.event || event))
    .on("zoom", (event) => inner.attr("transform", (d3.event || event).transform));
  plot.call(zoom).style("touch-action", "pan-y").style("overflow", "hidden");
}

function graphCaption(focus) {
  const edges = run.graph.edges ? run.graph.edges.length / 2 : null;
  const parts = [];
  if (!isWhole())
    parts.push(edges === null ? "The graph has too many edges to draw it or to list neighbours."
      : `The graph of ${nodes.length.toLocaleString("en")} nodes is too large to draw: this shows ${focus.name} and the ${visible(focus).length - 1} nodes around it.`);
  else parts.push("Click a node to see its marginals; drag to move, Ctrl+wheel or pinch to zoom.");
  if (ksd.size && ksd.size < nodes.length) parts.push(`The file records the KSD of ${ksd.size} nodes; the others are grey.`);
  if ([...ksd.values()].some((d) => d.excess > 1)) parts.push("A red ring marks a node that fails: it has not converged.");
  return parts.join(" ");
}
