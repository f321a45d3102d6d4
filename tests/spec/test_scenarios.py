"""The worked stories are true, of the spec and of the implementation, and complete."""

from dataclasses import replace

import pytest

from blockpool.proofs.core.counterexample import Call
from blockpool.proofs.refine.lockstep import check_trace
from blockpool.spec import ACTIONS, Reason
from blockpool.spec.scenarios import STORIES, Line, Story, UntrueStoryError, tell

by_name = pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)


@by_name
def test_the_spec_does_what_the_story_says(story: Story) -> None:
    steps = list(tell(story))
    assert len(steps) == len(story.lines)
    for step, line in zip(steps, story.lines, strict=True):
        assert bool(step.refused) is isinstance(line.expects, Reason)


@by_name
def test_the_implementation_does_it_too(story: Story) -> None:
    calls = [Call(line.action, step.answer) for line, step in zip(story.lines, tell(story), strict=True)]
    check_trace(story.first, calls)


@by_name
@pytest.mark.parametrize("wrong", ["another answer", Reason.BAD_RANGE])
def test_a_wrong_expectation_is_noticed_on_every_line(story: Story, wrong: object) -> None:
    for place, line in enumerate(story.lines):
        lines = (*story.lines[:place], replace(line, expects=wrong), *story.lines[place + 1 :])
        with pytest.raises(UntrueStoryError, match=f"line {place + 1}, "):
            list(tell(replace(story, lines=lines)))


def test_an_answer_where_a_refusal_is_expected_is_noticed() -> None:
    story = STORIES[0]
    with pytest.raises(UntrueStoryError, match="line 1"):
        list(tell(replace(story, lines=(replace(story.lines[0], expects=Reason.NOT_ENOUGH_FREE),))))


def test_the_stories_use_every_action_and_have_names_of_their_own() -> None:
    assert {type(line.action) for story in STORIES for line in story.lines} == set(ACTIONS)
    assert len({story.name for story in STORIES}) == len(STORIES) >= 10


def test_every_story_and_line_is_a_sentence() -> None:
    sentences = [story.sentence for story in STORIES] + [line.says for story in STORIES for line in story.lines]
    assert all(said.endswith(".") and said[0].isupper() for said in sentences)
    assert all(isinstance(line, Line) for story in STORIES for line in story.lines)
