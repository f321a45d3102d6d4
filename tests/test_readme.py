"""The README says what the code does: its list of claims, its example, and its links."""

import re
from pathlib import Path

from blockpool.proofs.faces.stories.explain import list_names

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_list_of_claims_is_the_one_the_command_prints() -> None:
    listed = README.split("<!-- claims: begin -->")[1].split("<!-- claims: end -->")[0]
    assert listed.strip() == list_names(markdown=True).strip(), (
        "write the output of `blockpool explain --markdown` there"
    )


def test_the_example_runs_and_ends_with_a_hit() -> None:
    example = re.search(r"```python\n(.*?)```", README, re.DOTALL)
    assert example is not None
    scope: dict[str, object] = {}
    exec(example[1], scope)
    assert repr(scope["pool"]) == "BlockPool(100 blocks, 98 free, 2 keys)"
    assert [block.block_id for block in scope["hit"]] == [1]  # type: ignore[attr-defined]


def test_every_link_leads_to_a_file() -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", README)
    assert len(links) > 40
    assert [link for link in links if not (ROOT / link).is_file()] == [], "dead links"
