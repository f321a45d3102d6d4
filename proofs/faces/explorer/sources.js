// Where states come from: a graph in this file, or a server with the spec behind it. Both answer the same question:
// which state is at the end of this path, how does one get there, and what can be done in it?

async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

class PackedSource {
  constructor(part) {
    this.part = part;
  }

  async load() {
    this.graph ??= await unpacked(this.part.graph);
    return this.graph;
  }

  steps(at) {
    const { calls, texts, nodes } = this.graph;
    const [, , row, taken] = nodes[at];
    const outcomes = new Map();
    for (const [key, to, tells, holds, inside] of taken) {
      const call = parseInt(key, 10);
      const [name, text] = calls[call];
      const step = { key, to, name, text: inside ? `${text}, ${this.part.inside}` : text, refused: "", tells: texts[tells] };
      outcomes.set(call, [...(outcomes.get(call) ?? []), { ...step, holds: texts[holds] }]);
    }
    return texts[row].flatMap((refusal, call) => {
      if (refusal < 0) return outcomes.get(call) ?? [];
      const [refused, holds] = texts[refusal];
      const [name, text] = calls[call];
      return [{ key: `${call}`, to: at, name, text, refused, tells: [`${this.part.word}: ${refused}`], holds: texts[holds] }];
    });
  }

  async walk(path) {
    const { texts, nodes } = await this.load();
    const trail = [];
    let [before, at] = [0, 0];
    for (const [place, key] of path.entries()) {
      const step = this.steps(at).find((one) => one.key === key);
      if (step === undefined) throw new Error(`step ${place + 1} of the path, ${key}, is no step of this scope`);
      if (step.to < 0) throw new Error(`step ${place + 1} of the path, ${step.text}, leads beyond this file`);
      trail.push(step);
      [before, at] = [at, step.to];
    }
    const [state, holds] = nodes[at];
    return { trail, before: nodes[before][0], state, holds: texts[holds], steps: this.steps(at) };
  }
}

class LiveSource {
  constructor(part) {
    this.part = part;
  }

  async walk(path) {
    const asked = new URLSearchParams({ scope: this.part.name, path: path.join("-") });
    const response = await fetch(`walk?${asked}`);
    const found = await response.json();
    if (!response.ok) throw new Error(found.error);
    return found;
  }
}
