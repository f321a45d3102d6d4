// Drawing a state. Nothing here knows what a call does: what changed is what differs between two pictures.

"use strict";

const LIVES = {
  null: ["∅", "the placeholder in block tables; never lent"],
  blank: ["○", "free, and nothing to find in it"],
  private: ["●", "held, and no lookup can find it: its holder may write"],
  published: ["◆", "held, and found by lookups: read only"],
  cached: ["◇", "free, but a lookup still finds it: a hit revives it, an allocation evicts it"],
  watched: ["◉", "free, not findable, but somebody reads it until told"],
};

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat(Infinity).filter((child) => child !== undefined && child !== null && child !== false));
  return made;
}

const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);
const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

function blockLines(block) {
  const lines = [];
  if (block.refs !== undefined) lines.push(counted(block.refs, "ref"));
  for (const key of block.keys ?? []) lines.push(`key ${key}`);
  for (const key of block.aliases ?? []) lines.push(`alias ${key}`);
  for (const watcher of block.watchers ?? []) lines.push(`watched by ${watcher}`);
  for (const holder of block.holders ?? []) lines.push(`held by ${holder}`);
  return lines;
}

function drawBlock(block, before, inPlace) {
  const changed = before !== undefined && !same(block, before);
  const [sign] = LIVES[block.life];
  const lines = blockLines(block).map((line) => element("li", {}, line));
  if (block.holds) lines.push(element("li", { class: "ghost" }, `memory: ${block.holds.join(" ")}`));
  const card = element(
    "div",
    { class: changed ? "block changed" : "block", "data-life": block.life, "data-block": block.id },
    element("span", { class: "name" }, element("span", { class: "hidden" }, "block "), block.id),
    element("span", { class: "life" }, element("span", { "aria-hidden": "true" }, sign), ` ${block.life}`),
    element("ul", {}, lines),
    changed && element("span", { class: "mark" }, "changed"),
  );
  return element("li", inPlace ? { "data-place": inPlace } : {}, card);
}

function drawBlocks(state, before) {
  const blocks = new Map((state.blocks ?? []).map((block) => [block.id, block]));
  const old = new Map((before?.blocks ?? []).map((block) => [block.id, block]));
  const draw = (id, place) => drawBlock(blocks.get(id) ?? { id, life: "null" }, old.get(id), place);
  const queued = state.queue ?? [];
  const rest = [...blocks.keys()].filter((id) => !queued.includes(id));
  const moved = before !== undefined && !same(state.queue, before.queue) ? " (changed)" : "";
  const parts = [];
  if (state.queue) {
    parts.push(
      element("h3", {}, `Free queue, next victim first${moved}`),
      queued.length
        ? element("ol", { class: "row queue" }, queued.map((id, place) => draw(id, place + 1)))
        : element("p", { class: "quiet" }, "empty: nothing is free"),
    );
  }
  const title = parts.length ? "Not in the queue" : "Blocks";
  parts.push(element("h3", {}, title), element("ul", { class: "row" }, rest.map((id) => draw(id))));
  return parts;
}

function drawTable(caption, heads, rows) {
  return element(
    "table",
    {},
    element("caption", { class: "hidden" }, caption),
    element("thead", {}, element("tr", {}, heads.map((head) => element("th", { scope: "col" }, head)))),
    element("tbody", {}, rows.map((row) => element("tr", {}, row.map((cell) => element("td", {}, cell))))),
  );
}

function drawIndex(state, before) {
  const changed = before !== undefined && !same(state.index, before.index) ? " (changed)" : "";
  const rows = state.index.map(([key, blocks]) => [key, blocks.join(", ") || "no block"]);
  return [
    element("h3", {}, `Index: what a lookup may answer${changed}`),
    rows.length
      ? drawTable("The index", ["prefix", "blocks"], rows)
      : element("p", { class: "quiet" }, "empty: nothing is found"),
  ];
}

function drawList(title, lines) {
  return [element("h3", {}, title), element("ol", { class: "trail" }, lines.map((line) => element("li", {}, line)))];
}

function drawRequests(state, before) {
  const old = new Map((before?.requests ?? []).map((request) => [request.name, request]));
  const changed = (request) => before !== undefined && !same(request, old.get(request.name));
  const rows = state.requests.map((request) => [
    [request.name, changed(request) && element("span", { class: "mark" }, "changed")],
    `${request.tokens}, prompt ${request.prompt}`,
    request.status,
    element(
      "div",
      {},
      (request.tables ?? []).map((table) =>
        element("div", {}, `group ${table.group}: [${table.blocks.join(", ")}], ${table.published} published`),
      ),
    ),
  ]);
  return [element("h3", {}, "Requests"), drawTable("Requests", ["name", "wants", "status", "block tables"], rows)];
}

function drawPicture(state, before) {
  return element(
    "div",
    { class: "picture" },
    (state.notes ?? []).map((note) => element("p", {}, element("strong", {}, note))),
    drawBlocks(state, before),
    state.requests && drawRequests(state, before),
    (state.around ?? []).map(([title, lines]) => drawList(title, lines)),
    state.index && drawIndex(state, before),
    state.outbox && drawList("Outbox: events not yet taken", state.outbox),
  );
}

function drawLegend() {
  return Object.entries(LIVES).map(([life, [sign, words]]) =>
    element(
      "li",
      {},
      element(
        "div",
        { class: "block", "data-life": life },
        element("strong", {}, element("span", { "aria-hidden": "true" }, sign), ` ${life}`),
        element("br"),
        words,
      ),
    ),
  );
}
