// Convergence: curves along the iterations, and the mixing of chains.
const CURVE_HEIGHT = 170;

// A scale of tenfolds where the numbers span many of them, else a plain one.
function scaleFor(values, range, most) {
  const [low, high] = d3.extent(values), pad = (high - low) * 0.06 || Math.abs(high) * 0.1 || 1;
  if (low > 0 && high / low > most) return d3.scaleLog([low, high], range);
  return d3.scaleLinear([low - pad, high + pad], range);
}

// Four labels or so; on a scale of tenfolds those powers, then multiples of them, that keep `gap` pixels apart.
function labelled(make, scale, gap) {
  if (!scale.base) return make(scale).ticks(4).tickFormat(tick);
  const kept = [], powers = d3.range(-308, 308), [low, high] = scale.domain();
  for (const factor of [1, 3, 2, 5])
    for (const value of powers.map((k) => Number(`${factor}e${k}`)))
      if (value >= low && value <= high && kept.every((other) => Math.abs(scale(other) - scale(value)) >= gap)) kept.push(value);
  return make(scale).tickValues(kept.sort(d3.ascending)).tickFormat(d3.format("~g"));
}

function curveBox(parent, title, note) {
  const box = d3.select(parent).append("figure").attr("class", "curve-box").attr("data-curve", title);
  const heading = box.append("h3").text(title);
  if (note) heading.append("small").text(`  ${note}`);
  return box;
}

// y along x; `mark` is a height to compare with, and says so.
function drawCurve(parent, {title, note, x, y, mark, dots}) {
  const points = d3.zip(x, y).filter(([a, b]) => a !== null && b !== null && Number.isFinite(a) && Number.isFinite(b));
  if (points.length < 2) return;
  const box = curveBox(parent, title, note), width = widthOf(box.node()), left = 46, foot = 22;
  const heights = points.map((p) => p[1]);
  if (mark) heights.push(mark.at);
  const across = scaleFor(points.map((p) => p[0]), [left, width - 8], 20), up = scaleFor(heights, [CURVE_HEIGHT - foot, 10], 20);
  const plot = svg(box.node(), width, CURVE_HEIGHT, `${title} along the iterations`);
  axis(plot, labelled(d3.axisBottom, across, 44).tickSize(4), 0, CURVE_HEIGHT - foot);
  axis(plot, labelled(d3.axisLeft, up, 20).tickSize(4), left, 0);
  if (mark) {
    plot.append("line").attr("class", "mark").attr("x1", left).attr("x2", width - 8).attr("y1", up(mark.at)).attr("y2", up(mark.at));
    plot.append("text").attr("x", width - 8).attr("y", up(mark.at) - 4).attr("text-anchor", "end").text(mark.text);
  }
  plot.append("path").attr("class", "curve").attr("d", d3.line()(points.map(([a, b]) => [across(a), up(b)])));
  if (dots) for (const [a, b] of points) plot.append("circle").attr("class", "median").attr("cx", across(a)).attr("cy", up(b)).attr("r", 3).append("title").text(`${short(a)}: ${short(b)}`);
}

// How many of the values lie where; those beyond the mark are coloured.
function drawHistogram(parent, {title, note, values, mark, beyond}) {
  const known = values.filter((v) => v !== null && Number.isFinite(v));
  if (known.length < 3) return;
  const box = curveBox(parent, title, note), width = widthOf(box.node()), left = 46, foot = 22;
  let [low, high] = d3.extent([...known, mark.at]);
  if (low === high) [low, high] = [low - 0.5, high + 0.5];
  const across = d3.scaleLinear([low, high], [left, width - 8]), count = Math.max(5, Math.min(30, Math.floor((width - left) / 12)));
  const bins = new Array(count).fill(0), binOf = (v) => Math.min(count - 1, Math.floor(((v - low) / (high - low)) * count));
  for (const v of known) bins[binOf(v)]++;
  const up = d3.scaleLinear([0, d3.max(bins)], [CURVE_HEIGHT - foot, 10]), w = (width - 8 - left) / count;
  const plot = svg(box.node(), width, CURVE_HEIGHT, title);
  bins.forEach((n, k) => {
    const middle = low + ((k + 0.5) / count) * (high - low);
    if (n) plot.append("rect").attr("class", beyond(middle) ? "bin beyond" : "bin").attr("x", left + k * w + 0.5).attr("width", Math.max(1, w - 1)).attr("y", up(n)).attr("height", up(0) - up(n));
  });
  axis(plot, d3.axisBottom(across).ticks(Math.max(2, width / 90)).tickFormat(tick).tickSize(4), 0, CURVE_HEIGHT - foot);
  axis(plot, d3.axisLeft(up).ticks(Math.min(4, d3.max(bins))).tickFormat(d3.format("~g")).tickSize(4), left, 0);
  plot.append("line").attr("class", "mark").attr("x1", across(mark.at)).attr("x2", across(mark.at)).attr("y1", 10).attr("y2", CURVE_HEIGHT - foot);
  const right = across(mark.at) < width / 2;
  plot.append("text").attr("x", across(mark.at) + (right ? 4 : -4)).attr("y", 18).attr("text-anchor", right ? "start" : "end").text(mark.text);
}

