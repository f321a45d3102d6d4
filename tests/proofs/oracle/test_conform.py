"""`conform`: right pools of any kind pass, each defect is caught by the right law, odd subjects end well."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from typer import Typer
from typer.testing import CliRunner

from blockpool.proofs.core.obligation import Verdict, exit_code
from blockpool.proofs.faces.cli.conform import conform as command
from blockpool.proofs.oracle import Alloc, Free, FreeCount, InProcess, Refusal, Share, Start, Started, conform
from blockpool.proofs.oracle.campaign import Hunt
from blockpool.proofs.oracle.conformance import CannotStartError, Report
from blockpool.proofs.oracle.example import OracleExample
from blockpool.proofs.oracle.misuse_stream import misuse
from blockpool.proofs.oracle.search_stream import SCOPES, State, search
from blockpool.proofs.systems.find import AdapterError, subject_of
from blockpool.proofs.systems.rerun import rerun
from blockpool.spec.contract.laws import LAWS
from blockpool.spec.contract.profiles import PROFILES, profile_of
from tests.proofs.oracle.toy_pools import RIGHT, Bulk, Dedup, Stack, Toy
from tests.proofs.oracle.wrong_pools import CAUGHT, Appends, NegativeCount, TwoPasses

MOST_CALLS = 5


def check(pool: Any, **options: Any) -> Report:
    return conform(InProcess(pool), **{"runs": 12, "calls": 40, **options})


@pytest.fixture
def shallow(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search of the first states only, for what shows at once."""
    few = tuple(replace(scope, edges=60) for scope in SCOPES)
    monkeypatch.setattr("blockpool.proofs.oracle.conformance.search", lambda hunt: search(hunt, few))


def refuted(report: Report) -> dict[str, OracleExample]:
    examples = [one.counterexample for one in report.obligations if one.verdict is Verdict.REFUTED]
    return {example.claim: example for example in examples if isinstance(example, OracleExample)}


@pytest.mark.parametrize("kind", RIGHT)
def test_a_right_pool_of_any_kind_keeps_all_it_promises(kind: type[Any]) -> None:
    report = check(kind())
    assert refuted(report) == {}
    untested = [one.name for one in report.obligations if one.verdict is not Verdict.HOLDS]
    assert untested == []
    assert len(report.obligations) >= 7


def test_impl_keeps_the_strict_profile() -> None:
    report = conform(subject_of("impl"), "strict", runs=12, calls=40)
    assert {one.verdict for one in report.obligations} == {Verdict.HOLDS}
    assert report.not_asked == []
    kinds = [one.name for one in report.obligations if ":" in one.name]
    assert len(kinds) >= 30


@pytest.mark.parametrize(("kind", "claim", "party"), CAUGHT)
def test_a_defect_is_caught_by_the_right_law_in_few_calls(kind: type[Any], claim: str, party: str) -> None:
    subject = InProcess(kind())
    hunt = Hunt(subject, profile_of(subject.profile), "source")
    reached: list[State] = []
    for scope in SCOPES:
        reached += search(hunt, [scope])
        if ":" in claim:
            misuse(hunt, reached)
        if claim in hunt.examples:
            break
    example = hunt.examples[claim]
    assert example.breach.party == party
    assert example.breach.law == claim.partition(":")[0]
    assert len(example.lines) <= MOST_CALLS


def test_every_law_has_a_defect_that_breaks_it() -> None:
    assert {claim.partition(":")[0] for _, claim, _ in CAUGHT} == {law.name for law in LAWS}


@pytest.mark.usefixtures("shallow")
def test_the_classic_defect_is_told_in_four_calls() -> None:
    example = refuted(check(TwoPasses(), runs=1))["a_repeated_release_counts_each_naming"]
    assert [call for call, _ in example.lines] == [Alloc(1), Share((1,)), Free((1, 1)), FreeCount()]
    assert example.start.blocks == 1
    assert "(pool at fault)" in example.story()


# --- what is promised, asked and tested ---


def test_what_is_not_promised_or_has_no_operation_is_listed_and_not_judged() -> None:
    report = check(Stack())
    assert "what_was_published_is_found" in report.not_promised
    assert "a_wrong_call_does_no_damage" in report.not_promised
    assert report.not_asked == [
        "a_repeated_release_counts_each_naming",
        "a_hit_carries_its_key",
        "publishing_answers_what_the_caller_holds",
        "watchers_are_told_once_before_reuse",
        "cancelling_answers_whether_it_watched",
        "writable_only_if_unobserved",
    ]
    assert all(law.name in report.not_promised or law.knob is None or law.knob == "order" for law in LAWS)


class LendsOne(Stack):
    """Has one block, whatever was asked for."""

    def start(self, blocks: int, caching: bool, events: bool, groups: int) -> Started:
        return super().start(1, caching, events, groups)


