"""One page for each action: what it does, when it is refused, what it must preserve, and what went wrong with it."""

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from inspect import getdoc, getmodule, getsource
from textwrap import dedent
from typing import Any

from blockpool.proofs.adequacy.defects.seeded import DEFECTS
from blockpool.proofs.cases import CaseError
from blockpool.proofs.cases.bug_catalogue import concerning
from blockpool.proofs.core.counterexample import told_of
from blockpool.proofs.core.edits import Edit
from blockpool.proofs.core.sources import tree_of
from blockpool.proofs.core.text import call
from blockpool.proofs.faces.handbook.drawings import change
from blockpool.proofs.faces.handbook.writing import Page, action, claim, named, plain
from blockpool.proofs.faces.stories.pictures import pool_picture
from blockpool.spec import ACTIONS, INVARIANTS, Action, Step
from blockpool.spec.scenarios import STORIES, tell

Survey = Mapping[str, Any]

CHANGING = "Calls that may change the pool"
ASKING = "Questions"


class NoScenarioError(CaseError):
    """An action that no story uses."""


def pages(survey: Survey, known: Mapping[str, object]) -> Iterator[Page]:
    """A page for each action, and the one that leads to them."""
    yield _contents()
    for kind in ACTIONS:
        yield _page(kind, survey, known)


def _contents() -> Page:
    page = Page("actions/index", "What can be asked of a pool", "actions")
    page.say(
        "Each action has the same three parts, in this order: a guard, which says why a correct pool refuses the call; "
        "the answers that the promise allows; and the effect, the state afterwards."
    )
    page.quote("A refused call changes nothing.")
    rows = [
        [action(kind.name), _first_sentence(kind), str(len(kind.reasons)) if kind.reasons else "never"]
        for kind in ACTIONS
    ]
    page.table(["action", "what it does", "reasons to refuse"], rows)
    page.toctree(kind.name for kind in ACTIONS)
    return page


def _first_sentence(kind: type[Action[Any]]) -> str:
    return plain(" ".join((getdoc(kind) or "").split("\n\n")[0].split()).split(". ")[0].rstrip(".") + ".")


def _page(kind: type[Action[Any]], survey: Survey, known: Mapping[str, object]) -> Page:
    page = Page(f"actions/{kind.name}", kind.name, f"action-{kind.name}")
    first, *more = (getdoc(kind) or "").split("\n\n")
    page.quote(" ".join(first.split()))
    for paragraph in more:
        page.say(" ".join(paragraph.split()))
    _scenario(page, kind)
    _refusals(page, kind, survey)
    _source(page, kind)
    _preserves(page, kind, survey)
    _bugs(page, kind, known)
    return page


def scenario_of(kind: type[Action[Any]]) -> tuple[str, str, str, Step]:
    """The story, its sentence, the line and the step that show the action best: it is taken, and changes something."""
    best: tuple[str, str, str, Step] | None = None
    for story in STORIES:
        for line, step in zip(story.lines, tell(story), strict=True):
            if isinstance(line.action, kind) and not step.refused:
                found = (story.name, story.sentence, line.says, step)
                if best is None or _worth(step) > _worth(best[3]):
                    best = found
    if best is None:
        raise NoScenarioError(f"no story of spec/scenarios.py takes {kind.name}")
    return best


def _worth(step: Step) -> tuple[bool, int, int]:
    """What changes most says most; of equals the one with more to see."""
    changed = step.after.__class__.__dataclass_fields__
    differing = sum(getattr(step.before, name) != getattr(step.after, name) for name in changed)
    return bool(step.told), differing, len(step.before.index) + len(step.before.watchers)


def _scenario(page: Page, kind: type[Action[Any]]) -> None:
    story, sentence, says, step = scenario_of(kind)
    page.heading("Seen at work")
    page.say(f"From the story `{story}`: {sentence} At this point: {says}")
    page.html(change(pool_picture(step.before), call(step.action), told_of(step), pool_picture(step.after)))
    page.say(
        "A test runs every story on the spec and on the implementation, and objects to the first answer that differs."
    )


