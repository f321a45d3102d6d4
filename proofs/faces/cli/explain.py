"""`blockpool explain`."""

from typing import Annotated

import typer

from blockpool.proofs.faces.cli.console import out
from blockpool.proofs.faces.stories.explain import explain_name, list_names


def explain(
    name: Annotated[
        str | None, typer.Argument(help="A claim, an action or a reason to refuse; all of them if none is named.")
    ] = None,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="List all claims as Markdown, as in the README.")
    ] = False,
) -> None:
    """Say what a claim, action or refusal means, why it matters, and show a shortest trace where there is one."""
    try:
        out.print(list_names(markdown=markdown) if name is None else explain_name(name), markup=False)
    except KeyError as error:
        raise typer.BadParameter(str(error.args[0])) from error
