// Arrays of a few elements: intervals of each, or the probabilities of each class.
const FOREST = [3, 50], CLASSES = 12, BARS = 300;

const stemOf = (name) => name.replace(/(\.\d+)+$/, "");
const isElement = (name) => stemOf(name) !== name;

// Vectors among the variables: stem -> its variables, in the order of the file.
const vectors = new Map();
for (const [name, i] of place) {
  const stem = stemOf(name);
  if (stem === name || name.lastIndexOf(".") !== stem.length || pointOf.has(i)) continue; // one subscript, and no point of the map
  if (!vectors.has(stem)) vectors.set(stem, []);
  vectors.get(stem).push(i);
}

// The values of a variable if they are a few classes, else null.
const classes = new Map();
function classesOf(i) {
  if (!classes.has(i)) {
    const seen = new Set();
    for (const v of particlesOf(i)) {
      seen.add(Number.isInteger(v) ? v : NaN);
      if (seen.size > CLASSES || seen.has(NaN)) break;
    }
    classes.set(i, seen.has(NaN) || seen.size > CLASSES ? null : [...seen].sort(d3.ascending));
  }
  return classes.get(i);
}

const isDiscrete = (list) => list.every(classesOf) && list.some((i) => classesOf(i).length > 1);
const shareOf = (i, value) => particlesOf(i).reduce((sum, v) => sum + (v === value), 0) / run.shown;

// Probabilities of discrete unknowns: name -> {least, shares}; those of the file are exact, others are counted.
function probabilities() {
  const found = new Map();
  for (const [name, {along, values}] of series) {
    const least = /^value\.(-?\d+)\./.exec(along);
    if (name.startsWith("probability.") && least) found.set(name.slice(12), {least: Number(least[1]), shares: values});
  }
  for (const [, list] of vectors)
    if (isDiscrete(list) && !list.some((i) => found.has(run.names[i])))
      for (const i of list) {
        const [low, high] = d3.extent(list.flatMap(classesOf));
        found.set(run.names[i], {least: low, shares: d3.range(low, high + 1).map((value) => shareOf(i, value))});
      }
  return found;
}

function drawForest(parent, stem, list) {
  const box = d3.select(parent).append("figure").attr("class", "curve-box").attr("data-forest", stem);
  box.append("h3").text(stem).append("small").text("  median and 5 to 95 %");
  const width = widthOf(box.node()), line = 15, left = 16 + 6.2 * d3.max(list, (i) => run.names[i].length), height = line * list.length + 26;
  const ends = list.flatMap((i) => [number(i, "5%"), number(i, "95%"), ...(truth.has(i) ? [truth.get(i)] : [])]).filter(Number.isFinite);
  if (!ends.length) return;
  const [low, high] = d3.extent(ends), pad = (high - low) * 0.03 || 1, x = d3.scaleLinear([low - pad, high + pad], [left, width - 8]);
  const plot = svg(box.node(), width, height, `intervals of ${stem}`);
  if (x.domain()[0] < 0 && x.domain()[1] > 0) plot.append("line").attr("class", "frame").attr("x1", x(0)).attr("x2", x(0)).attr("y2", height - 22);
  list.forEach((i, k) => {
    const y = line * (k + 0.6), row = plot.append("g").attr("class", "forest-row");
    row.append("text").attr("x", left - 8).attr("y", y + 4).attr("text-anchor", "end").text(run.names[i]);
    row.append("line").attr("class", "interval").attr("x1", x(number(i, "5%"))).attr("x2", x(number(i, "95%"))).attr("y1", y).attr("y2", y);
    row.append("circle").attr("class", "median").attr("cx", x(number(i, "50%"))).attr("cy", y).attr("r", 3.4);
    if (truth.has(i)) row.append("line").attr("class", "true").attr("x1", x(truth.get(i))).attr("x2", x(truth.get(i))).attr("y1", y - 6).attr("y2", y + 6);
    row.node().addEventListener("click", () => choose(i, true));
  });
  axis(plot, d3.axisBottom(x).ticks(Math.max(3, width / 90)).tickFormat(tick).tickSize(4), 0, height - 22);
}

// One stacked bar for each element.
function drawClasses(parent, stem, elements) {
  const shown = elements.slice(0, BARS), states = d3.extent(shown.flatMap(({least, shares}) => [least, least + shares.length - 1]));
  const box = d3.select(parent).append("figure").attr("class", "curve-box wide").attr("data-classes", stem);
  const heading = box.append("h3").text(stem);
  heading.append("small").text(`  probabilities of the classes${elements.length > BARS ? `, the first ${BARS} of ${elements.length} elements` : ""}`);
  const width = widthOf(box.node()), height = 150, left = 40, foot = 22, w = (width - left - 8) / shown.length;
  const colour = (value) => d3.schemeTableau10[(value - states[0]) % 10], up = d3.scaleLinear([0, 1], [height - foot, 8]);
  const plot = svg(box.node(), width, height, `class probabilities of ${stem}`);
  shown.forEach(({name, least, shares}, k) => {
    let from = 0;
    shares.forEach((share, s) => {
      if (share > 0)
        plot.append("rect").attr("x", left + k * w).attr("width", Math.max(0.5, w - (w > 4 ? 1 : 0))).attr("y", up(from + share)).attr("height", Math.max(0, up(from) - up(from + share)))
          .attr("fill", colour(least + s)).append("title").text(`${name} = ${least + s}: ${short(share)}`);
      from += share;
    });
  });
  const across = d3.scaleLinear([0.5, shown.length + 0.5], [left, width - 8]);
  if (shown.length > 1) axis(plot, d3.axisBottom(across).ticks(Math.min(shown.length, width / 90)).tickFormat(d3.format("d")).tickSize(4), 0, height - foot);
  axis(plot, d3.axisLeft(up).ticks(3).tickSize(3), left, 0);
  const legend = heading.append("span").attr("class", "legend");
  for (const value of d3.range(states[0], states[1] + 1)) legend.append("span").style("--colour", colour(value)).text(value);
}

// Bars in place of the density of a discrete variable.
function drawBars(box, i) {
  const width = widthOf(box.node()), height = 130, values = classesOf(i), left = 40, foot = 22;
  const x = d3.scaleBand(d3.range(values[0], values[values.length - 1] + 1), [left, width - 8]).padding(0.3), up = d3.scaleLinear([0, 1], [height - foot, 8]);
  const plot = svg(box.node(), width, height, `probabilities of ${run.names[i]}`);
  for (const value of values) plot.append("rect").attr("class", "bin").attr("x", x(value)).attr("width", x.bandwidth()).attr("y", up(shareOf(i, value))).attr("height", up(0) - up(shareOf(i, value)));
  axis(plot, d3.axisBottom(x).tickSize(3), 0, height - foot, "axis none");
  axis(plot, d3.axisLeft(up).ticks(3).tickSize(3), left, 0, "axis none");
}

// Returns whether it has drawn anything.
function showForests(parent) {
  const found = probabilities(), groups = new Map();
  for (const [name, {least, shares}] of found) {
    const stem = stemOf(name);
    if (!groups.has(stem)) groups.set(stem, []);
    groups.get(stem).push({name, least, shares});
  }
  const pictured = new Set(fields.map((field) => field.name));
  for (const [stem, list] of vectors)
    if (!groups.has(stem) && !pictured.has(stem) && list.length >= FOREST[0] && list.length <= FOREST[1]) drawForest(parent, stem, list);
  for (const [stem, elements] of groups) drawClasses(parent, stem, elements);
  return parent.childElementCount > 0;
}
