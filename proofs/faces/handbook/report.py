"""A run as one page, to attach to CI: verdicts, coverage, figures, counterexamples, and what it takes to run it again.

Made of the file of verdicts that every command writes with `--json`. Readable where scripts are not allowed; with them,
each counterexample can be played.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from html import escape
from itertools import groupby
from pathlib import Path
from shlex import join
from typing import Any

from blockpool.proofs.core.obligation import Verdict
from blockpool.proofs.core.strict_json import FormatError
from blockpool.proofs.faces.explorer.page import DRAWING, filled, sentences
from blockpool.proofs.faces.stories.explain import sentence_of
from blockpool.proofs.faces.stories.story import Story, told
from blockpool.proofs.refine.search_obligations import COUNTED, COVERED, SEARCHED

FORMAT = "blockpool-verdicts/1"
SIGNS = {Verdict.HOLDS: "✓", Verdict.REFUTED: "✗", Verdict.INCONCLUSIVE: "?", Verdict.VACUOUS: "○"}
CLASSES = {Verdict.HOLDS: "kept", Verdict.REFUTED: "broken", Verdict.INCONCLUSIVE: "open", Verdict.VACUOUS: "open"}
COVERAGE = (COVERED, COUNTED, SEARCHED)

Entry = Mapping[str, Any]


def read_run(file: Path) -> dict[str, Any]:
    """The run in a file written with `--json`. Raises FormatError and OSError."""
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise FormatError(f"not JSON: {error}") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise FormatError(f"a file of format {FORMAT!r} is needed, as commands write it with --json")
    return document


def report_page(run: Mapping[str, Any]) -> str:
    """The page of a run."""
    obligations = run["obligations"]
    broken = [entry for entry in obligations if entry["verdict"] != Verdict.HOLDS]
    stories: list[Story] = []
    parts = [_summary(run), *([_broken(broken, stories)] if broken else []), _coverage(obligations)]
    parts += [_table(obligations), _again(run)]
    title = f"blockpool: {_counted(obligations)}"
    data = {"stories": stories, "claims": sentences() if stories else {}}
    return filled("report.html", title, data, (*DRAWING, "report.js"), main="\n".join(filter(None, parts)))


def _counted(obligations: Iterable[Entry]) -> str:
    counts = Counter(entry["verdict"] for entry in obligations)
    words = {Verdict.HOLDS: "hold"}
    found = [f"{counts[verdict]} {words.get(verdict, verdict)}" for verdict in Verdict if counts[verdict]]
    return ", ".join(found) or "nothing was decided"


def _summary(run: Mapping[str, Any]) -> str:
    code, obligations = run["exit_code"], run["obligations"]
    cut_off = " The run was interrupted." if run.get("interrupted") else ""
    whole = code == 0 and obligations and not cut_off and all(one["verdict"] == Verdict.HOLDS for one in obligations)
    tone = "status" if whole else "status broken"
    said = "Everything holds." if whole else f"{_counted(obligations)}: only what holds is success.{cut_off}"
    figures = f"{len(run['obligations'])} obligations, exit code {code}, {run['seconds']:,.1f} s"
    return f'<div class="{tone}"><strong>{escape(said)}</strong><br>{escape(figures)}</div>'


def _broken(entries: Iterable[Entry], stories: list[Story]) -> str:
    return _sheet("broken", "What does not hold", "".join(_broken_one(entry, stories) for entry in entries))


def _broken_one(entry: Entry, stories: list[Story]) -> str:
    name, example = entry["name"], entry.get("counterexample")
    parts = [f"<h3>{_verdict(entry)} <code>{escape(name)}</code></h3>", f"<p>{escape(sentence_of(name))}</p>"]
    parts.append(f'<p class="quiet">{escape(_where(entry))}</p>')
    if example is None:
        return "".join([*parts, f"<pre>{escape(entry.get('words', ''))}</pre>"])
    parts.append(f"<details open><summary>The calls</summary><pre>{escape(_text(example))}</pre></details>")
    if example.get("story"):
        parts.append(f'<div id="story-of-{len(stories)}"></div>')
        stories.append(example["story"])
    parts.append(f"<details><summary>As a test</summary><pre>{escape(example['pytest'])}</pre></details>")
    return "".join(parts)


def _text(example: Entry) -> str:
    if example.get("story"):
        return told(example["story"])
    calls = "\n".join(f"  {number}. {call}" for number, call in enumerate(example["calls"], 1))
    return f"{example['sentence']}\n\n{calls}\n\n  {example['words']}"


def _coverage(entries: Iterable[Entry]) -> str:
    rows = [
        [_verdict(entry), _name(entry), escape(_where(entry)), _figures(entry)] for entry in entries if _covers(entry)
    ]
    return (
        _sheet("coverage", "Coverage", _rows("Coverage", ("verdict", "what", "where", "figures"), rows)) if rows else ""
    )


def _covers(entry: Entry) -> bool:
    return entry["name"] in COVERAGE


def _table(entries: Iterable[Entry]) -> str:
    """Everything, by method, in the order in which it was decided."""
    parts = []
    listed = sorted(entries, key=lambda entry: str(entry["method"]))
    for method, found in groupby(listed, key=lambda entry: str(entry["method"])):
        group = list(found)
        rows = [
            [_verdict(entry), _name(entry), escape(entry["scope"]), _figures(entry), f"{entry['seconds']:,.1f}"]
            for entry in group
        ]
        heads = ("verdict", "obligation", "scope", "figures", "seconds")
        parts.append(
            f"<details open><summary>{escape(method)}: {escape(_counted(group))}</summary>"
            f"{_rows(f'By {method}', heads, rows)}</details>"
        )
    return _sheet("all", "All obligations", "".join(parts))


def _again(run: Mapping[str, Any]) -> str:
    versions = [[escape(name), escape(str(number))] for name, number in run["versions"].items()]
    command = f"<pre>{escape(join(run['command']))}</pre>"
    note = f"<p>{escape(run['note'])}; platform {escape(run['platform'])}</p>" if run.get("note") else ""
    table = _rows("Versions", ("tool", "version"), versions)
    return _sheet("again", "To run it again", command + note + table)


def _verdict(entry: Entry) -> str:
    verdict = Verdict(entry["verdict"])
    sign = f'<span aria-hidden="true">{SIGNS[verdict]}</span>'
    return f'<span class="verdict {CLASSES[verdict]}">{sign} {verdict}</span>'


def _name(entry: Entry) -> str:
    return f"<code>{escape(entry['name'])}</code><br>{escape(sentence_of(entry['name']))}"


def _where(entry: Entry) -> str:
    return ", ".join(filter(None, (entry["method"], entry["scope"])))


def _figures(entry: Entry) -> str:
    return escape(", ".join(f"{name} {_number(value)}" for name, value in entry["figures"].items()))


def _number(value: object) -> str:
    return f"{value:,}" if isinstance(value, int | float) else str(value)


def _sheet(name: str, title: str, content: str) -> str:
    return f'<section class="sheet" aria-labelledby="{name}"><h2 id="{name}">{escape(title)}</h2>{content}</section>'


def _rows(caption: str, heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table. The cells are HTML."""
    head = "".join(f'<th scope="col">{escape(word)}</th>' for word in heads)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    hidden = f'<caption class="hidden">{escape(caption)}</caption>'
    table = f"<table>{hidden}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="wide" tabindex="0" role="group" aria-label="{escape(caption)}">{table}</div>'
