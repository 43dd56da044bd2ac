"""Complete output of the analysis for a sample that overflowed and a small session."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from pathlib import Path

import pytest
from msgspec import Struct

from tests.analysis.courses import course_of_messages
from tests.analysis.test_why import diagnosed
from tests.benches import bench_of
from tests.compaction.test_whole_outcomes import work
from tests.paths import SAMPLES
from tests.told import assert_told
from workbench.analysis.generations import generations
from workbench.analysis.grounding import SummaryChecker
from workbench.analysis.pictures import Picture, growth_picture, in_characters, replay_picture
from workbench.analysis.prompt_use import prompt_by_id, render_prompt
from workbench.analysis.replay import replay
from workbench.analysis.replay_table import replays_table
from workbench.analysis.retention import retention
from workbench.analysis.search import hits, match_spans, query_of
from workbench.analysis.suggested_pins import suggest
from workbench.analysis.transcript import VERBOSITIES, transcript
from workbench.analysis.why.diagnosis import diagnose
from workbench.base.errors import BadInput
from workbench.bench.assessment import compare
from workbench.compaction.context import Context, Layout
from workbench.compaction.outcome import Outcome
from workbench.compaction.preset import candidates, default_preset
from workbench.compaction.prompts import prompt_files
from workbench.compaction.strategies import OWN, strategy
from workbench.conformance.building import agent, call, context_of, result, user
from workbench.session import Message, ToolResult, ToolUse
from workbench.summarizers.driver import drive
from workbench.summarizers.extractive import extractive
from workbench.tokens.window import Window

TOLD = Path(__file__).parent / "told"
CONTEXT = context_of(work(), window=1_000, memories="memory 1\nmemory 2")
SUMMARY = """The user wants the token refresh in `src/session.py` fixed, see ABC-12 and "Never log the token".
I ran `pytest -q` and `npm test`; 4 passed in 30 seconds, 17 failed. The user said: use port 8080.
The user said: use tabs.
Changed src/lock.py and src/missing.py; decided on a mutex. Spec: https://example.org/spec. It took 90 minutes."""


def plain(value: object) -> str:
    """A value in one line, what is large left out."""
    if isinstance(value, Struct) or (is_dataclass(value) and not isinstance(value, type)):
        own = value.__struct_fields__ if isinstance(value, Struct) else (one.name for one in fields(value))
        parts = ((name, getattr(value, name)) for name in own)
        return " ".join(f"{name}={plain(part)}" for name, part in parts if name not in ("outcome", "session", "preset"))
    if isinstance(value, Enum):
        return str(value.name)
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, str):
        line = " ".join(value.split())
        return repr(line if len(line) <= 160 else f"{line[:140]} … {len(value)} characters")
    if isinstance(value, Iterable):
        several = [plain(one) for one in value]
        return f"[{', '.join(several[:8])}{f' and {len(several) - 8} more' if len(several) > 8 else ''}]"
    return str(value)


def section(title: str, several: Iterable[object]) -> Iterator[str]:
    yield f"## {title}"
    yield from (one if isinstance(one, str) else plain(one) for one in several)
    yield ""


def drawn(picture: Picture) -> Iterator[str]:
    yield from section(picture.title, [*(plain(level) for level in picture.levels), *in_characters(picture)])


def made(id: str, context: Context = CONTEXT) -> Outcome:
    return drive(strategy(id).run(context, default_preset(id).policy), extractive).outcome


def told_of_the_small() -> Iterator[str]:
    columns = list(compare(bench_of(CONTEXT), candidates(), extractive))
    names = (
        "before",
        "head",
        "tail",
        "after",
        "spent",
        "cache",
        "fresh",
        "summary_cost",
        "cache_cost",
        "pays_off_after",
    )
    for column in columns:
        yield from section(f"{column.name} beside others", (f"{n}: {plain(getattr(column, n))}" for n in names))
    for id in ("ledger", "context-reset", "layered"):
        held = retention(CONTEXT, made(id), [agent("n", "src/lock.py again"), user("m", "ABC-12?")])
        yield from section(f"what {id} holds of {held.head}, {held.in_tail} in the tail, {held.of_context}", held.facts)
        yield from section("by kind", (f"{kind}: {plain(share)}" for kind, share in held.kinds.items()))
    steps = generations(CONTEXT, lambda context: made("context-reset", context), work()[2:8], 4)
    yield from section("four generations", (f"{one}" for one in (steps.overall, steps.weighted, steps.summary_tokens)))
    yield from section(
        "each", (f"{s.status} {s.before} {s.after} {s.summary} {s.grown} {s.replayed}" for s in steps.steps)
    )
    yield from section("survival", (f"{kind}: {plain(shares)}" for kind, shares in steps.survival.items()))
    steps = generations(CONTEXT, lambda context: made("context-reset", context), [], 3)
    yield from section("of itself", (f"{s.before} {s.after} {s.summary} {s.grown} {s.replayed}" for s in steps.steps))
    yield from section("pins", suggest(CONTEXT))
    found = SummaryChecker(work()).check(SUMMARY)
    yield from section(f"ground of {plain(found.checked.items())}", found.unsupported)
    for verbosity in VERBOSITIES:
        yield from section(f"transcript, {verbosity}", transcript(work(), verbosity))
    for text in ("token", "Token", "/ttl.*300/", "/pytest|gh/"):
        query = query_of(text)
        yield from section(
            f"search {text}", [plain(hits(work(), query)), plain(match_spans(query, "token Token ttl = 300 gh"))]
        )


