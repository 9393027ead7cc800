"use strict";
(() => {
  const root = document.documentElement;
  // What went wrong and what was fetched, for whoever drives a browser to see.
  root.dataset.problems = 0;
  const problem = () => { root.dataset.problems++; };
  addEventListener("error", problem);
  document.addEventListener("securitypolicyviolation", problem);

  const charts = JSON.parse(document.getElementById("charts").textContent);
  const themes = {
    light: { ink: "#57606a", grid: "#e3e7ec", neutral: "#7d8791", limit: "#c4292b",
      palette: ["#1f6fc4", "#d06a00", "#16854a", "#c4292b", "#7a4fd0", "#008489", "#b83a8c", "#8a5a0c", "#627a00", "#44688a"] },
    dark: { ink: "#9aa5b1", grid: "#262e38", neutral: "#8f9aa6", limit: "#ff7b72",
      palette: ["#6cb0ff", "#ff9f43", "#5bd38a", "#ff7b72", "#b797ff", "#4fd1d6", "#f783c4", "#d9a55a", "#b5cc4a", "#92b3d4"] },
  };
  const dark = matchMedia("(prefers-color-scheme: dark)");
  let printing = false;
  const theme = () => dark.matches && !printing ? themes.dark : themes.light;
  const color = (i) => i < 0 ? theme().neutral : theme().palette[i % theme().palette.length];

  const show = (v) => v == null ? "–" : Number(v.toPrecision(5)).toLocaleString("en", { maximumFractionDigits: 8 });
  const percent = (t) => (100 - 100 * 10 ** -t).toFixed(Math.max(0, Math.floor(t + 1e-9) - 2 + (t % 1 > 1e-9 ? 2 : 0)));
  // A value of an axis in words.
  const said = (axis, v) => {
    if (v == null) return "–";
    if (axis.scale === "percentile") return "P" + Number(percent(v));
    if (axis.scale === "category") return axis.names[Math.round(v)] ?? "";
    return show(v);
  };

  const isBars = (chart) => chart.series.some((s) => s.style === "bars");

  // Where a value lies on its axis: lines are straight there.
  const place = (axis, v) => axis.scale === "log" ? Math.log(v) : v;
  const back = (axis, v) => axis.scale === "log" ? Math.exp(v) : v;

  // The value of a line at x, which lies between its points k and k+1: null where it has none.
  const between = (chart, s, x, k) => {
    const [x0, x1, y0, y1] = [s.xs[k], s.xs[k + 1], s.ys[k], s.ys[k + 1]];
    if (x0 == null || x1 == null || y0 == null || y1 == null) return null;
    if (s.style === "step") return y0;
    const share = (place(chart.x, x) - place(chart.x, x0)) / (place(chart.x, x1) - place(chart.x, x0));
    return back(chart.y, place(chart.y, y0) + share * (place(chart.y, y1) - place(chart.y, y0)));
  };

  // All series over one X, as uPlot wants it: null where a series has no value. Lines have values
  // between their points, too, and none before the first or after the last.
  const aligned = (chart) => {
    if (isBars(chart)) return [[chart.x.min, chart.x.max], ...chart.series.map(() => [null, null])];
    const xs = [...new Set(chart.series.flatMap((s) => s.xs.filter((x) => x != null)))].sort((a, b) => a - b);
    return [xs, ...chart.series.map((s) => {
      const at = new Map(s.xs.map((x, i) => [x, s.ys[i]]));
      let k = -1;
      return xs.map((x) => {
        while (k + 1 < s.xs.length && s.xs[k + 1] <= x) k++;
        if (at.has(x)) return at.get(x);
        return s.style === "line" || s.style === "step" ? between(chart, s, x, k) : null;
      });
    })];
  };

  // The least number that is at least v, and 1, 2 or 5 times a power of ten.
  const even = (v) => {
    const power = 10 ** Math.floor(Math.log10(v));
    return power * ([1, 2, 5].find((d) => d * power >= v * (1 - 1e-9)) ?? 10);
  };

  // The marks of a log axis: the decades, or even distances if the decades are too few.
  const logSplits = (min, max, room) => {
    const digits = 3 * Math.log10(max / min) > room ? [1] : [1, 2, 5];
    const all = [];
    for (let e = Math.floor(Math.log10(min)); e <= Math.log10(max); e++) all.push(...digits.map((d) => Number(d + "e" + e)));
    const inside = all.filter((v) => v >= min && v <= max);
    if (inside.length > 2) return inside;
    const step = even((max - min) / Math.min(6, room)), steps = [];
    for (let i = Math.ceil(min / step); i * step <= max; i++) steps.push(Number((i * step).toPrecision(12)));
    return steps;
  };

  const splits = (axis) => {
    if (axis.scale === "percentile") return (u, side, min, max) => [0, Math.log10(2), 1, 2, 3, 4, 5, 6, 7].filter((t) => t >= min - 1e-9 && t <= max + 1e-9);
    if (axis.scale === "category") return (u, side, min, max) => axis.names.map((_, i) => i).filter((i) => i >= min && i <= max);
    if (axis.scale === "log") return (u, side, min, max) => logSplits(min, max, side === 0 ? u.over.clientWidth / 45 : u.over.clientHeight / 16);
    return undefined;
  };
  const mark = (axis, v) => {
    if (axis.scale === "log") return show(v);
    if (axis.scale === "category") return axis.names[v];
    return percent(v > 0 && v < 1 ? v : Math.round(v)).replace(/\.0+$/, "");
  };

  const axisOf = (axis, upright) => {
    const o = { label: axis.title, stroke: () => theme().ink, labelSize: 20, labelGap: 0, labelFont: "12px system-ui, sans-serif", font: "11px system-ui, sans-serif",
      grid: { stroke: () => theme().grid, width: 1 }, ticks: { stroke: () => theme().grid, width: 1 } };
    if (!upright) o.size = 30;
    else o.size = (u, values) => 20 + 7 * Math.max(3, ...(values ?? []).map((v) => String(v ?? "").length));
    if (splits(axis)) {
      o.splits = splits(axis);
      o.values = (u, at) => at.map((v) => mark(axis, v));
      if (axis.scale === "log") o.filter = (u, at) => at; // uPlot's own blanks most
    }
    return o;
  };

  const scaleX = (axis, xs) => ({
    time: false, distr: axis.scale === "log" ? 3 : 1,
    // What is not the whole of the data is a part that was zoomed into. uPlot asks for X before Y.
    range: (u, min, max) => {
      u.zoomed = !(min === xs[0] && max === xs[xs.length - 1]) && min < max;
      u.view = u.zoomed ? [min, max] : [axis.min, axis.max];
      return u.view;
    },
  });

  // The heights that a part of the chart has.
  const heights = (chart, u) => {
    const [from, to] = u.view, shown = (k) => u.series[k + 1].show;
    if (isBars(chart)) return chart.series.flatMap((s, k) => shown(k) ? s.ys.filter((_, i) => s.xs[i] <= to && s.to[i] >= from) : []);
    return chart.series.flatMap((_, k) => shown(k) ? u.data[k + 1].filter((v, i) => v != null && u.data[0][i] >= from && u.data[0][i] <= to) : []);
  };

  // Y shows all, or what is there in the part that was zoomed into.
  const scaleY = (chart) => ({
    distr: chart.y.scale === "log" ? 3 : 1, dir: chart.y.down ? -1 : 1,
    range: (u) => {
      const axis = chart.y, all = u.zoomed ? heights(chart, u) : [];
      if (!all.length) return [axis.min, axis.max];
      const least = all.reduce((a, b) => Math.min(a, b)), most = all.reduce((a, b) => Math.max(a, b));
      if (axis.scale === "log") return [least / 1.15, most * 1.15];
      const edge = isBars(chart) ? 1 : (most - least) * 0.08 || Math.abs(most) * 0.08 || 1;
      return [least >= 0 ? Math.max(0, least - edge) : least - edge, most + edge];
    },
  });

  // Of rows of that height. Thin ones touch, as gaps of less than a pixel make patterns.
  const thickness = (row) => row < 4 ? Math.max(1, row * 1.1) : row * 0.8;

  // Lines and bars, each from its own points: their X may come twice, and need not ascend.
  const drawLines = (chart) => (u) => {
    const g = u.ctx, { left, top, width, height } = u.bbox;
    const x = (v) => u.valToPos(v, "x", true), y = (v) => u.valToPos(v, "y", true);
    g.save();
    g.beginPath();
    g.rect(left, top, width, height);
    g.clip();
    const order = chart.series.map((s, i) => [s, i]).sort(([a], [b]) => (b.style === "wide") - (a.style === "wide"));
    order.forEach(([s, i]) => {
      if (!u.series[i + 1].show || s.style === "dots") return;
      g.strokeStyle = color(s.color);
      g.lineWidth = s.style === "bars" ? thickness(s.thick * height / (u.scales.y.max - u.scales.y.min)) : (s.style === "wide" ? 9 : 2) * devicePixelRatio;
      g.globalAlpha = s.style === "wide" ? 0.35 : 1;
      g.lineJoin = "round";
      g.lineCap = s.style === "wide" ? "round" : "butt";
      g.beginPath();
      let joined = false;
      s.xs.forEach((at, k) => {
        if (s.ys[k] == null) { joined = false; return; }
        // A value between two that are not known is a dot.
        const alone = s.style === "line" && !joined && s.ys[k + 1] == null;
        if (!joined) g.moveTo(x(at) - (alone ? 3 * devicePixelRatio : 0), y(s.ys[k]));
        if (alone) g.lineTo(x(at), y(s.ys[k]));
        else if (s.style === "step") g.lineTo(x(at), y(s.ys[k - 1]));
        if (joined) g.lineTo(x(at), y(s.ys[k]));
        // What took no time is to be seen, too.
        if (s.style === "bars") g.lineTo(Math.max(x(s.to[k]), x(at) + 3 * devicePixelRatio), y(s.ys[k]));
        joined = s.style !== "bars";
      });
      g.stroke();
    });
    g.globalAlpha = 1;
    g.lineCap = "butt";
    g.setLineDash([2 * devicePixelRatio, 3 * devicePixelRatio]);
    g.strokeStyle = g.fillStyle = theme().limit;
    g.lineWidth = 1.5 * devicePixelRatio;
    g.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
    for (const l of chart.limits ?? []) {
      g.beginPath();
      if (l.across) { g.moveTo(x(l.at), top); g.lineTo(x(l.at), top + height); }
      else { g.moveTo(left, y(l.at)); g.lineTo(left + width, y(l.at)); }
      g.stroke();
      g.textAlign = "right";
      if (l.across) g.fillText(l.name, x(l.at) - 5 * devicePixelRatio, top + height - 8 * devicePixelRatio);
      else g.fillText(l.name, left + width - 4 * devicePixelRatio, y(l.at) - 5 * devicePixelRatio);
    }
    g.restore();
  };

  const seriesOf = (chart) => chart.series.map((s) => ({
    label: s.name, stroke: () => color(s.color), width: 0, paths: () => null,
    points: { show: s.style === "dots" || s.style === "path", size: s.style === "dots" ? 3 : 7, fill: () => color(s.color), width: 0 },
    value: (u, v) => show(v),
  }));

  // Pixels across a page, or half of it.
  const paper = (whole) => whole ? 680 : 330;

  const draw = (figure) => {
    const chart = charts[figure.dataset.chart], at = figure.querySelector(".plot");
    figure.plot?.destroy();
    const data = aligned(chart), bars = isBars(chart);
    const width = Math.max(240, printing ? paper(bars) : at.clientWidth);
    const first = figure.closest(".first"), small = innerWidth <= 600;
    const height = first && !printing ? (small ? 220 : bars ? 330 : 300) : bars ? 420 : printing ? 230 : 290;
    const u = new uPlot({
      width, height,
      scales: { x: scaleX(chart.x, data[0]), y: scaleY(chart) },
      axes: [axisOf(chart.x, false), axisOf(chart.y, true)],
      series: [{ label: chart.x.title, value: (u, v) => said(chart.x, v) }, ...seriesOf(chart)],
      legend: { live: !bars && !printing, markers: { fill: (u, i) => color(chart.series[i - 1].color), stroke: (u, i) => color(chart.series[i - 1].color) } },
      cursor: { drag: { x: true, y: false }, points: { show: !bars } },
      hooks: { draw: [drawLines(chart)] },
    }, data, at);
    figure.plot = u;
    at.querySelectorAll(".u-legend .u-series:not(:first-child) th").forEach((th, i) => {
      th.tabIndex = 0;
      th.setAttribute("role", "button");
      th.setAttribute("aria-pressed", "true");
      th.addEventListener("click", () => th.setAttribute("aria-pressed", String(u.series[i + 1].show)));
      th.addEventListener("keydown", (e) => {
        if (e.key !== "Enter" && e.key !== " ") return;
        e.preventDefault();
        e.stopPropagation();
        th.click();
      });
    });
  };

  // What the chart has at one place, in words.
  const read = (chart, u, i) => {
    if (isBars(chart)) {
      const parts = chart.series.flatMap((s) => s.ys.flatMap((row, k) => row === i ? [`${s.name} ${show((s.to[k] - s.xs[k]) * 1000)} ms`] : []));
      const name = chart.rows?.[Math.floor(i / chart.series[0].thick)] ?? `request ${i}`;
      return `${name}: ${parts.join(", ")}`;
    }
    const parts = chart.series.map((s, k) => u.series[k + 1].show && u.data[k + 1][i] != null ? `${s.name}: ${show(u.data[k + 1][i])}` : "");
    return `${said(chart.x, u.data[0][i])}, ${chart.x.title} – ${parts.filter(Boolean).join("; ")}`;
  };

  const listen = (figure) => {
    const chart = charts[figure.dataset.chart], place = figure.querySelector(".plot"), output = figure.querySelector("output");
    const bars = isBars(chart);
    const rows = bars ? [...new Set(chart.series.flatMap((s) => s.ys))].sort((a, b) => a - b) : [];
    let at = -1;
    place.addEventListener("keydown", (e) => {
      const u = figure.plot, n = bars ? rows.length : u.data[0].length;
      const step = { ArrowRight: 1, ArrowDown: bars ? 1 : undefined, ArrowLeft: -1, ArrowUp: bars ? -1 : undefined, PageDown: 10, PageUp: -10, Home: -n, End: n }[e.key];
      if (step === undefined || n === 0) return;
      e.preventDefault();
      at = Math.min(n - 1, Math.max(0, at + step));
      output.textContent = read(chart, u, bars ? rows[at] : at);
      if (!bars) u.setCursor({ left: u.valToPos(u.data[0][at], "x"), top: u.over.clientHeight / 2 });
    });
    if (!bars) return;
    place.addEventListener("mousemove", (e) => {
      const u = figure.plot, row = u.posToVal(e.clientY - u.over.getBoundingClientRect().top, "y");
      const i = rows.reduce((best, r, k) => Math.abs(r - row) < Math.abs(rows[best] - row) ? k : best, 0);
      output.textContent = read(chart, u, rows[i]);
    });
  };

  const tabulate = (details) => {
    if (!details.open || details.querySelector("table")) return;
    const chart = charts[details.closest("figure").dataset.chart];
    const box = document.createElement("div"), table = document.createElement("table");
    box.className = "scroll";
    box.tabIndex = 0;
    const row = (cells, tag) => {
      const tr = table.appendChild(document.createElement("tr"));
      for (const text of cells) tr.appendChild(document.createElement(tag)).textContent = text;
    };
    const to = isBars(chart);
    row(["series", chart.x.title, ...(to ? ["until (s)"] : []), chart.y.title], "th");
    for (const s of chart.series) s.xs.forEach((x, i) => row([s.name, said(chart.x, x), ...(to ? [show(s.to[i])] : []), show(s.ys[i])], "td"));
    box.appendChild(table);
    details.appendChild(box);
  };

  const figures = [...document.querySelectorAll("figure[data-chart]")];
  const seen = (figure) => !figure.closest("details.run:not([open])");
  const drawSeen = () => {
    figures.filter(seen).forEach((f) => { if (!f.plot) draw(f); });
    root.dataset.drawn = figures.filter((f) => f.plot).length;
  };
  const redraw = () => figures.filter((f) => f.plot).forEach(draw);

  figures.forEach(listen);
  document.querySelectorAll("details.data").forEach((d) => d.addEventListener("toggle", () => tabulate(d)));
  document.querySelectorAll("details.run").forEach((d) => d.addEventListener("toggle", drawSeen));
  const openTarget = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target && target.tagName === "DETAILS") target.open = true;
  };
  addEventListener("hashchange", openTarget);
  openTarget();
  drawSeen();
  dark.addEventListener("change", redraw);
  addEventListener("beforeprint", () => { printing = true; redraw(); });
  addEventListener("afterprint", () => { printing = false; redraw(); });
  const sizes = new ResizeObserver((entries) => {
    if (printing) return;
    for (const { target } of entries) {
      const figure = target.closest("figure");
      if (figure.plot && seen(figure) && figure.plot.width !== target.clientWidth) figure.plot.setSize({ width: Math.max(240, target.clientWidth), height: figure.plot.height });
    }
  });
  figures.forEach((f) => sizes.observe(f.querySelector(".plot")));
  addEventListener("load", () => { root.dataset.resources = performance.getEntriesByType("resource").length; });
})();
