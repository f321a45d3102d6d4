// Playing a story: its states one after the other, to the one in which something is broken.

let players = 0;

class Player {
  constructor(story, sentences, moved = () => {}) {
    this.story = story;
    this.moved = moved;
    this.claims = story.claims.map((name) => [name, ...(sentences[name] ?? [name === story.claim ? story.sentence : ""])]);
    this.last = story.frames.length - 1;
    this.at = 0;
    this.number = players++;
    this.build();
    this.show(0);
  }

  build() {
    const title = `story-${this.number}`;
    const go = (frame) => () => this.show(frame());
    this.back = element("button", { type: "button", onclick: go(() => this.at - 1) }, "‹ Back");
    this.next = element("button", { type: "button", onclick: go(() => this.at + 1) }, "Next ›");
    this.end = element("button", { type: "button", onclick: go(() => this.last) }, "To the end");
    this.range = element("input", {
      type: "range", min: "0", max: `${this.last}`, "aria-label": "Call shown", oninput: go(() => Number(this.range.value)),
    });
    this.status = element("div", { class: "status", role: "status" });
    this.picture = element("div", {});
    this.calls = element(
      "ol",
      { class: "trail" },
      this.story.frames.slice(1).map((frame, place) =>
        element("li", {}, element("button", { type: "button", onclick: go(() => place + 1) }, frame.call)),
      ),
    );
    this.lights = element("div", {});
    this.root = element(
      "div",
      { class: "player" },
      element(
        "section",
        { class: "sheet", "aria-labelledby": title },
        element("h2", { id: title }, this.story.title),
        element("p", {}, this.story.sentence),
        element("div", { class: "play" }, this.back, this.next, this.end, this.range),
        this.status,
      ),
      element(
        "div",
        { class: "board" },
        element("section", { class: "sheet", "aria-label": "State" }, this.picture),
        element("section", { class: "sheet side", "aria-label": "Calls of the story" }, element("h2", {}, "Calls"), this.calls),
      ),
      this.lights,
    );
  }

  show(frame) {
    this.at = Math.max(0, Math.min(this.last, frame));
    const { frames, words } = this.story;
    const now = frames[this.at];
    const ends = this.at === this.last && Boolean(words);
    const focused = document.activeElement;
    this.back.disabled = this.at === 0;
    this.next.disabled = this.end.disabled = this.at === this.last;
    if ([this.back, this.next, this.end].includes(focused) && focused.disabled) this.range.focus();
    this.range.value = this.at;
    this.range.setAttribute("aria-valuetext", now.call ?? "the beginning");
    this.status.className = ends && this.story.claim ? "status broken" : "status";
    this.status.replaceChildren(
      element("strong", {}, now.call === null ? "The beginning" : `Call ${this.at} of ${this.last}: ${now.call}`),
      element("ul", {}, now.tells.map((line) => element("li", {}, line))),
      ends ? this.ending() : "",
    );
    this.picture.replaceChildren(drawPicture(now.state, frames[this.at - 1]?.state));
    this.calls.querySelectorAll("button").forEach((button, place) => {
      if (place + 1 === this.at) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
    });
    this.showLights(now, ends);
    this.moved(this.at);
  }

  ending() {
    const head = this.story.claim ? `✗ Broken: ${this.story.claim.replaceAll("_", " ")}` : "The end";
    return element("div", { class: "banner" }, element("strong", {}, head), element("pre", {}, this.story.words));
  }

  showLights(now, ends) {
    const claims = [...this.claims];
    const verdicts = meanings(now.holds);
    const known = claims.findIndex(([name]) => name === this.story.claim);
    if (this.story.claim && known < 0) {
      claims.unshift([this.story.claim, this.story.sentence]);
      verdicts.unshift(ends ? "broken" : "silent");
    }
    this.lights.replaceChildren(claims.length ? drawLights([{ title: "At this call", claims, verdicts }]) : "");
  }
}
