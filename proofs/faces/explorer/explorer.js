// The page: the address says which scope and path, or which story and call, is shown; everything else follows from it.

const data = JSON.parse(document.getElementById("data").textContent);
const main = document.getElementById("main");
const trouble = document.getElementById("trouble");
const view = document.getElementById("view");
const stories = [...data.stories];
const sources = new Map(data.parts.map((part) => [part.name, part.graph ? new PackedSource(part) : new LiveSource(part)]));
const open = new Set(); // groups of refused calls that are unfolded
let wanted = ""; // what the calls are filtered by
let turn = 0; // an answer that comes late is for nobody
let player = null;

// --- the address ---

function address() {
  const said = new URLSearchParams(location.hash.slice(1));
  return {
    scope: said.get("scope") ?? data.parts[0]?.name,
    path: (said.get("path") ?? "").split("-").filter(Boolean),
    story: said.has("story") || !data.parts.length ? Number(said.get("story") ?? 0) : null,
    frame: Number(said.get("frame") ?? 0),
  };
}

const link = (fields) => `#${new URLSearchParams(fields)}`;
const go = (fields) => (location.hash = link(fields));
const pathLink = (scope, path) => (path.length ? { scope, path: path.join("-") } : { scope });

// --- stepping ---

async function showState({ scope, path }) {
  const mine = ++turn;
  const source = sources.get(scope);
  if (source === undefined) throw new Error(`there is no scope ${scope} here; ${[...sources.keys()].join(", ")}`);
  const found = await source.walk(path);
  if (mine !== turn) return;
  const focused = document.activeElement?.dataset?.key ?? document.activeElement?.id;
  document.getElementById("about").textContent = `Scope ${scope}: ${source.part.sentence}. ${source.part.note}`;
  drawState(source.part, path, found);
  restoreFocus(focused);
}

function drawState(part, path, found) {
  const last = found.trail.at(-1);
  const state = drawPicture(found.state, last && found.before);
  const title = path.length ? `State after ${counted(path.length, "call")}` : "The first state";
  const now = element(
    "section",
    { class: "sheet", "aria-labelledby": "state-title" },
    element("h2", { id: "state-title", tabindex: "-1" }, title),
    drawStatus(part, last, path.length),
    drawControls(part, path),
    state,
  );
  main.replaceChildren(
    element("div", { class: "board" }, now, element("div", {}, drawCalls(part, path, found.steps), drawWay(part, path, found.trail))),
    drawLights(lightsOf(part, found)),
  );
}

function drawControls(part, path) {
  const to = (length) => () => go(pathLink(part.name, path.slice(0, length)));
  return element(
    "div",
    { class: "play" },
    element("button", { type: "button", id: "undo", disabled: !path.length, onclick: to(path.length - 1) }, "Undo"),
    element("button", { type: "button", id: "restart", disabled: !path.length, onclick: to(0) }, "Start over"),
    element("a", { href: link(pathLink(part.name, path)) }, "Link to this state"),
    element("button", { type: "button", class: "narrow", onclick: () => document.getElementById("calls-title").focus() }, "To the calls"),
  );
}

function drawStatus(part, last, number) {
  const status = element("div", { class: last?.refused ? "status refused" : "status", role: "status" });
  const lines = last ? [element("strong", {}, `Call ${number}: ${last.text}`)] : ["Take a call."];
  if (last) lines.push(element("ul", {}, last.tells.map((line) => element("li", {}, line))));
  if (last?.refused) lines.push("Nothing changes.");
  // A live region speaks of what is put into it, not of what it was made with.
  setTimeout(() => status.replaceChildren(...lines), 0);
  return status;
}

function lightsOf(part, found) {
  const of = (kind) => part.claims.filter((claim) => claim[3] === kind);
  const [moments, steps, possible] = [of("state"), of("step"), of("possibility")];
  const silent = "-".repeat(steps.length + possible.length);
  const letters = found.trail.at(-1)?.holds ?? silent;
  const shown = possible.map((_, place) =>
    found.trail.some(({ holds }) => holds[steps.length + place] === "1") ? "shown" : "silent",
  );
  return [
    { title: "At this moment", claims: moments, verdicts: meanings(found.holds) },
    { title: "Of the last step", claims: steps, verdicts: meanings(letters.slice(0, steps.length)) },
    { title: "Possible, shown on the way here", claims: possible, verdicts: shown },
  ];
}

function drawCalls(part, path, steps) {
  const groups = new Map();
  for (const step of steps) groups.set(step.name, [...(groups.get(step.name) ?? []), step]);
  const filter = element("input", {
    type: "search", id: "filter", value: wanted, oninput: () => ((wanted = filter.value), applyFilter()),
  });
  const list = element("div", { class: "scroll", id: "calls", tabindex: "0", role: "group", "aria-label": "Calls by action" },
    [...groups].map(([name, found]) => drawGroup(part, path, name, found)));
  const beyond = steps.filter((step) => step.to < 0).length;
  queueMicrotask(applyFilter);
  return element(
    "section",
    { class: "sheet", "aria-labelledby": "calls-title" },
    element("h2", { id: "calls-title", tabindex: "-1" }, "Calls"),
    element("p", {}, element("label", {}, "Filter ", filter)),
    beyond > 0 && element("p", { class: "quiet" }, `${counted(beyond, "call")} here lead${beyond === 1 ? "s" : ""} beyond this file; blockpool explore --serve goes on.`),
    list,
  );
}

