"""`blockpool mutate`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from blockpool.proofs.adequacy.mutation.targets import modules_of
from blockpool.proofs.core.sources import ROOT
from blockpool.proofs.core.workers_ray import Workforce
from blockpool.proofs.faces.cli.console import Progress, err, out
from blockpool.proofs.faces.cli.session import CORES, JsonFile, RayAddress, Session, Workers, interruptible, workforce
from blockpool.proofs.faces.stories.explain import nearest

if TYPE_CHECKING:
    from blockpool.proofs.adequacy.mutation.run import Judged

MEMORY = ROOT / ".blockpool" / "mutants.jsonl"
"""What earlier runs found."""


def mutate(
    trees: Annotated[list[str] | None, typer.Argument(help="impl, spec or both.", show_default="both")] = None,
    module: Annotated[
        list[str] | None, typer.Option("--module", help="Only this module, such as blockpool.impl.free_queue.")
    ] = None,
    deep: Annotated[bool, typer.Option("--deep", help="Run the dear gates as well on what survives.")] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Forget what earlier runs found.")] = False,
    listed: Annotated[bool, typer.Option("--list", help="Print the mutants, judge nothing.")] = False,
    workers: Workers = CORES,
    ray: RayAddress = None,
    json_file: JsonFile = None,
) -> None:
    """Change one thing at a time in impl or the spec, and see whether any test or gate notices.

    The mutants are made by the operators of mutmut. Each is judged in a process of its own, the files stay as they are.
    Results are kept in .blockpool/mutants.jsonl of the checkout: a run goes on where the last one ended, and judges
    anew what has changed. Survivors that do the same as the original are listed in
    proofs/adequacy/mutation/harmless.json.
    """
    if words := tools_missing():
        err.print(f"error: {words}", style="red", markup=False)
        raise typer.Exit(2)
    from blockpool.proofs.adequacy.mutation import run as mutation

    modules = _modules(trees or ["impl", "spec"], module or [])
    if listed:
        for mutant in mutation.all_mutants(modules):
            out.print(f"{mutant.name}  (line {mutant.line})", markup=False)
        return
    if fresh:
        MEMORY.unlink(missing_ok=True)
    session = Session("mutants by mutmut", json_file)
    with interruptible(session), workforce(workers, ray) as working, Progress() as progress:
        judge_mutants(session, modules, working, progress, deep=deep)
    session.end()


def judge_mutants(
    session: Session, modules: Sequence[str], workers: Workforce, progress: Progress, *, deep: bool = False
) -> None:
    """Judge the mutants of these modules that are not known from an earlier run, and decide the scores."""
    from blockpool.proofs.adequacy.mutation.scores import decided

    for obligations in decided(modules, MEMORY, workers=workers, deep=deep, survives=_print, progress=progress):
        session.decide(obligations)


def tools_missing() -> str:
    """What is missing to judge mutants here; nothing if all is there."""
    try:
        import mutmut  # noqa: F401
        import pytest  # noqa: F401
    except ImportError as error:
        return f"mutants need mutmut and pytest: pip install 'blockpool[mutate]' ({error})"
    return "" if (ROOT / "tests").is_dir() else "mutants are judged by the tests of a checkout, and here are none"


def _print(survivor: "Judged", why: str | None) -> None:
    mutant = survivor.mutant
    out.print(f"survives{', harmless' * bool(why)}: line {mutant.line}: {mutant.name}", markup=False)


def _modules(trees: list[str], wanted: list[str]) -> list[str]:
    for tree in trees:
        if tree not in ("impl", "spec"):
            raise typer.BadParameter(f"there are mutants of impl and of spec, not of {tree!r}")
    modules = [name for tree in trees for name in modules_of(tree)]
    for name in wanted:
        if name not in modules:
            raise typer.BadParameter(f"there are no mutants of {name!r}. {nearest(name, modules)}")
    return [name for name in modules if not wanted or name in wanted]