// The draws of every chain, one after the other.
function drawTrace(parent, values, label) {
  const width = widthOf(parent), height = 110, left = 46, foot = 20, length = values.length / run.chains;
  const across = d3.scaleLinear([0, run.particles / run.chains], [left, width - 6]), up = d3.scaleLinear(d3.extent(values), [height - foot, 6]);
  const plot = svg(parent, width, height, `trace of ${label}`).classed("trace", true);
  for (let c = 0; c < run.chains; c++) {
    const own = values.subarray(Math.ceil(c * length), Math.ceil((c + 1) * length));
    plot.append("path").attr("class", "chain-trace").style("stroke", d3.schemeTableau10[c % 10])
      .attr("d", d3.line()(Array.from(own, (v, k) => [across(((k + 0.5) / own.length) * (run.particles / run.chains)), up(v)])));
  }
  axis(plot, d3.axisBottom(across).ticks(4).tickFormat(tick).tickSize(3), 0, height - foot, "axis none");
  axis(plot, d3.axisLeft(up).ticks(3).tickFormat(tick).tickSize(3), left, 0, "axis none");
}

const curves = [
  {series: "largest_phi", title: "largest |phi|", note: "how fast the particles move"},
  {series: "largest_score", title: "largest |score|"},
  {series: "largest_change", title: "largest message change"},
  {series: "ksd_ratio", title: "KSD relative to exact draws", dots: true, mark: {at: 1, text: "exact draws"}},
  {series: "ksd", title: "KSD", note: "V", dots: true},
  {series: "bandwidth", title: "bandwidth", note: "mean over nodes", dots: true},
  {series: "step_size", title: "step size", changing: true},
];

function showConvergence() {
  const parent = element("curves");
  parent.textContent = "";
  element("convergence").hidden = false; // what is hidden has no width
  for (const curve of curves) {
    const found = series.get(curve.series), along = found && series.get(found.along);
    if (!along || (curve.changing && new Set(found.values).size < 2)) continue;
    drawCurve(parent, {...curve, x: along.values, y: found.values});
  }
  if (series.has("node_excess")) {
    const excess = series.get("node_excess").values, counted = (record.get("ksd_beyond") || "").split(" of ")[0]; // as the banner counts: not from rounded numbers
    const far = counted !== "" ? Number(counted) : excess.filter((v) => v > 1).length;
    drawHistogram(parent, {title: "nodes", note: `${far} of ${excess.length} fail`, values: excess, beyond: (v) => v > 1, mark: {at: 1, text: "limit"}});
  }
  if (areChains() && run.columns.includes("R-hat")) {
    if (run.log_density) {
      const box = curveBox(parent, "log density", "one line per chain");
      drawTrace(box.node(), decode(run.log_density), "the log density");
    }
    drawHistogram(parent, {title: "R-hat", note: "of all variables", values: allRHat(), beyond: (v) => v > highRHat, mark: {at: highRHat, text: `${highRHat}`}});
    const least = neededDraws;
    drawHistogram(parent, {title: "effective draws", note: "of all variables, smaller of bulk and tail", values: allDraws(), beyond: (v) => v < least, mark: {at: least, text: `${least}`}});
  }
  element("convergence").hidden = parent.childElementCount === 0;
}

// ---- the data, and the model's text ------------------------------------------------------------------------------------
function showData() {
  const parent = element("observed");
  parent.textContent = "";
  element("data-panel").hidden = false;
  for (const [name, count, values] of predictive.length ? [] : run.observed) { // the check shows them, over their replicates
    const box = d3.select(parent).append("figure").attr("class", "curve-box");
    box.append("h3").text(name).append("small").text(`  ${count.toLocaleString("en")} value${count === 1 ? "" : "s"}, ${short(d3.min(values))} to ${short(d3.max(values))}`);
    const width = widthOf(box.node()), height = 64, [low, high] = d3.extent(values);
    const x = d3.scaleLinear(low < high ? [low, high] : [low - 1, high + 1], [8, width - 8]);
    const plot = svg(box.node(), width, height, `values of ${name}`), rows = 5;
    plot.append("path").attr("class", "dots").attr("stroke-width", values.length > 400 ? 2 : 3.6)
      .attr("d", dotsPath(values.map((v, k) => [x(v), 8 + 28 * ((k * 2) % rows) / (rows - 1)])));
    axis(plot, d3.axisBottom(x).ticks(Math.max(3, width / 90)).tickFormat(tick).tickSize(3), 0, height - 20, "axis none");
  }
  element("text").textContent = run.text;
  element("text-box").hidden = !run.text;
  element("data-panel").hidden = !run.text && (predictive.length > 0 || run.observed.length === 0);
}
