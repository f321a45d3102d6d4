// A light for each claim: what it says of the state shown, of the step that led to it, or of the way here.

const SIGNS = { kept: "✓", broken: "✗", silent: "–", shown: "★" };
const MEANINGS = { 1: "kept", 0: "broken", "-": "silent" };
const SPOKEN = { kept: "kept", broken: "broken", silent: "nothing to say here", shown: "shown on the way here" };

function drawLight([name, sentence, reason], verdict) {
  return element(
    "li",
    { class: verdict, "data-claim": name, "data-verdict": verdict },
    element(
      "details",
      { open: verdict === "broken" },
      element(
        "summary",
        {},
        element("span", { class: "sign", "aria-hidden": "true" }, SIGNS[verdict]),
        name.replaceAll("_", " "),
        element("span", { class: "hidden" }, `: ${SPOKEN[verdict]}`),
      ),
      element("p", {}, sentence),
      reason && element("p", { class: "quiet" }, reason),
    ),
  );
}

function drawLightGroup(title, claims, verdicts) {
  const lit = claims.map((claim, place) => [claim, verdicts[place]]);
  const broken = lit.filter(([, verdict]) => verdict === "broken");
  const others = lit.filter(([, verdict]) => verdict !== "broken");
  const count = (verdict) => verdicts.filter((one) => one === verdict).length;
  const words = ["kept", "shown", "broken", "silent"].filter(count).map((verdict) => `${count(verdict)} ${verdict}`);
  return [
    element("h3", {}, `${title}: ${words.join(", ")}`),
    element("ul", { class: "lights" }, [...broken, ...others].map(([claim, verdict]) => drawLight(claim, verdict))),
  ];
}

function drawLights(groups) {
  return element(
    "section",
    { class: "sheet", "aria-labelledby": "lights-title" },
    element("h2", { id: "lights-title" }, "Claims"),
    groups
      .filter(({ claims }) => claims.length)
      .map(({ title, claims, verdicts }) => drawLightGroup(title, claims, verdicts)),
  );
}

const meanings = (letters) => [...letters].map((letter) => MEANINGS[letter]);
