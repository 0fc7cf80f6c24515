// Arrays: rasters of mean, sd and discrepancy for two dimensions, the mean with its interval for one.
function floatsOf(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0)), view = new DataView(bytes.buffer);
  return Float32Array.from({length: bytes.length / 4}, (_, k) => view.getFloat32(4 * k, true));
}

const fields = run.fields.map(([name, rank, step, low, extent, mean, sd, q05, q95, excess]) =>
  ({name, rank, step, low, extent, layers: {mean, sd, q05, q95, excess}}));

const finite = (values) => values.filter((v) => Number.isFinite(v));
const elementName = (field, ...at) => `${field.name}${at.map((k, d) => `.${field.low[d] + k * field.step}`).join("")}`;
const spacing = (field) => (field.step > 1 ? `, every ${field.step}th element` : "");

// A picture with one pixel an element; the value under the pointer is written below, and a click selects the variable.
function drawRaster(parent, field, layer, title, interpolate) {
  const values = floatsOf(field.layers[layer]), [rows, columns] = field.extent;
  const known = Float32Array.from(finite(values)).sort();
  if (known.length === 0) return;
  const box = d3.select(parent).append("figure").attr("class", "raster").attr("data-raster", `${field.name} ${layer}`);
  box.append("h3").text(title);
  let [low, high] = [quantile(known, 0.005), quantile(known, 0.995)];
  if (!(low < high)) [low, high] = [known[0] - 0.5, known[known.length - 1] + 0.5];
  const scale = d3.scaleSequential([low, high], interpolate).clamp(true);
  const colours = d3.range(256).map((k) => d3.rgb(interpolate(k / 255)));
  const canvas = box.append("canvas").attr("width", columns).attr("height", rows).attr("role", "img")
    .attr("aria-label", `${title} of ${field.name}`).node();
  const context = canvas.getContext("2d"), image = context.createImageData(columns, rows);
  for (let k = 0; k < values.length; k++) {
    if (!Number.isFinite(values[k])) continue; // stays clear
    const c = colours[Math.max(0, Math.min(255, Math.round(255 * (values[k] - low) / (high - low))))];
    image.data.set([c.r, c.g, c.b, 255], 4 * k);
  }
  context.putImageData(image, 0, 0);
  drawColours(box.node(), scale, title);
  const caption = box.append("p").attr("class", "caption").html("&nbsp;");
  const under = (event) => {
    const at = canvas.getBoundingClientRect();
    const i = Math.floor(((event.clientY - at.top) / at.height) * rows), j = Math.floor(((event.clientX - at.left) / at.width) * columns);
    return [Math.max(0, Math.min(rows - 1, i)), Math.max(0, Math.min(columns - 1, j))];
  };
  canvas.addEventListener("pointermove", (event) => {
    const [i, j] = under(event);
    caption.text(`${elementName(field, i, j)}: ${short(values[i * columns + j])}`);
  });
  canvas.addEventListener("click", (event) => {
    const name = elementName(field, ...under(event));
    if (place.has(name)) choose(place.get(name), true);
  });
}

function drawLine(parent, field) {
  const [mean, low, high] = ["mean", "q05", "q95"].map((layer) => floatsOf(field.layers[layer]));
  const box = d3.select(parent).append("figure").attr("class", "line").attr("data-raster", `${field.name} line`);
  box.append("h3").text(`${field.name}`).append("small").text(`  mean and 5 to 95 %${spacing(field)}`);
  const width = widthOf(box.node()), height = 190, left = 46, foot = 22, thinned = Math.ceil(mean.length / 2000);
  const points = d3.range(0, mean.length, thinned).filter((k) => Number.isFinite(mean[k]));
  if (points.length < 2) return;
  const x = (k) => field.low[0] + k * field.step;
  const across = d3.scaleLinear([x(0), x(mean.length - 1)], [left, width - 8]);
  const up = d3.scaleLinear([d3.min(points, (k) => low[k]), d3.max(points, (k) => high[k])], [height - foot, 8]).nice();
  const plot = svg(box.node(), width, height, `${field.name}: mean and interval`);
  plot.append("path").attr("class", "area").attr("d", d3.area().x((k) => across(x(k))).y0((k) => up(low[k])).y1((k) => up(high[k]))(points));
  plot.append("path").attr("class", "curve").attr("d", d3.line().x((k) => across(x(k))).y((k) => up(mean[k]))(points));
  axis(plot, d3.axisBottom(across).ticks(Math.max(3, width / 90)).tickFormat(d3.format("d")).tickSize(4), 0, height - foot);
  axis(plot, d3.axisLeft(up).ticks(4).tickFormat(tick).tickSize(4), left, 0);
}

function showFields() {
  const parent = element("fields-list");
  parent.textContent = "";
  element("forests").textContent = "";
  element("fields").hidden = false; // what is hidden has no width
  element("fields").hidden = !showForests(element("forests")) && fields.length === 0;
  for (const field of fields) {
    if (field.rank === 1) {
      drawLine(parent, field);
      continue;
    }
    const where = `${field.name}[${field.low[0]}:${field.low[0] + (field.extent[0] - 1) * field.step},${field.low[1]}:${field.low[1] + (field.extent[1] - 1) * field.step}]`;
    drawRaster(parent, field, "mean", `mean of ${where}${spacing(field)}`, d3.interpolateViridis);
    drawRaster(parent, field, "sd", `sd of ${where}`, d3.interpolateMagma);
    if (field.layers.excess) drawRaster(parent, field, "excess", `discrepancy of ${where}, above 1: fails`, d3.interpolateCividis);
  }
}