def test_a_law_that_nothing_could_have_refuted_is_vacuous() -> None:
    report = check(LendsOne())
    verdicts = {one.name: one.verdict for one in report.obligations}
    assert verdicts["blocks_are_lent_in_order"] is Verdict.VACUOUS
    assert verdicts["only_blocks_of_the_pool_are_lent"] is Verdict.HOLDS
    assert exit_code(report.obligations) == 4


@pytest.mark.usefixtures("shallow")
def test_another_profile_than_its_own_finds_what_it_does_not_promise() -> None:
    assert refuted(check(Toy(), profile="order-a")).keys() == {"blocks_are_lent_in_order"}
    assert refuted(check(Appends(), profile="index", runs=2)) == {}


class Silent(NegativeCount):
    profile = replace(PROFILES["order-d"], name="silent")


@pytest.mark.usefixtures("shallow")
def test_wrong_calls_are_made_if_asked_for_and_must_do_no_damage() -> None:
    assert refuted(check(Silent(), runs=2)) == {}
    found = refuted(check(Silent(), runs=2, misuse=True))
    assert found.keys() == {"a_wrong_call_does_no_damage: alloc, bad count"}
    assert refuted(check(NegativeCount(), runs=2, misuse=False)) == {}


# --- odd subjects ---


class Renamed(Toy):
    """Names its blocks anew each time; the null block too."""

    operations = ("share", "free", "unpublish", "unpin", "publish")

    def start(self, *setting: Any) -> Started:
        begun = super().start(*setting)
        self.names = {block: uuid4().hex for block in (0, *self.free_list)}
        self.blocks = {name: block for block, name in self.names.items()}
        return Started(begun.capacity, (self.names[0],), tuple(self.names[block] for block in self.free_list))

    def alloc(self, count: int) -> Any:
        blocks = [self.names[block] for block in super().alloc(count)]
        self.told[:] = [(self.names[block], name) for block, name in self.told]  # type: ignore[index]
        return blocks

    def reset(self) -> bool:
        done = super().reset()
        self.told[:] = [(self.names[block], name) for block, name in self.told]  # type: ignore[index]
        return done

    def number(self, names: Sequence[Any]) -> list[int]:
        return [self.blocks.get(name, -1) for name in names]

    def share(self, blocks: Sequence[Any]) -> None:
        super().share(self.number(blocks))

    def free(self, blocks: Sequence[Any]) -> None:
        super().free(self.number(blocks))

    def unpin(self, blocks: Sequence[Any], watcher: str) -> None:
        super().unpin(self.number(blocks), watcher)

    def unpublish(self, blocks: Sequence[Any]) -> None:
        super().unpublish(self.number(blocks))

    def publish(self, blocks: Sequence[Any], *rest: Any) -> Any:
        super().publish(self.number(blocks), *rest)
        return blocks

    def publish_partial(self, block: Any, *rest: Any) -> None:
        super().publish_partial(*self.number([block]), *rest)

    def cancel(self, block: Any, watcher: str) -> bool:
        return super().cancel(*self.number([block]), watcher)

    def writable(self, block: Any) -> bool:
        return super().writable(*self.number([block]))

    def move(self, source: Any, target: Any) -> None:
        super().move(*self.number([source, target]))

    def lookup(self, key: str, groups: Sequence[int]) -> Any:
        found = super().lookup(key, groups)
        return None if found is None else [self.names[block] for block in found]


@pytest.mark.usefixtures("shallow")
def test_a_pool_may_name_its_blocks_anew_each_time() -> None:
    assert refuted(check(Renamed(), runs=3)) == {}


class PanicException(BaseException):
    """Not an Exception, as compiled pools raise."""


class Panics(Stack):
    def free(self, blocks: Sequence[str]) -> None:
        if len(blocks) > 1:
            raise PanicException("called `Option::unwrap()` on a `None` value")
        super().free(blocks)


def test_a_panic_is_the_pools_fault() -> None:
    (example,) = refuted(check(Panics(), runs=2)).values()
    assert example.claim == "a_legal_call_is_done"
    assert "failed with PanicException" in example.words


class NeverStarts(Stack):
    def start(self, blocks: int, caching: bool, events: bool, groups: int) -> Started:
        raise Refusal("no GPU")


class FailsToStart(Stack):
    def start(self, blocks: int, caching: bool, events: bool, groups: int) -> Started:
        raise RuntimeError("no GPU")


class StartsWrongly(Stack):
    def start(self, blocks: int, caching: bool, events: bool, groups: int) -> Any:
        return {"capacity": blocks}


class StartsNonsense(Stack):
    def start(self, blocks: int, caching: bool, events: bool, groups: int) -> Started:
        return Started(blocks, order=("block 0",) * blocks)