def told_of_prompts() -> Iterator[str]:
    for file in prompt_files():
        one = prompt_by_id(Path(file).stem)
        try:
            said = render_prompt(one, CONTEXT)
        except BadInput as refused:
            said = str(refused)
        yield f"{one.id} of {one.strategy or 'none'}, {one.field or 'no field'}: {plain(said)}"


def told_of_the_samples() -> Iterator[str]:
    for path in sorted(SAMPLES.glob("*.*")):
        if path.name not in ("README.md", "claude-code-overflow.jsonl"):
            found = diagnosed(path)
            yield from section(path.name, (found.limit, found.crossing, found.refusals, *found.findings))
            yield from drawn(growth_picture(found))


def shown(n: int, text: str, answer: str, tool: str = "Read", **given: object) -> list[Message]:
    """A call, its result, and what is said of it."""
    return [agent(f"c{n}", "", call(f"t{n}", tool, **given)), result(f"r{n}", (f"t{n}", text)), agent(f"a{n}", answer)]


def told_of_findings() -> Iterator[str]:
    """Small sessions with waste of each kind, with a window and without."""
    logs = "\n".join(f"2026-01-02 10:00:{n:02} INFO started worker {n}" for n in range(50))
    words = " ".join(f"{word}_{n}" for n in range(40) for word in ("alpha", "gamma"))
    encoded = "iVBORw0KGgoAAAANSUhEUgAAAAUA9bZq" * 40
    ask = user("u", "go")
    again = [one for n in range(3) for one in shown(n, "q " * 400, f"seen {n}", file_path="/a.py")]
    other = [one for n in (3, 4) for one in shown(n, "w " * 500, f"seen {n}", file_path="/b.py")]
    parts = [one for n in (5, 6) for one in shown(n, "v " * 600, f"seen {n}", file_path="/c.py", offset=n)]
    long = [(words, "words"), (logs, "logs"), (f"data:image/png;base64,{encoded}", "image")]
    spots = [one for n, (text, of) in enumerate(long) for one in shown(n, text, f"no {of}", "Bash", command=of)]
    cut = [one for n, sign in enumerate("xyz") for one in shown(n, sign * 2_000, "cut", "Bash", command=sign)]
    said = shown(9, "line\n" * 100 + "[12 lines truncated]", "cut", "Grep", pattern="x")
    ends = [agent(f"z{n}", "and so on") for n in range(4)]
    for name, messages, window, overhead in (
        ("one file read again", [ask, *again, *parts, user("v", "on"), *ends], 900, 0),
        ("two files read again", [ask, *again, user("v", "on"), *other, *ends], 1_000, 0),
        ("no window", [ask, *again, *other], None, 300),
        ("spots", [ask, *spots, user("v", "on"), *ends], 800, 0),
        ("spots at the end", [ask, *ends, *spots], 800, 80),
        ("cut", [ask, *cut, *said, *ends], 20_000, 2_000),
        ("cut and said to be", [ask, *said, *ends, *spots[:3]], 2_000, 199),
    ):
        context = context_of(messages, window=window, system="s" * overhead)
        sizes = replace(context.layout.sizes, overhead=overhead)
        context = context.with_(layout=Layout(context.shape, sizes))
        found = diagnose(context, course_of_messages(messages, overhead), 1, default_preset("trim"))
        yield from section(f"{name}, {found.total} of {window}", found.findings)


def told_of_the_sample() -> Iterator[str]:
    found = diagnosed(SAMPLES / "claude-code-overflow.jsonl")
    for name in ("limit", "crossing", "growth_per_round", "rounds_left", "total", "window"):
        yield f"{name}: {plain(getattr(found, name))}"
    for name in ("refusals", "triggers", "layers", "tools", "files", "rounds", "largest", "findings"):
        yield from section(name, getattr(found, name))
    for name in ("rereads", "unused", "base64", "logs", "cut"):
        yield from section(f"waste: {name}", getattr(found.waste, name))
    yield from drawn(growth_picture(found))


def again(message: Message, mark: str) -> Message:
    """The message under another id, its calls and results too."""
    blocks = (
        replace(block, id=block.id + mark)
        if isinstance(block, ToolUse)
        else replace(block, call_id=block.call_id + mark)
        if isinstance(block, ToolResult)
        else block
        for block in message.blocks
    )
    return replace(message, id=message.id + mark, blocks=tuple(blocks))


def told_of_replays() -> Iterator[str]:
    said = [again(one, f".{n}") for n in range(12) for one in (*work()[2:15], *work()[16:20])]
    course = course_of_messages(said, 50)
    played = [replay(course, default_preset(id), Window(1_500, "given"), extractive) for id in OWN]
    table = replays_table(played)
    for row, one in zip(table.rows, played, strict=True):
        yield from section(
            " | ".join(table.cells(row)), (*one.compacted, *one.missed, *one.triggers, plain(one.series))
        )
    for several in (played[:2], played[2:3]):
        yield from drawn(replay_picture(course, several, 1_500))


@pytest.mark.parametrize(
    "told",
    [told_of_the_small, told_of_findings, told_of_the_sample, told_of_the_samples, told_of_replays, told_of_prompts],
)
def test_what_is_told(told: object, request: pytest.FixtureRequest) -> None:
    name = told.__name__.removeprefix("told_of_").replace("_", "-")  # type: ignore[attr-defined]
    assert_told(TOLD / f"{name}.txt", "\n".join(told()) + "\n", request)  # type: ignore[operator]
