"""`blockpool adapters`."""

import re
from typing import Annotated

import typer

from blockpool.proofs.faces.cli.console import err, out

app = typer.Typer(no_args_is_help=True, help="Pools that can be checked by name: what is here, and what each needs.")


@app.command(name="list")
def list_adapters() -> None:
    """List the shipped adapters, whether their pools are here, and how to get those that are not."""
    from blockpool.proofs.systems.registry import RELEASE_OF_VLLM, SHIPPED
    from blockpool.proofs.systems.vllm.files import cache_folder, fetched_releases

    for one in SHIPPED:
        missing = one.missing()
        get = f"needs {', '.join(missing)}: {one.install}" if missing else "here"
        out.print(f"{one.name:14} {one.pool:48} {get}", markup=False, soft_wrap=True)
    core = f"{RELEASE_OF_VLLM}VERSION"
    out.print(
        f"{core:14} {'core files of any vLLM release since 0.8.5':48} blockpool adapters fetch {core}", soft_wrap=True
    )
    out.print(f"fetched, in {cache_folder()}: {', '.join(fetched_releases()) or 'none'}", markup=False, soft_wrap=True)


@app.command()
def fetch(
    releases: Annotated[list[str], typer.Argument(help="vllm==VERSION, one or more.")],
) -> None:
    """Download vLLM wheels with pip, one at a time, and keep only the files of the block pool.

    A wheel has 250 to 510 MB; about 100 kB of it are kept, with their checksums, in the cache folder ($BLOCKPOOL_CACHE,
    or the platform's).
    """
    from blockpool.proofs.systems.vllm.files import FetchError, release_folder
    from blockpool.proofs.systems.vllm.files import fetch as fetch_release

    for release in releases:
        if not re.fullmatch(r"vllm==\d+(\.\d+)+(\.?(post|rc)\d+)?", release):
            raise typer.BadParameter(f"{release!r} is not vllm==VERSION, as in vllm==0.33.0")
    for release in releases:
        version = release.removeprefix("vllm==")
        try:
            receipt = fetch_release(version)
        except FetchError as error:
            err.print(f"error: {error}", style="red", markup=False)
            raise typer.Exit(2) from error
        kept = sum(file["bytes"] for file in receipt["files"].values())
        out.print(
            f"{release}: {receipt['wheel']}, {receipt['wheel_bytes'] / 1e6:.0f} MB, sha256 "
            f"{receipt['wheel_sha256'][:12]}; kept {len(receipt['files'])} files, {kept / 1e3:.0f} kB, "
            f"in {release_folder(version)}",
            markup=False,
            soft_wrap=True,
        )


@app.command()
def table(
    adapters: Annotated[list[str], typer.Argument(help="Names from `blockpool adapters list`, one or more.")],
) -> None:
    """Compare pools: what `conform` with wrong calls finds in each, as a Markdown table. Some ten seconds a pool."""
    from blockpool.proofs.systems.registry import MissingPoolError, NoSuchAdapterError
    from blockpool.proofs.systems.table import rows

    try:
        for row in rows(adapters):
            out.print(row, markup=False, highlight=False, soft_wrap=True)
    except (NoSuchAdapterError, MissingPoolError) as error:
        err.print(f"error: {error}", style="red", markup=False)
        raise typer.Exit(2) from error
