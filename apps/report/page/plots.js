// Small plots. Points are one path of dots, which style sheets can colour, in light and dark mode and on paper.
const short = d3.format(".4~g"), tick = d3.format(".6~g");
const dotsPath = (points) => points.map(([x, y]) => `M${x.toFixed(1)},${y.toFixed(1)}h0`).join("");

function svg(parent, width, height, label) {
  return d3.select(parent).append("svg").attr("viewBox", `0 0 ${width} ${height}`).attr("role", "img").attr("aria-label", label);
}

function axis(at, kind, x, y, className = "axis") {
  return at.append("g").attr("class", className).attr("transform", `translate(${x},${y})`).call(kind);
}

// Where a label goes that should stand above (x, y): below it where another one is in the way; null: there is no room.
function labelPlacer(above, below) {
  const taken = [];
  return (x, y, text) => {
    const half = 3.2 * text.length, free = (at) => taken.every(([u, v, w]) => Math.abs(u - x) > half + w || Math.abs(v - at) > 11);
    const at = free(y - above) ? y - above : free(y + below) ? y + below : null;
    if (at !== null) taken.push([x, at, half]);
    return at;
  };
}

function widthOf(element) {
  return Math.max(150, element.clientWidth || 320);
}

const rangeOf = (x, y) => (d) => [x(d[0]), y(d[1])];

// The marginal density of a variable: the curve, its chains, the 5 to 95 % interval and the median, the truth, a rug.
function drawMarginal(parent, i) {
  const box = d3.select(parent).append("div").attr("class", "marginal");
  box.append("h3").text(run.names[i]).append("small")
    .text(`  mean ${cell(i, "mean")}, sd ${cell(i, "sd")}, 5 to 95 %: ${cell(i, "5%")} to ${cell(i, "95%")}` +
      (truth.has(i) ? `, true ${short(truth.get(i))}` : ""));
  const width = widthOf(box.node()), height = 150, foot = 34, values = particlesOf(i), few = classesOf(i);
  if (few && few.length > 1) return drawBars(box, i);
  const curve = density(values);
  if (!curve) {
    box.append("p").attr("class", "caption").text(`All ${units()} are ${cell(i, "mean")}.`);
    return;
  }
  const ends = [curve[0][0], curve[curve.length - 1][0]];
  if (truth.has(i)) ends.push(truth.get(i));
  const x = d3.scaleLinear(d3.extent(ends), [6, width - 6]);
  const chains = run.chains > 1 && run.shown >= 20 * run.chains ? chainCurves(values, [curve[0][0], curve[curve.length - 1][0]]) : [];
  const top = d3.max([curve, ...chains], (c) => d3.max(c, (d) => d[1]));
  const y = d3.scaleLinear([0, top], [height - foot, 8]);
  const plot = svg(box.node(), width, height, `density of ${run.names[i]}`);
  plot.append("path").attr("class", "area").attr("d", d3.area().x((d) => x(d[0])).y0(y(0)).y1((d) => y(d[1]))(curve));
  for (const chain of chains) plot.append("path").attr("class", "chain").attr("d", d3.line()(chain.map(rangeOf(x, y))));
  plot.append("path").attr("class", "curve").attr("d", d3.line()(curve.map(rangeOf(x, y))));
  const rug = thin(values, 400).filter((v) => v >= x.domain()[0] && v <= x.domain()[1]);
  plot.append("path").attr("class", "rug").attr("d", rug.map((v) => `M${x(v).toFixed(1)},${y(0)}v-5`).join(""));
  const clamp = (v) => x(Math.max(x.domain()[0], Math.min(x.domain()[1], v)));
  plot.append("line").attr("class", "interval").attr("x1", clamp(number(i, "5%"))).attr("x2", clamp(number(i, "95%")))
    .attr("y1", y(0) + 6).attr("y2", y(0) + 6);
  plot.append("circle").attr("class", "median").attr("cx", clamp(number(i, "50%"))).attr("cy", y(0) + 6).attr("r", 4);
  if (truth.has(i)) plot.append("line").attr("class", "true").attr("x1", x(truth.get(i))).attr("x2", x(truth.get(i))).attr("y1", 4).attr("y2", y(0) + 11);
  axis(plot, d3.axisBottom(x).ticks(Math.max(3, width / 80)).tickFormat(tick).tickSize(4), 0, y(0) + 13, "axis none");
}

