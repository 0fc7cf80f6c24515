"use strict";
// The data that svmp wrote, and values derived from it. A particle's value is centre + scale * float.
const run = JSON.parse(document.getElementById("data").textContent);
const variables = run.names.length;

function decode([centre, scale, text]) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  const x = new Float64Array(run.shown);
  for (let l = 0; l < x.length; l++) x[l] = centre + scale * view.getFloat32(4 * l, true);
  return x;
}

const decoded = new Map();
function particlesOf(i) {
  if (!decoded.has(i)) decoded.set(i, decode(run.values[i]));
  return decoded.get(i);
}

// The way of the run: name -> what it runs along, and its numbers.
const series = new Map(run.series.map(([name, along, values]) => [name, {along, values}]));

// The cells of `svmp summary`, as it prints them.
const cell = (i, name) => run.cells[i * run.columns.length + run.columns.indexOf(name)];
const number = (i, name) => Number(cell(i, name));

// R-hat and the smaller number of effective draws of all variables, shown one by one or not.
const allRHat = () => (run.r_hat ? Array.from(floatsOf(run.r_hat)) : d3.range(variables).map((i) => number(i, "R-hat")));
const allDraws = () => (run.draws ? Array.from(floatsOf(run.draws)) : d3.range(variables).map((i) => Math.min(number(i, "bulk ESS"), number(i, "tail ESS"))));

const truth = new Map(run.truth);

// The limits that chains must meet, as in `svmp summary`.
const neededDraws = run.chains <= 4 ? 100 * run.chains : Math.max(400, 10 * run.chains);
const highRHat = Number(Math.max(1.01, Math.sqrt(1 + 2 * run.chains / neededDraws)).toPrecision(4));

const areChains = () => run.chains > 1 || (run.sampling !== null && run.sampling.leapfrogs !== undefined) || record.get("method") === "local";
const units = () => (areChains() || record.get("method") === "exact" ? "draws" : "particles"); // what a row of the file is

// ---- the comments: "name = value", and remarks ------------------------------------------------------------------------
const record = new Map();
const remarks = [];
const ksd = new Map(); // of a node: {value: over that of exact draws, excess: above 1, not converged}
let worst = null; // of the nodes, in words
for (const line of run.comments) {
  const at = line.indexOf(" = ");
  if (at < 0) {
    if (line.trim() && !/ seconds \((Warm-up|Sampling|Total)\)$/.test(line)) remarks.push(line);
    continue;
  }
  const name = line.slice(0, at), value = line.slice(at + 3);
  if (!name.startsWith("ksd_node ")) {
    record.set(record.has(name) ? `${name} (${record.size})` : name, value);
    continue;
  }
  const [, , ratio, limit, z, most] = value.trim().split(/\s+/).map(Number); // U V RATIO LIMIT Z LIMIT, of the worst nodes
  if (!Number.isFinite(ratio)) continue;
  ksd.set(name.slice(9), {value: ratio, excess: Math.max(ratio / limit, z / most || 0)});
  const describe = (value, most, what) => `${name.slice(9)}, ${what} ${value.toPrecision(3)}, limit ${most.toPrecision(3)}`;
  if (!worst) worst = z / most > ratio / limit ? describe(z, most, "moment z") : describe(ratio, limit, "KSD relative to exact draws");
}

// ---- nodes: of the model's graph, or pairs P.1, P.2 of the names -------------------------------------------------------
const place = new Map(run.names.map((name, i) => [name, i]));
const nodes = []; // {name, blanket, variables: of the file, near: neighbours}
const nodeOf = new Array(variables).fill(null);
if (run.graph) {
  for (const [name, blanket, columns] of run.graph.nodes) nodes.push({id: nodes.length, name, blanket, variables: columns, near: []});
  const edges = run.graph.edges || [];
  for (let e = 0; e < edges.length; e += 2) {
    nodes[edges[e]].near.push(nodes[edges[e + 1]]);
    nodes[edges[e + 1]].near.push(nodes[edges[e]]);
  }
  for (const node of nodes) for (const i of node.variables) nodeOf[i] = node;
  const ratio = series.get("node_ksd_ratio"), excess = series.get("node_excess"); // of all nodes
  if (ratio && excess && ratio.values.length === nodes.length)
    nodes.forEach((node, k) => ratio.values[k] !== null && ksd.set(node.name, {value: ratio.values[k], excess: excess.values[k]}));
}

// Points of a plane: nodes of two dimensions, and pairs P.1, P.2 without a P.3, whose variables may be nodes of their own.
const planar = [];
const pointOf = new Map();
for (const [name, i] of place) {
  if (!name.endsWith(".1") || run.all > variables) continue; // of many, the other coordinates may be left out
  const stem = name.slice(0, -2), j = place.get(stem + ".2");
  if (j === undefined || place.has(stem + ".3")) continue;
  const point = {name: stem, x: i, y: j};
  planar.push(point);
  pointOf.set(i, point).set(j, point);
}

