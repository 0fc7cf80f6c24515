// The table of `svmp summary`, sortable by any column, with a drawing of the interval.
const ROWS = 15;
const scalarsFirst = d3.range(variables).sort((i, j) => isElement(run.names[i]) - isElement(run.names[j]) || i - j);
const table = {order: scalarsFirst, shown: ROWS, column: null, down: false, found: scalarsFirst};

function buildTable(choose) {
  const head = d3.select("#table thead").append("tr");
  const headings = ["variable", ...run.columns];
  if (truth.size) headings.push("true");
  for (const name of headings) {
    const button = head.append("th").attr("scope", "col").append("button").text(name);
    button.node().addEventListener("click", () => sortBy(name, choose));
  }
  head.append("th").attr("class", "plot").text("5 to 95 %");
  const search = document.getElementById("search");
  search.addEventListener("input", () => {
    table.shown = ROWS;
    fillTable(choose);
  });
  document.getElementById("more-rows").addEventListener("click", () => {
    table.shown *= 4;
    fillTable(choose);
  });
  document.getElementById("table-caption").textContent =
    `As printed by svmp summary, from all ${run.particles.toLocaleString("en")} ${units()}.`;
}

function sortBy(name, choose) {
  table.down = table.column === name ? !table.down : false;
  table.column = name;
  table.order = [...scalarsFirst];
  const shown = name === "true" ? (i) => truth.get(i) : (i) => number(i, name);
  const value = (i) => (Number.isFinite(shown(i)) ? shown(i) : Infinity);
  if (name !== "variable") table.order.sort((a, b) => d3.ascending(value(a), value(b)) || a - b);
  if (table.down) table.order.reverse();
  for (const heading of document.querySelectorAll("#table th")) {
    const here = heading.textContent === name;
    if (here) heading.setAttribute("aria-sort", table.down ? "descending" : "ascending");
    else heading.removeAttribute("aria-sort");
  }
  fillTable(choose);
}

function fillTable(choose) {
  const wanted = document.getElementById("search").value.trim().toLowerCase();
  table.found = table.order.filter((i) => run.names[i].toLowerCase().includes(wanted));
  const rows = table.found.slice(0, table.shown), left = table.found.length - rows.length;
  document.getElementById("found").textContent = wanted ? `${table.found.length} of ${variables} found` : (run.all > variables ? `${variables.toLocaleString("en")} of ${run.all.toLocaleString("en")}: scalars, small arrays and elements of the others` : `${variables} in all`);
  const more = document.getElementById("more-rows");
  more.hidden = left === 0;
  more.textContent = `show more (${left.toLocaleString("en")} left)`;
  const scales = new Map(); // elements of an array share a scale; a scalar has its own
  for (const stem of new Set(rows.map((i) => stemOf(run.names[i])))) {
    const list = rows.filter((i) => stemOf(run.names[i]) === stem);
    const ends = d3.extent(list.flatMap((i) => [number(i, "5%"), number(i, "95%"), ...(truth.has(i) ? [truth.get(i)] : [])]));
    const pad = list.length === 1 ? 0.4 * (ends[1] - ends[0]) : 0;
    scales.set(stem, d3.scaleLinear(ends[0] < ends[1] ? [ends[0] - pad, ends[1] + pad] : [(ends[0] || 0) - 1, (ends[1] || 0) + 1], [6, 294]));
  }
  const body = d3.select("#table tbody");
  body.selectAll("tr").remove();
  for (const i of rows) addRow(body, i, scales.get(stemOf(run.names[i])), choose);
  markRow(chosenVariable);
}

function addRow(body, i, x, choose) {
  const row = body.append("tr").attr("data-variable", i);
  row.append("td").append("button").attr("title", run.names[i]).text(run.names[i]);
  for (const name of run.columns) row.append("td").text(cell(i, name));
  if (truth.size) row.append("td").text(truth.has(i) ? short(truth.get(i)) : "");
  const plot = svg(row.append("td").attr("class", "plot").node(), 300, 18, "").attr("preserveAspectRatio", "none").attr("aria-hidden", "true");
  const curve = isElement(run.names[i]) ? null : density(particlesOf(i), x.domain());
  if (curve) {
    const up = d3.scaleLinear([0, d3.max(curve, (d) => d[1])], [18, 1]);
    plot.append("path").attr("class", "area").attr("d", d3.area().x((d) => x(d[0])).y0(18).y1((d) => up(d[1]))(curve));
  }
  if (x.domain()[0] < 0 && x.domain()[1] > 0) plot.append("line").attr("class", "frame").attr("x1", x(0)).attr("x2", x(0)).attr("y2", 18);
  plot.append("line").attr("class", "interval").attr("x1", x(number(i, "5%"))).attr("x2", x(number(i, "95%"))).attr("y1", 9).attr("y2", 9)
    .attr("vector-effect", "non-scaling-stroke");
  plot.append("path").attr("class", "median").attr("d", `M${x(number(i, "50%"))},4v10`).attr("vector-effect", "non-scaling-stroke");
  if (truth.has(i)) plot.append("path").attr("class", "true").attr("d", `M${x(truth.get(i))},1v16`).attr("vector-effect", "non-scaling-stroke");
  row.node().addEventListener("click", () => choose(i, true));
}

function markRow(i) {
  d3.selectAll("#table tbody tr").classed("chosen", function () {
    return Number(this.dataset.variable) === i;
  });
}
