// The data and what the model says of them: observations over their replicates, and leave-one-out cross-validation.
const predictive = run.predictive.map(([name, rank, place, observed, low, middle, high, replicates]) =>
  ({name, rank, place, observed, low, middle, high, replicates: replicates.map(([, values]) => values)}));

// Observations in the order of the data, over the 5 to 95 % intervals of replicates.
function drawOverFit(parent, p) {
  const inside = p.observed.filter((y, k) => y >= p.low[k] && y <= p.high[k]).length;
  const box = d3.select(parent).append("figure").attr("class", "curve-box wide").attr("data-fit", p.name);
  box.append("h3").text(p.name).append("small").text(`  observed, and 5 to 95 % of replicates: ${inside} of ${p.observed.length} lie within (${Math.round((100 * inside) / p.observed.length)} %)`);
  const width = widthOf(box.node()), height = 210, left = 46, foot = 24, every = Math.ceil(p.place.length / 1500);
  const kept = d3.range(0, p.place.length, every);
  const across = d3.scaleLinear([p.place[0] - 0.5, p.place[p.place.length - 1] + 0.5], [left, width - 8]);
  const up = d3.scaleLinear(d3.extent([...p.observed, ...p.low, ...p.high]), [height - foot, 8]).nice();
  const plot = svg(box.node(), width, height, `observations of ${p.name} over replicates`);
  const wide = Math.max(1, Math.min(9, (0.7 * (width - left)) / kept.length));
  plot.append("path").attr("class", "replicates").attr("stroke-width", wide).attr("d", kept.map((k) => `M${across(p.place[k]).toFixed(1)},${up(p.low[k]).toFixed(1)}V${up(p.high[k]).toFixed(1)}`).join(""));
  plot.append("path").attr("class", "replicates middle").attr("d", kept.map((k) => `M${(across(p.place[k]) - wide / 2).toFixed(1)},${up(p.middle[k]).toFixed(1)}h${wide.toFixed(1)}`).join(""));
  for (const within of [true, false]) {
    const points = kept.filter((k) => (p.observed[k] >= p.low[k] && p.observed[k] <= p.high[k]) === within).map((k) => [across(p.place[k]), up(p.observed[k])]);
    plot.append("path").attr("class", within ? "observations" : "observations outside").attr("stroke-width", kept.length > 300 ? 3 : 4.5).attr("d", dotsPath(points));
  }
  const label = p.rank === 1 ? "index" : "element";
  axis(plot, d3.axisBottom(across).ticks(Math.max(3, width / 90)).tickFormat(d3.format("d")).tickSize(4), 0, height - foot);
  plot.append("text").attr("x", width - 8).attr("y", height - foot - 4).attr("text-anchor", "end").text(label);
  axis(plot, d3.axisLeft(up).ticks(5).tickFormat(tick).tickSize(4), left, 0);
}

// The distribution of the observations and of some replicates: densities, or bars of a few values.
function drawDistributions(parent, p) {
  const values = [...new Set(p.observed)].sort(d3.ascending);
  const few = values.length <= 12 && [p.observed, ...p.replicates].every((list) => list.every(Number.isInteger));
  if (p.observed.length < 10) return;
  const box = d3.select(parent).append("figure").attr("class", "curve-box").attr("data-check", p.name);
  box.append("h3").text(p.name).append("small").text(`  distribution: observed, and ${p.replicates.length} replicates`);
  const width = widthOf(box.node()), height = 170, left = 40, foot = 22;
  const plot = svg(box.node(), width, height, `distribution of ${p.name} and of replicates`);
  if (few) {
    const all = d3.range(values[0], values[values.length - 1] + 1), x = d3.scaleBand(all, [left, width - 8]).padding(0.3);
    const count = (list, value) => list.filter((v) => v === value).length;
    const most = d3.max([...p.replicates, p.observed], (list) => d3.max(all, (value) => count(list, value)));
    const up = d3.scaleLinear([0, most], [height - foot, 8]);
    for (const value of all) {
      const [low, high] = d3.extent(p.replicates, (list) => count(list, value));
      plot.append("rect").attr("class", "bin").attr("x", x(value)).attr("width", x.bandwidth()).attr("y", up(count(p.observed, value))).attr("height", up(0) - up(count(p.observed, value)));
      plot.append("line").attr("class", "true").attr("x1", x(value) + x.bandwidth() / 2).attr("x2", x(value) + x.bandwidth() / 2).attr("y1", up(low)).attr("y2", up(high));
    }
    axis(plot, d3.axisBottom(x).tickSize(3), 0, height - foot, "axis none");
    axis(plot, d3.axisLeft(up).ticks(4).tickSize(3), left, 0, "axis none");
    return;
  }
  const pooled = Float64Array.from([...p.observed, ...p.replicates.flat()].filter(Number.isFinite)).sort();
  const [low, high] = [quantile(pooled, 0.002), quantile(pooled, 0.998)], pad = 0.08 * (high - low) || 1, range = [low - pad, high + pad];
  const lists = [...p.replicates, p.observed].map((list) => density(Float64Array.from(list), range)).filter((c) => c);
  if (!lists.length) return;
  const x = d3.scaleLinear(range, [left, width - 8]), up = d3.scaleLinear([0, d3.max(lists, (c) => d3.max(c, (d) => d[1]))], [height - foot, 8]);
  lists.forEach((c, k) => plot.append("path").attr("class", k === lists.length - 1 ? "curve observed" : "chain").attr("d", d3.line()(c.map(rangeOf(x, up)))));
  axis(plot, d3.axisBottom(x).ticks(Math.max(3, width / 90)).tickFormat(tick).tickSize(3), 0, height - foot, "axis none");
}

function showPredictive() {
  const parent = element("predictive-list");
  parent.textContent = "";
  element("predictive").hidden = predictive.length === 0; // what is hidden has no width
  for (const p of predictive) if (p.observed.length > 1) drawOverFit(parent, p);
  for (const p of predictive) drawDistributions(parent, p);
  if (run.loo) {
    const [observations, elpd, error, parameters, beyond] = run.loo;
    element("loo").textContent = `Leave-one-out cross-validation: elpd ${elpd.toFixed(1)}, standard error ${error.toFixed(1)}, ` +
      `${parameters.toFixed(1)} effective parameters, ${observations} observations` +
      (beyond ? `; ${beyond} of them change the posterior too much for it.` : ".");
  }
  element("predictive").hidden = predictive.length === 0 && !run.loo;
}