// Evenly spaced particles of equally long chains: the first run.shown / run.chains are of the first, and so on.
function chainCurves(values, range) {
  const length = values.length / run.chains;
  return d3.range(run.chains)
    .map((c) => density(values.subarray(Math.ceil(c * length), Math.ceil((c + 1) * length)), range)).filter((c) => c);
}

function thin(values, most) {
  if (values.length <= most) return Array.from(values);
  return d3.range(most).map((k) => values[Math.floor(k * values.length / most)]);
}

// Particles of two variables with the contours that hold half and nine tenths of them.
function drawPair(parent, i, j, chosen) {
  const x = particlesOf(i), y = particlesOf(j), r = correlation(x, y);
  const box = d3.select(parent).append("div").attr("class", "pair").attr("title", `show ${run.names[j]}`);
  box.append("h3").text(run.names[j]).append("small").text(Number.isNaN(r) ? "" : `  r = ${r.toFixed(2)}`);
  const width = widthOf(box.node()), height = Math.round(width * 0.8), left = 40, foot = 22;
  const pad = (values, t) => {
    const [low, high] = d3.extent(t === undefined ? Array.from(values) : [...values, t]);
    return low < high ? [low - 0.09 * (high - low), high + 0.09 * (high - low)] : [low - 1, high + 1];
  };
  const across = d3.scaleLinear(pad(x, truth.get(i)), [left, width - 4]), up = d3.scaleLinear(pad(y, truth.get(j)), [height - foot, 4]);
  const plot = svg(box.node(), width, height, `${run.names[j]} against ${run.names[i]}`);
  plot.append("rect").attr("class", "frame").attr("x", left).attr("y", 4).attr("width", width - 4 - left).attr("height", height - foot - 4);
  const points = thin(d3.range(x.length), 1500).map((l) => [across(x[l]), up(y[l])]);
  plot.append("path").attr("class", "dots").attr("stroke-width", points.length > 400 ? 2 : 3.2).attr("d", dotsPath(points));
  for (const shape of contours(x, y, [0.9, 0.5])) plot.append("path").attr("class", "contour").attr("d", outline(shape, across, up));
  if (truth.has(i)) plot.append("path").attr("class", "true-dash").attr("d", `M${across(truth.get(i))},4V${height - foot}`);
  if (truth.has(j)) plot.append("path").attr("class", "true-dash").attr("d", `M${left},${up(truth.get(j))}H${width - 4}`);
  axis(plot, d3.axisBottom(across).ticks(3).tickFormat(tick).tickSize(3), 0, height - foot, "axis none");
  axis(plot, d3.axisLeft(up).ticks(4).tickFormat(tick).tickSize(3), left, 0, "axis none");
  box.node().addEventListener("click", () => chosen(j));
}

function outline(shape, x, y) {
  return shape.map((rings) => rings.map((ring) => "M" + ring.map(([u, v]) => `${x(u).toFixed(1)},${y(v).toFixed(1)}`).join("L") + "Z").join("")).join("");
}

// A bar of colours with its numbers.
function drawColours(parent, scale, title) {
  const width = 220, plot = svg(parent, width, 34, title).attr("class", "colours").style("width", `${width}px`);
  const steps = 48, [low, high] = scale.domain(), x = d3.scaleLinear([low, high], [6, width - 6]);
  for (let k = 0; k < steps; k++)
    plot.append("rect").attr("x", 6 + k * (width - 12) / steps).attr("width", (width - 12) / steps + 0.6).attr("y", 2).attr("height", 9)
      .attr("fill", scale(low + (high - low) * (k + 0.5) / steps));
  axis(plot, d3.axisBottom(x).ticks(4).tickFormat(tick).tickSize(3), 0, 11, "axis none");
}
