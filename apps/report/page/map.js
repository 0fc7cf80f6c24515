// The map of points on a plane: particles, contours that contain 50 and 90 % of them, anchors and true positions.
const CONTOURED = 80, MAP_DOTS = 20000;

function drawMap(parent, chosen, choose) {
  const width = widthOf(parent), height = Math.round(Math.min(width * 0.95, 620)), left = 34, foot = 24;
  const each = Math.max(10, Math.min(run.shown, Math.floor(MAP_DOTS / planar.length)));
  const steps = thin(d3.range(run.shown), each);
  const seen = {x: [], y: []};
  for (const point of planar) {
    seen.x.push(number(point.x, "5%"), number(point.x, "95%"));
    seen.y.push(number(point.y, "5%"), number(point.y, "95%"));
    if (truth.has(point.x)) seen.x.push(truth.get(point.x));
    if (truth.has(point.y)) seen.y.push(truth.get(point.y));
  }
  for (const [, ax, ay] of run.anchors) seen.x.push(ax), seen.y.push(ay);
  const xs = d3.extent(seen.x), ys = d3.extent(seen.y);
  const unit = Math.min((width - left - 8) / ((xs[1] - xs[0]) * 1.12 || 1), (height - foot - 8) / ((ys[1] - ys[0]) * 1.12 || 1));
  const middle = [(left + width) / 2, (height - foot) / 2], half = [(width - left) / 2 / unit, (height - foot) / 2 / unit];
  const x = d3.scaleLinear([(xs[0] + xs[1]) / 2 - half[0], (xs[0] + xs[1]) / 2 + half[0]], [left, width]);
  const y = d3.scaleLinear([(ys[0] + ys[1]) / 2 - half[1], (ys[0] + ys[1]) / 2 + half[1]], [2 * middle[1], 0]);

  const plot = svg(parent, width, height, "map of the particles");
  axis(plot, d3.axisBottom(x).ticks(width / 90).tickFormat(tick).tickSize(3), 0, height - foot);
  axis(plot, d3.axisLeft(y).ticks(height / 80).tickFormat(tick).tickSize(3), left, 0);
  const clip = plot.append("svg").attr("x", left).attr("y", 0).attr("width", width - left).attr("height", height - foot)
    .attr("viewBox", `${left} 0 ${width - left} ${height - foot}`).style("overflow", "hidden");
  const inner = clip.append("g");
  planar.forEach((point, k) => {
    const px = particlesOf(point.x), py = particlesOf(point.y);
    const cloud = inner.append("g").attr("class", `cloud${chosen === point ? " chosen" : ""}`).attr("data-point", point.name)
      .style("stroke", d3.schemeTableau10[k % 10]);
    cloud.append("path").attr("class", "dots").attr("stroke-width", 2.6).attr("d", dotsPath(steps.map((l) => [x(px[l]), y(py[l])])));
    if (planar.length <= CONTOURED || point === chosen)
      for (const shape of contours(px, py, [0.9, 0.5])) cloud.append("path").attr("class", "contour").attr("d", outline(shape, x, y));
    cloud.append("title").text(point.name);
    cloud.node().addEventListener("click", () => choose(point.x));
  });
  for (const point of planar) {
    if (!truth.has(point.x) || !truth.has(point.y)) continue;
    const tx = x(truth.get(point.x)), ty = y(truth.get(point.y));
    inner.append("path").attr("class", "true-dash").attr("d", `M${x(number(point.x, "mean"))},${y(number(point.y, "mean"))}L${tx},${ty}`);
    inner.append("path").attr("class", "true").attr("d", `M${tx - 4},${ty - 4}l8,8m0,-8l-8,8`);
  }
  for (const [name, ax, ay] of run.anchors)
    inner.append("path").attr("class", "anchor").attr("d", d3.symbol().type(d3.symbolTriangle).size(80)())
      .attr("transform", `translate(${x(ax)},${y(ay)})`).append("title").text(name);
  const above = labelPlacer(7, 16);
  const others = planar.length <= 60 ? planar.filter((point) => point !== chosen) : [];
  for (const point of chosen ? [chosen, ...others] : others) {
    const at = x(number(point.x, "mean")), spot = above(at, y(number(point.y, "mean")), point.name);
    if (spot !== null) inner.append("text").attr("class", `label${point === chosen ? " chosen" : ""}`).attr("text-anchor", "middle").attr("x", at).attr("y", spot).text(point.name);
  }
  zoomable(clip, inner);
}

function mapCaption() {
  const parts = [areChains() ? "Draws" : "Particles"];
  if (planar.length <= CONTOURED) parts.push("contours that contain 50 % and 90 % of them");
  if (run.anchors.length) parts.push("▲ fixed points");
  if (planar.some((point) => truth.has(point.x) && truth.has(point.y))) parts.push("✕ true positions, with a dashed line from the mean");
  return parts.join(", ") + ". Both axes have the same unit.";
}