// The variables that are looked at together with i.
function companions(i) {
  if (nodeOf[i] && nodeOf[i].variables.length > 1) return nodeOf[i].variables;
  const point = pointOf.get(i);
  return point ? [point.x, point.y] : [i];
}

// ---- statistics -------------------------------------------------------------------------------------------------------
function quantile(sorted, p) {
  const h = (sorted.length - 1) * p, below = Math.floor(h);
  return below + 1 < sorted.length ? sorted[below] + (h - below) * (sorted[below + 1] - sorted[below]) : sorted[below];
}

function moments(x) {
  if (x.every((v) => v === x[0])) return {mean: x[0], sd: 0}; // not what rounding leaves of it
  let mean = 0, square = 0;
  for (const v of x) mean += v / x.length;
  for (const v of x) square += (v - mean) ** 2;
  return {mean, sd: x.length > 1 ? Math.sqrt(square / (x.length - 1)) : 0};
}

function correlation(x, y) {
  const a = moments(x), b = moments(y);
  let sum = 0;
  for (let l = 0; l < x.length; l++) sum += (x[l] - a.mean) * (y[l] - b.mean);
  return a.sd > 0 && b.sd > 0 ? sum / (x.length - 1) / a.sd / b.sd : NaN;
}

// A Gaussian kernel density with Silverman's bandwidth, by bins finer than it: [[x, density], ...], or null for a point.
function density(x, range) {
  const sorted = Float64Array.from(x).sort();
  const sd = moments(x).sd, spread = (quantile(sorted, 0.75) - quantile(sorted, 0.25)) / 1.34;
  const h = 0.9 * (spread > 0 ? Math.min(sd, spread) : sd) * x.length ** -0.2;
  if (!(h > 0)) return null;
  const [low, high] = range || [Math.max(sorted[0], quantile(sorted, 0.002)) - 3 * h,
    Math.min(sorted[sorted.length - 1], quantile(sorted, 0.998)) + 3 * h];
  const bins = 400, step = (high - low) / (bins - 1), mass = new Float64Array(bins);
  for (const v of x) {
    const at = (v - low) / step, k = Math.floor(at);
    if (k < 0 || k + 1 >= bins) continue;
    mass[k] += 1 - (at - k);
    mass[k + 1] += at - k;
  }
  const reach = Math.max(1, Math.ceil(4 * h / step)), curve = [];
  for (let k = 0; k < bins; k += 2) {
    let sum = 0;
    for (let j = Math.max(0, k - reach); j <= Math.min(bins - 1, k + reach); j++)
      if (mass[j]) sum += mass[j] * Math.exp(-0.5 * ((k - j) * step / h) ** 2);
    curve.push([low + k * step, sum / (x.length * h * Math.sqrt(2 * Math.PI))]);
  }
  return curve;
}

// Contours of a density in the plane that hold these shares of the particles; coordinates are those of x and y.
function contours(x, y, shares) {
  const n = x.length, size = 56, a = moments(x), b = moments(y);
  if (n < 8 || !(a.sd > 0) || !(b.sd > 0)) return [];
  const hx = a.sd * n ** (-1 / 6), hy = b.sd * n ** (-1 / 6);
  const left = d3.min(x) - 3 * hx, bottom = d3.min(y) - 3 * hy;
  const dx = (d3.max(x) + 3 * hx - left) / size, dy = (d3.max(y) + 3 * hy - bottom) / size;
  const blur = (from, step, h, stride, across) => {
    const to = new Float64Array(size * size), reach = Math.max(1, Math.ceil(3 * h / step));
    const weight = d3.range(-reach, reach + 1).map((k) => Math.exp(-0.5 * (k * step / h) ** 2));
    for (let line = 0; line < size; line++)
      for (let k = 0; k < size; k++) {
        const value = from[line * across + k * stride];
        if (value)
          for (let j = Math.max(0, k - reach); j <= Math.min(size - 1, k + reach); j++)
            to[line * across + j * stride] += value * weight[j - k + reach];
      }
    return to;
  };
  let grid = new Float64Array(size * size);
  const at = (l) => Math.floor((y[l] - bottom) / dy) * size + Math.floor((x[l] - left) / dx);
  for (let l = 0; l < n; l++) grid[at(l)]++;
  grid = blur(blur(grid, dx, hx, 1, size), dy, hy, size, 1);
  const heights = Float64Array.from(x, (_, l) => grid[at(l)]).sort();
  return d3.contours().size([size, size]).thresholds(shares.map((share) => quantile(heights, 1 - share)))(grid)
    .map((shape) => shape.coordinates.map((rings) => rings.map((ring) => ring.map(([u, v]) => [left + u * dx, bottom + v * dy]))));
}