def _refusals(page: Page, kind: type[Action[Any]], survey: Survey) -> None:
    page.heading("When it is refused")
    if not kind.reasons:
        page.say("Never, not even while a watcher is told. A question changes nothing.")
        return
    page.say(
        "Each reason with the shortest calls that were found to lead to it, and to no other. Nothing has changed "
        "afterwards."
    )
    rows = []
    for reason in sorted(kind.reasons):
        name = f"{kind.name}: {reason}"
        example = survey["refusals"].get(name)
        trace = "only together with other reasons" if example is None else _trace(example["trace"])
        rows.append([f"**{reason}**", trace])
    page.table(["reason", "example"], rows)


def _trace(calls: list[str]) -> str:
    return ", ".join(f"`{one}`" for one in calls)


def _source(page: Page, kind: type[Action[Any]]) -> None:
    module = getmodule(kind)
    page.heading("Guard, answers, effect")
    page.say(f"This is all that is promised, from `{getattr(module, '__name__', '').replace('.', '/')}.py`.")
    page.code(dedent(getsource(kind)))


def _preserves(page: Page, kind: type[Action[Any]], survey: Survey) -> None:
    page.heading("What it must preserve")
    page.markdown(f"Every [invariant](#claims): {', '.join(claim(one.name) for one in INVARIANTS)}.")
    concerned = survey["concerns"].get(kind.name, [])
    if concerned:
        page.say("And of what is true of every step, these claims had something to say about steps of this action:")
        page.items(claim(name) for name in concerned)


def _bugs(page: Page, kind: type[Action[Any]], known: Mapping[str, object]) -> None:
    page.heading("Bugs it has had")
    reported = concerning(kind.name)
    if reported:
        page.say("In real pools: this is the call that goes wrong or that shows it.")
        rows = [
            [_number(bug.id, bug.of_vllm), plain(bug.happened), ", ".join(named(name, known) for name in bug.named_by)]
            for bug in reported
        ]
        page.table(["report", "what happened", "named by"], rows)
    seeded = seeded_in(kind)
    if seeded:
        page.say("Seeded in its own source, to see that the gates notice:")
        page.items(f"{plain(name.removeprefix('spec: '))} ({tree})" for name, tree in seeded)
    if not reported and not seeded:
        page.say("None that is known here.")


def _number(name: str, of_vllm: bool) -> str:
    return f"[{name}](#finding-{name.lower()})" if of_vllm else name


@cache
def _owners(module: str) -> list[tuple[int, int, str]]:
    """First line, last line and name of each class and function of a module that stands on its own, or of a method."""
    from importlib import import_module

    found = []
    tree = ast.parse(getsource(import_module(module)))
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            methods = [one for one in node.body if isinstance(one, ast.FunctionDef)]
            found += [(one.lineno, one.end_lineno or one.lineno, f"{node.name}.{one.name}") for one in methods]
        elif isinstance(node, ast.FunctionDef):
            found.append((node.lineno, node.end_lineno or node.lineno, node.name))
    return found


def _owner(edit: Edit) -> str:
    """The class or function that the edit is in; empty if it is in none."""
    from importlib import import_module

    source = getsource(import_module(edit.module))
    place = source.find(edit.right)
    if place < 0:
        return ""
    line = source.count("\n", 0, place + len(edit.right) - len(edit.right.lstrip())) + 1
    return next((name for first, last, name in _owners(edit.module) if first <= line <= last), "")


def seeded_in(kind: type[Action[Any]]) -> list[tuple[str, str]]:
    """Seeded defects within the class of the action, or within the method of `impl` of its name; and of which tree."""
    found = []
    for defect in DEFECTS:
        for edit in defect.edits:
            owner = _owner(edit)
            of_spec = owner.startswith(f"{kind.__name__}.")
            of_impl = tree_of(edit.module) == "impl" and owner.rpartition(".")[2] == kind.name
            if of_spec or of_impl:
                found.append((defect.name, tree_of(edit.module)))
                break
    return found