@pytest.mark.parametrize(
    ("kind", "claim"),
    [
        (FailsToStart, "a_legal_call_is_done"),
        (StartsWrongly, "a_legal_call_is_done"),
        (StartsNonsense, "answers_have_their_shape"),
    ],
)
def test_a_pool_that_cannot_start_is_refuted_without_a_call(kind: type[Any], claim: str) -> None:
    (example,) = refuted(check(kind())).values()
    assert (example.claim, example.lines) == (claim, ())


def test_a_pool_that_starts_with_no_setting_is_an_error() -> None:
    with pytest.raises(CannotStartError, match="stack starts with none"):
        check(NeverStarts())


@pytest.mark.usefixtures("shallow")
def test_the_same_run_finds_the_same() -> None:
    first, second = (check(Bulk(), runs=5) for _ in range(2))
    assert [(one.name, one.figures) for one in first.obligations] == [
        (one.name, one.figures) for one in second.obligations
    ]


# --- counterexamples and the command ---


@pytest.mark.usefixtures("shallow")
def test_a_saved_counterexample_fails_until_the_defect_is_gone() -> None:
    example = refuted(check(TwoPasses(), runs=1))["a_repeated_release_counts_each_naming"]
    source = example.pytest_source().replace("rerun('toy', profile,", "rerun(pool, profile,")
    names: dict[str, Any] = {}
    exec(source, names)
    names["pool"] = InProcess(TwoPasses())
    with pytest.raises(AssertionError, match="a_repeated_release_counts_each_naming"):
        names["test_a_repeated_release_counts_each_naming"]()
    names["pool"] = InProcess(Toy())
    names["test_a_repeated_release_counts_each_naming"]()


def test_rerun_tells_what_is_broken() -> None:
    with pytest.raises(AssertionError, match="blocks_are_lent_in_order"):
        rerun(InProcess(Stack()), "order-d", Start(3), [Alloc(2), Free(("block 1", "block 2")), Alloc(1)])


app = Typer()
app.command()(command)
HERE = Path(__file__).parent


@pytest.mark.usefixtures("shallow")
@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ([f"{HERE / 'toy_pools.py'}:Stack"], 0, "no such operation: a_repeated"),
        (["tests.proofs.oracle.wrong_pools:RefusesTheLast", "--no-misuse"], 1, "1. alloc(1)"),
        (["tests.proofs.oracle.test_conform:LendsOne"], 4, "vacuous"),
        (["tests.proofs.oracle.test_conform:NeverStarts"], 2, "starts with none"),
        (["nothing"], 2, "there is no adapter 'nothing'; there are impl"),
        (["tests.proofs.oracle.toy_pools:Nothing"], 2, "has no class 'Nothing'"),
        (["tests.proofs.oracle.nowhere:Toy"], 2, "cannot be imported: ModuleNotFoundError"),
        (["nowhere.py:Toy"], 2, "FileNotFoundError: there is no file nowhere.py"),
        (["builtins:dict"], 2, "is no adapter"),
        ([f"{HERE / 'toy_pools.py'}:Stack", "--profile", "stric"], 2, "Nearest: strict"),
    ],
)
def test_the_command_ends_as_it_says(arguments: list[str], code: int, words: str) -> None:
    result = CliRunner().invoke(app, [*arguments, "--runs", "2"])
    assert result.exit_code == code, result.output
    assert words in " ".join(result.output.split())


@pytest.mark.usefixtures("shallow")
def test_the_command_saves_tests_and_json(tmp_path: Path) -> None:
    pool = f"{HERE / 'wrong_pools.py'}:RefusesTheLast"
    options = ["--no-misuse", "--runs", "1", "--save", str(tmp_path), "--json", str(tmp_path / "run.json")]
    CliRunner().invoke(app, [pool, *options])
    (saved,) = tmp_path.glob("test_*.py")
    names: dict[str, Any] = {}
    exec(saved.read_text(encoding="utf-8"), names)
    with pytest.raises(AssertionError, match="an_allocation_succeeds_if_it_fits"):
        names["test_an_allocation_succeeds_if_it_fits"]()
    assert '"claim": "an_allocation_succeeds_if_it_fits"' in (tmp_path / "run.json").read_text(encoding="utf-8")


def test_an_adapter_that_lacks_a_method_is_an_error() -> None:
    with pytest.raises(AdapterError, match="has no method alloc, free"):
        subject_of("tests.proofs.oracle.test_conform:Half")


class Half:
    name, profile = "half", "safety"

    def start(self, blocks: int, caching: bool, events: bool, groups: int) -> Started:
        return Started(blocks)


def test_a_pool_without_a_feature_is_not_asked_for_it() -> None:
    assert "publish_partial" not in InProcess(Dedup()).operations
