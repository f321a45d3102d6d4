"""The book: all pages, their sources in a folder of their own, and the build. Anything that does not fit ends it."""

import doctest
import io
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from blockpool.proofs.cases import CaseError
from blockpool.proofs.core.sources import ROOT
from blockpool.proofs.explore.scopes import SCOPES, Scope
from blockpool.proofs.faces.explorer.page import explorer_page
from blockpool.proofs.faces.handbook import (
    action_pages,
    article_pages,
    author_pages,
    claim_pages,
    evidence,
    evidence_pages,
    examples,
    glossary,
    request_pages,
    start_pages,
    survey,
)
from blockpool.proofs.faces.handbook.drawings import EXPLORER
from blockpool.proofs.faces.handbook.guides import adopt
from blockpool.proofs.faces.handbook.links import DeadLink, dead_links
from blockpool.proofs.faces.handbook.writing import Page
from blockpool.proofs.oracle.kv_events import LAWS as EVENT_LAWS
from blockpool.spec import ACTIONS, CLAIMS, RULES, WORLD_CLAIMS
from blockpool.spec.contract.laws import PROMISES
from blockpool.spec.contract.violation import DUTIES

Progress = Callable[[str], None]


class NoCheckoutError(CaseError):
    """There is no checkout to make the book in."""


def checkout() -> Path:
    """The folder with docs/: where the package is, or where the command is given. Raises NoCheckoutError."""
    for folder in (ROOT, Path.cwd()):
        if (folder / "docs" / "conf.py").is_file():
            return folder
    raise NoCheckoutError("the handbook is made in a checkout: there is no docs/conf.py here, nor beside the package")


class BuildError(CaseError):
    """The book cannot be made: it says what does not fit."""


@dataclass(frozen=True, slots=True)
class Built:
    """A book that was built, and how much of it there is."""

    folder: Path
    pages: int
    links: int
    doctests: int


def build(out: Path, progress: Progress = lambda line: None, explored: Scope = SCOPES["tiny"][0]) -> Built:
    """Make all pages, and an explorer of this scope. Raises BuildError for a warning, a dead link, a wrong example."""
    root = checkout()
    progress("examples are being run")
    tried = run_doctests(root / "docs")
    with TemporaryDirectory(prefix="blockpool-docs-") as folder:
        sources = Path(folder) / "docs"
        progress("pages are being made")
        count = write_sources(root, sources)
        progress(f"{count} pages are being built")
        _sphinx(sources, out)
    progress("the explorer is being packed")
    (out / EXPLORER).write_text(explorer_page([explored], examples.stories(examples.read()).values()), encoding="utf-8")
    links, dead = dead_links(out)
    if dead:
        raise BuildError(f"{len(dead)} dead links: {_listed(dead)}")
    return Built(out, count, links, tried)


def write_sources(root: Path, sources: Path) -> int:
    """The sources of all pages: those written by hand, and those made of the objects that are checked."""
    shutil.copytree(root / "docs", sources)
    guides = adopt(root, sources)
    for made in made_pages():
        file = sources / f"{made.path}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(made.text, encoding="utf-8")
    (sources / "generated").mkdir()
    picture = start_pages.picture(survey.read())
    (sources / "generated" / "life.html.md").write_text(picture, encoding="utf-8")
    with (sources / "authors.md").open("a", encoding="utf-8") as authors:
        listed = "\n".join(f"authors/{name}" for name in (*guides, "profiles", "laws"))
        authors.write(f"\n## All of it\n\n```{{toctree}}\n:maxdepth: 1\n\n{listed}\n```\n")
    return len(list(sources.rglob("*.md"))) - 1  # the picture is no page


def made_pages() -> Iterator[Page]:
    """Every page that is made of what is checked."""
    glossary.know_terms()
    proof, kept, surveyed = evidence.read(), examples.read(), survey.read()
    start_pages.check(surveyed, proof)
    known = kinds_of_names()
    yield start_pages.page(surveyed)
    yield from action_pages.pages(surveyed, known)
    yield from claim_pages.pages(proof, kept)
    yield from request_pages.pages(kept)
    yield from author_pages.pages()
    yield from article_pages.pages(known)
    yield from evidence_pages.pages(proof, known)
    yield glossary.page()


def kinds_of_names() -> dict[str, str]:
    """What each name is, that has a page or a place on one."""
    known = dict.fromkeys((*PROMISES, *DUTIES, *EVENT_LAWS), "law")
    known |= dict.fromkeys(RULES, "rule") | {kind.name: "action" for kind in ACTIONS}
    # A law that is a claim of the spec as well has one page: that of the claim.
    return known | {one.name: "claim" for one in (*CLAIMS, *WORLD_CLAIMS)}


def run_doctests(folder: Path) -> int:
    """Run every example in the pages written by hand. Raises BuildError with the first that is not as written."""
    tried = 0
    for page in sorted(folder.glob("*.md")):
        text = re.sub(r"^```.*$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
        examples_of = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
        said = io.StringIO()
        result = doctest.DocTestRunner(verbose=False).run(examples_of, out=said.write)
        if result.failed:
            raise BuildError(f"an example in {page} is not as written:\n{said.getvalue()}")
        tried += result.attempted
    return tried


def _sphinx(sources: Path, out: Path) -> None:
    try:
        from sphinx.cmd.build import main as sphinx
    except ImportError as missing:
        raise BuildError(f"{missing}; install the extra: pip install '.[docs]'") from missing
    said = io.StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        code = sphinx(
            ["-q", "-W", "--keep-going", "-b", "html", "-d", str(sources.parent / "doctrees"), str(sources), str(out)]
        )
    if code:
        raise BuildError(f"Sphinx warns:\n{said.getvalue().strip()}")


def _listed(dead: list[DeadLink]) -> str:
    return "; ".join(f"{one.target} in {one.page}" for one in dead[:10])