function drawGroup(part, path, name, steps) {
  const button = (step) =>
    element(
      "button",
      {
        type: "button",
        class: step.refused ? "call refused" : "call",
        "data-key": step.key,
        disabled: step.to < 0,
        onclick: () => go(pathLink(part.name, [...path, step.key])),
      },
      step.text,
      step.refused && ` ${part.word}: ${step.refused}`,
    );
  const [enabled, refused] = [steps.filter((step) => !step.refused), steps.filter((step) => step.refused)];
  const folded = element(
    "details",
    { open: open.has(name), ontoggle: (event) => open[event.target.open ? "add" : "delete"](name) },
    element("summary", {}, `${refused.length} ${part.word}`),
    element("div", { class: "buttons" }, refused.map(button)),
  );
  return element(
    "section",
    { class: "group", "aria-label": name },
    element("h3", {}, `${name} `, element("span", { class: "quiet" }, `${enabled.length} possible`)),
    element("div", { class: "buttons" }, enabled.map(button)),
    refused.length > 0 && folded,
  );
}

function applyFilter() {
  const words = wanted.toLowerCase();
  for (const group of document.querySelectorAll("#calls .group")) {
    const buttons = [...group.querySelectorAll("button")];
    for (const button of buttons) button.hidden = !button.textContent.toLowerCase().includes(words);
    group.hidden = buttons.every((button) => button.hidden);
  }
}

function drawWay(part, path, trail) {
  const to = (length) => () => go(pathLink(part.name, path.slice(0, length)));
  return path.length > 0 && element(
    "section",
    { class: "sheet", "aria-labelledby": "way-title" },
    element("h2", { id: "way-title" }, "The way here"),
    element(
      "ol",
      { class: "trail" },
      trail.map((step, place) =>
        element(
          "li",
          {},
          element(
            "button",
            { type: "button", onclick: to(place + 1), "aria-current": place + 1 === trail.length ? "step" : undefined },
            step.text,
          ),
          step.refused && ` ${part.word}: ${step.refused}`,
        ),
      ),
    ),
  );
}

// Where the focus goes when a state is shown: to the same button, if the state can be seen beside it.
function restoreFocus(focused) {
  if (!focused) return;
  const title = document.getElementById("state-title");
  const again = document.querySelector(`[data-key="${CSS.escape(focused)}"]`) ?? document.getElementById(focused);
  const beside = matchMedia("(min-width: 60rem)").matches && again && !again.disabled && again.checkVisibility();
  if (beside) again.focus({ preventScroll: true });
  else title.focus();
}

// --- stories ---

function showStory({ story, frame }) {
  turn++;
  const chosen = stories[story];
  if (chosen === undefined) throw new Error(`there is no story number ${story} here; load the file that has it`);
  document.getElementById("about").textContent = "";
  if (player?.story !== chosen || !player.root.isConnected) {
    const moved = (at) => player && history.replaceState(null, "", link({ story: stories.indexOf(player.story), frame: at }));
    player = null;
    player = new Player(chosen, data.claims, moved);
    main.replaceChildren(player.root);
  }
  player.show(frame);
}

async function load(file) {
  const found = JSON.parse(await file.text());
  const told = found.format === "blockpool-story/1" ? [found] : (found.obligations ?? []).map((one) => one.counterexample?.story);
  const playable = told.filter((story) => Array.isArray(story?.frames) && story.frames.length);
  if (!playable.length) throw new Error(`${file.name} has no counterexample that can be played`);
  stories.push(...playable);
  fillView();
  go({ story: stories.length - playable.length, frame: 0 });
}

// --- the page as a whole ---

function fillView() {
  const scopes = data.parts.map((part) => element("option", { value: link({ scope: part.name }) }, `step through ${part.name}`));
  const told = stories.map((story, number) => element("option", { value: link({ story: number }) }, story.title));
  view.replaceChildren(...scopes, ...told);
}

const attempt = async (what) => {
  trouble.textContent = "";
  try {
    await what();
  } catch (error) {
    trouble.textContent = error.message;
  }
};

const show = () =>
  attempt(() => {
    const said = address();
    view.value = link(said.story === null ? { scope: said.scope } : { story: said.story });
    return said.story === null ? showState(said) : showStory(said);
  });

view.addEventListener("change", () => (location.hash = view.value));
document.getElementById("file").addEventListener("change", (event) => attempt(() => load(event.target.files[0])));
document.getElementById("skip").addEventListener("click", (event) => (event.preventDefault(), main.focus()));
document.getElementById("legend").append(...drawLegend());
startTheme(document.getElementById("theme"));
addEventListener("hashchange", show);
fillView();
show();
