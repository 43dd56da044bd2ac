"""What was promised of a written session, held against what its reader finds; nothing else is called written."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import workbench
from tests.paths import SAMPLES
from tests.products import mostly_full
from workbench.base.errors import BadInput
from workbench.compaction.strategies import all_strategies
from workbench.conformance.building import agent, call, result, session_of, user
from workbench.conformance.drawn import dialogues
from workbench.formats import registry
from workbench.formats.export import Export, Saved, export, read_back, save, write_to_stream
from workbench.formats.files import load
from workbench.formats.format import Progress, no_progress
from workbench.formats.loss import Loss, Losses, LossKind
from workbench.formats.read_back import FILLER, difference
from workbench.session import Block, ExportNote, Media, Message, Opaque, Session, Text, Thinking, ToolResult

ASKED, READS = user("u", "Read a.py"), agent("a", "I will.", call("c", "Read", path="a.py", lines=[1, 20]))
ANSWER, DONE = result("r", ("c", "import os")), agent("d", "Done")
TALK = [ASKED, READS, ANSWER, DONE]
PARTED = (Text("Read ", injected=True), Text("a.p"), Text("y", injected=True))
HIDDEN, THOUGHT = Opaque("server", {"x": 1}), Thinking("Which file?")


def told(message: Message, *texts: str) -> Message:
    return replace(message, blocks=tuple(map(Text, texts)), kind="meta")


@pytest.mark.parametrize(
    ("found", "losses", "phrase"),
    [
        (TALK, [], ""),
        ([replace(ASKED, role="system", kind="meta"), *TALK[1:]], [], ""),
        ([ASKED, *(replace(READS, blocks=(block,)) for block in READS.blocks), ANSWER, DONE], [], ""),
        ([ASKED, READS, DONE, ANSWER], [], ""),
        ([told(ASKED, "Read", "a.py"), *TALK[1:]], [], ""),
        ([told(ASKED, "Read a", ".py"), *TALK[1:]], [], "message 1 changed or is missing: “Read a.py”"),
        ([replace(ASKED, blocks=PARTED), *TALK[1:]], [], ""),
        (TALK[1:], [], "message 1 changed or is missing: “Read a.py”"),
        ([*TALK[:2], DONE], [], "it has 0 of 1 results"),
        ([*TALK[:2], result("r", ("c", "import sys")), DONE], [], "a tool result is missing: “import os”"),
        ([*TALK[:3], ANSWER, DONE], [], "it has an unexpected tool result: “import os”"),
        ([*TALK, result("n", ("e", "none"))], [], "it has an unexpected tool result: “none”"),
        ([*TALK, result("n", ("e", "none"))], [Loss(LossKind.UNANSWERED_CALLS)], ""),
        ([told(ASKED, "Read b.py"), *TALK[1:]], [], "message 1 changed or is missing: “Read a.py”"),
        ([DONE, *TALK[:3]], [], "message 4 changed or is missing: “Done”"),
        ([*TALK[:3], replace(DONE, role="user")], [], "message 4 changed or is missing: “Done”"),
        ([ASKED, agent("a", "I will.", call("c", "Read", path="a.py", lines=[1, 21])), *TALK[2:]], [],
         "message 2 changed or is missing: “20”"),
        ([*TALK, told(DONE, "x" * FILLER)], [], ""),
        ([*TALK, told(DONE, "x" * (FILLER + 1))], [], f"it has unexpected text: “{'x' * 59}…”"),
        ([*TALK, told(DONE, "x" * (FILLER + 1))], [Loss(LossKind.USER_INSERTED, 1, ("",), "x" * (FILLER + 1))], ""),
        ([ASKED, told(READS, 'I will. Read {"path":"a.py","lines":[1,20]}'), told(ANSWER, "import os"), DONE],
         [Loss(LossKind.CALLS_AS_TEXT, 1, ("it",)), Loss(LossKind.RESULTS_AS_TEXT, 1, ("it",))], ""),
    ],
)  # fmt: skip
def test_every_word_comes_back_in_its_place_and_no_other(found: list[Message], losses: Losses, phrase: str) -> None:
    assert difference(session_of(TALK), TALK, session_of(found), losses) == phrase


@pytest.mark.parametrize("whole_first", [True, False])
def test_a_result_that_is_a_part_of_another_has_a_place_of_its_own(whole_first: bool) -> None:
    part = "the wheel turns " * FILLER
    first, second = (f"sacks, {part}and flour", part) if whole_first else (part, f"sacks, {part}and flour")
    talk = [
        ASKED,
        agent("a", "I look.", call("c", "Read", path="a.py"), call("e", "Read", path="b.py")),
        result("r", ("c", first), ("e", second)),
        DONE,
    ]
    asked = told(talk[1], "I look.", 'Read {"path":"a.py"}', 'Read {"path":"b.py"}')
    found = [ASKED, asked, told(talk[2], first, second), DONE]
    losses = [Loss(LossKind.CALLS_AS_TEXT, 2, ("it",)), Loss(LossKind.RESULTS_AS_TEXT, 2, ("it",))]
    assert difference(session_of(talk), talk, session_of(found), losses) == ""
    found = [ASKED, asked, told(talk[2], f"sacks, {part}and flour"), DONE]
    assert difference(session_of(talk), talk, session_of(found), losses).startswith("a tool result is missing")


@pytest.mark.parametrize(
    ("block", "lost", "kind"),
    [
        (HIDDEN, "it has 0 of 1 format-specific blocks", LossKind.UNKNOWN_BLOCKS),
        (Thinking("", "sig"), "it has 0 of 1 blocks of reasoning without words", LossKind.REASONING),
        (THOUGHT, "message 2 changed or is missing: “Which file?”", LossKind.REASONING),
        (Media("image/png", 9), "it has 0 of 1 images or documents", LossKind.MEDIA),
    ],
)
def test_what_is_no_word_may_be_missing_where_a_loss_is_declared(block: object, lost: str, kind: LossKind) -> None:
    promised = [ASKED, replace(DONE, blocks=(block, *DONE.blocks))]  # type: ignore[arg-type]
    found = session_of([ASKED, replace(DONE, blocks=(Text("[image/png, 9 bytes]"), *DONE.blocks))])
    assert difference(session_of(promised), promised, found) == lost
    assert difference(session_of(promised), promised, found, [Loss(LossKind.EMAIL_KEPT)]) == lost
    assert difference(session_of(promised), promised, found, [Loss(kind)]) == ""


@pytest.mark.parametrize(
    ("declared", "phrase"),
    [
        (0, "message 2 changed or is missing: “First a.py.”"),
        (1, "it has 2 of 4 blocks of reasoning, and 1 declared as lost"),
        (2, ""),
    ],
)
def test_a24_reasoning_may_be_missing_as_often_as_declared(declared: int, phrase: str) -> None:
    """Of four blocks, one of them without words, a reader finds one as it was and one within a longer one."""
    thoughts = (Thinking("First a.py."), Thinking("", "sig"), Thinking("Then b.py."), Thinking("At last c.py."))
    promised = [ASKED, replace(DONE, blocks=(*thoughts, *DONE.blocks))]
    there = (Thinking("Then b.py."), Thinking("So: At last c.py."))
    found = session_of([ASKED, replace(DONE, blocks=(*there, *DONE.blocks))])
    losses = [Loss(LossKind.REASONING, declared)] if declared else []
    if declared:
        assert difference(session_of(promised), promised, found, losses) == phrase
    else:
        assert difference(session_of(promised), promised, found) == "it has 0 of 1 blocks of reasoning without words"
        worded = [ASKED, replace(DONE, blocks=(*thoughts[:1], *thoughts[2:], *DONE.blocks))]
        assert difference(session_of(worded), worded, found) == phrase


@pytest.mark.parametrize(
    ("block", "kind", "name"),
    [
        (HIDDEN, LossKind.UNKNOWN_BLOCKS, "format-specific blocks"),
        (Media("image/png", 9), LossKind.MEDIA, "images or documents"),
    ],
)
def test_a24_of_each_sort_of_block_may_be_missing_what_is_declared(block: Block, kind: LossKind, name: str) -> None:
    promised = [ASKED, replace(DONE, blocks=(block, block, block, *DONE.blocks))]
    placeholders = (Text("[image/png, 9 bytes]"),) * 2 if isinstance(block, Media) else ()
    found = session_of([ASKED, replace(DONE, blocks=(block, *placeholders, *DONE.blocks))])
    differs = [difference(session_of(promised), promised, found, [Loss(kind, n)]) for n in (1, 2, 3)]
    assert differs == [f"it has 1 of 3 {name}, and 1 declared as lost", "", ""]


def test_a24_a_loss_of_one_kind_explains_no_other() -> None:
    promised = [ASKED, replace(DONE, blocks=(HIDDEN, THOUGHT, *DONE.blocks))]
    kinds = [kind for kind in LossKind if kind.placeholders == 0]
    found, source = session_of([ASKED, DONE]), session_of(promised)
    assert [kind for kind in kinds if not difference(source, promised, found, [Loss(kind, 9)])] == []
    assert difference(source, promised, found, [Loss(LossKind.UNKNOWN_BLOCKS), Loss(LossKind.REASONING)]) == ""


def test_a24_what_was_inserted_may_be_there_as_often_as_declared() -> None:
    text = "x" * (FILLER + 1)
    found = session_of([ASKED, told(DONE, text), *TALK[1:], told(DONE, text)])
    losses = [Loss(LossKind.USER_INSERTED, n, ("",), text) for n in (1, 2)]
    differs = [difference(session_of(TALK), TALK, found, [loss]) for loss in losses]
    assert differs == [f"it has unexpected text: “{'x' * 59}…”", ""]
    apart = [Loss(LossKind.USER_INSERTED, 1, (why,), text) for why in ("first", "later")]
    assert difference(session_of(TALK), TALK, found, apart) == ""


def test_a24_results_may_be_added_as_often_as_calls_are_declared_unanswered() -> None:
    found = session_of([*TALK, result("n", ("e", "none"), ("f", "none"))])
    losses = [Loss(LossKind.UNANSWERED_CALLS, n) for n in (1, 2)]
    differs = [difference(session_of(TALK), TALK, found, [loss]) for loss in losses]
    assert differs == ["it has an unexpected tool result: “none”", ""]


def test_a_system_prompt_may_lie_beside_the_messages_or_be_a_declared_loss() -> None:
    own = [Message("s", "system", (Text("Be kind."),)), *TALK]
    assert difference(session_of(own), own, session_of(TALK, system="Be kind.")) == ""
    assert difference(session_of(own), own, session_of(TALK)) == "message 1 changed or is missing: “Be kind.”"
    assert difference(session_of(own), own, session_of(TALK), [Loss(LossKind.SYSTEM_MESSAGES, 1, ("",))]) == ""
    source = session_of(TALK, system="Be kind. " * 20)
    assert difference(source, TALK, session_of([told(ASKED, source.system), *TALK])) == ""


# --- what each writer declares ----------------------------------------------------------------------------------------

RICH = [
    Message("s", "system", (Text("Be kind."),)),
    Message("s2", "system", (Text("Never push."), Opaque("tools", {"type": "tools"}))),
    replace(ASKED, blocks=(*ASKED.blocks, Media("image/png", 9))),
    Message("a", "assistant", (THOUGHT, Text("I will."), call("c", "Read", path="a.py"), call("d", "Read", path="b"))),
    Message("r", "tool", (ToolResult("c", (Text("import os"), Media("image/png", 7))), ToolResult("d", (Text("b"),)))),
    Message("b", "assistant", (Thinking("It imports os.", "sig"), Thinking("", "sig2"), HIDDEN, Text("Done."))),
    user("v", "And then?"),
    Message("t", "assistant", (Thinking("Nothing else."), Opaque("other", {"type": "other"}))),
    agent("e", "Nothing."),
]
"""Whatever a format may have no place for."""
OPEN = [ASKED, result("o", ("x", "without its call")), READS, user("v", "And then?"), DONE]
"""A result without a call, and a call without a result."""
COUNTED = {
    LossKind.REASONING,
    LossKind.UNKNOWN_BLOCKS,
    LossKind.MEDIA,
    LossKind.CALLS_AS_TEXT,
    LossKind.RESULTS_AS_TEXT,
    LossKind.ORPHAN_RESULTS,
    LossKind.UNANSWERED_CALLS,
    LossKind.SYSTEM_MESSAGES,
}
"""Kinds of losses that the read-back accepts by their count."""


def with_losses(made: Export, losses: Iterable[Loss]) -> Export:
    return read_back(replace(made, written=replace(made.written, losses=tuple(losses))))


@pytest.mark.parametrize("talk", [RICH, OPEN], ids=["rich", "open"])
@pytest.mark.parametrize("target", [one.id for one in registry.targets()])
def test_a24_each_writer_declares_each_loss_as_often_as_it_occurs(target: str, talk: list[Message]) -> None:
    """With one less of any of them the export is refused."""
    if target == "aider" and talk is OPEN:
        pytest.skip("it has the answer to a call without a result as text, too: one result as text more than promised")
    made = export(session_of(talk), talk, target)
    assert isinstance(made.found, Session), made.found
    for loss in made.written.losses:
        if loss.kind in COUNTED:
            less = [replace(one, count=one.count - (one is loss)) for one in made.written.losses]
            assert isinstance(with_losses(made, less).found, str), loss


@pytest.mark.parametrize("target", [one.id for one in registry.targets()])
def test_a24_an_export_that_declares_only_empty_messages_loses_no_reasoning_and_no_block(
    target: str, tmp_path: Path
) -> None:
    made = export(session_of(RICH), RICH, target)
    lost = {LossKind.REASONING, LossKind.UNKNOWN_BLOCKS}
    assert lost & {loss.kind for loss in made.written.losses}, "nothing to refuse"
    others = (loss for loss in made.written.losses if loss.kind not in lost)
    silent = with_losses(made, [*others, Loss(LossKind.EMPTY_MESSAGES, 9)])
    with pytest.raises(BadInput, match=r"was not written: as .* it would lose content \("):
        save(silent, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


# --- a writer that is broken ------------------------------------------------------------------------------------------

LONG = "a sentence that nobody said " * 8
Break = Callable[[list[Message], int], list[Message]]
BREAKS: dict[str, Break] = {
    "leaves a message out": lambda messages, at: messages[:at] + messages[at + 1 :],
    "says more": lambda messages, at: [*messages[:at], user("more", LONG), *messages[at:]],
    "says something else": lambda messages, at: [
        *messages[:at],
        replace(messages[at], blocks=(Text(LONG),), source=(), role="user"),
        *messages[at + 1 :],
    ],
    "lets the other side say it": lambda messages, at: [
        *messages[:at],
        replace(
            messages[at], role={"assistant": "user", "user": "assistant"}.get(messages[at].role, messages[at].role)
        ),
        *messages[at + 1 :],
    ],
    "says it later": lambda messages, at: [*messages[:at], *messages[at + 1 :], messages[at]],
}


def broken(session: Session, messages: list[Message], target: str, wrong: list[Message]) -> Export:
    """An export of `messages` by a writer that writes others."""
    sound = export(session, messages, target)
    written = replace(registry.target(target).write(session, wrong), losses=sound.written.losses)
    return read_back(replace(sound, written=written))


def read(made: Export) -> Session:
    return made.format.codec.read(Path(made.written.name), made.written.data, no_progress)


def words(session: Session) -> tuple[list[tuple[bool, str]], list[str]]:
    """What each side says in its order, and what the results say."""
    context = session.context()
    said = [(m.role == "assistant", " ".join(m.text.split())) for m in context if m.text.split()]
    return said, sorted(one.text for message in context for one in message.results)


EVERY_WAY = [one.id for one in registry.targets()]
OF_A_KIND = ("aider", "anthropic-messages", "claude-code", "codex:appended", "gemini", "openai-chat")
"""A text, a request, linked lines, lines behind those of the file, a document, and a list of messages."""


@pytest.mark.parametrize("target", mostly_full(EVERY_WAY, OF_A_KIND))
def test_of_a_broken_writer_nobody_says_that_it_wrote(target: str) -> None:
    @settings(suppress_health_check=list(HealthCheck))
    @given(dialogues(), st.sampled_from(sorted(BREAKS)), st.integers(0, 50))
    def holds(messages: list[Message], name: str, at: int) -> None:
        session = session_of(messages)
        sound = export(session, messages, target)
        made = broken(session, messages, target, BREAKS[name](messages, at % len(messages)))
        with suppress(BadInput):  # what cannot be read at all is broken enough
            assume(words(read(made)) != words(read(sound)))
        with TemporaryDirectory() as folder:
            with pytest.raises(BadInput, match=r"was not written: as .* it would lose content \("):
                save(made, Path(folder))
            assert list(Path(folder).iterdir()) == []
            assert save(sound, Path(folder)).word == "written"

    holds()


def test_a_refused_export_leaves_the_file_that_was_there_and_sends_nothing(tmp_path: Path) -> None:
    session, out, sent = session_of(TALK), tmp_path / "out.json", BytesIO()
    out.write_text("mine")
    made = broken(session, TALK, "openai-chat", TALK[:1])
    with pytest.raises(BadInput, match=r"\(it has 0 of 1 calls\); choose another format\.$"):
        save(made, out, overwrite=True)
    with pytest.raises(BadInput, match=r"^the export was not written"):
        write_to_stream(made, sent, Path("-"))
    assert (out.read_text(), [*tmp_path.iterdir()], sent.getvalue()) == ("mine", [out], b"")
    sound = export(session, TALK, "openai-chat")
    assert write_to_stream(sound, sent, Path("-")) == Saved(Path("-"), "written")
    assert (save(sound, out, overwrite=True), out.read_bytes()) == (Saved(out, "written"), sent.getvalue())


@pytest.mark.parametrize("strategy", [one.id for one in all_strategies()])
def test_whatever_a_strategy_says_a_file_that_did_not_change_is_not_called_written(
    strategy: str, tmp_path: Path
) -> None:
    session = load(SAMPLES / "augment-with-summary.json")
    outcome = workbench.compact(session, strategy).outcome
    made = export(session, outcome.messages, memories=outcome.memories)
    idle = read_back(replace(made, written=replace(made.written, data=session.records.data)))
    assert outcome.status in ("compacted", "fallback")
    with pytest.raises(BadInput, match="it would lose content"):
        save(idle, tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert save(made, tmp_path / "new.json").word == "written"
    assert save(export(session, session.context()), tmp_path / "same.json").word == "copied"


def test_an_export_is_read_once(tmp_path: Path) -> None:
    """Bills are counted and what was promised is judged in one reading; what the disk has is held against its bytes."""
    session, times = load(SAMPLES / "adk-hidden-hour.json"), list[Path]()
    made = export(session, session.context()[2:], export_note=ExportNote("m", None, 5, 1.5))
    assert made.export_note is not None
    assert made.export_note.spent

    def counting(path: Path, data: bytes, progress: Progress) -> Session:
        times.append(path)
        return made.format.codec.read(path, data, progress)

    codec = replace(made.format.codec, read=counting)
    again = read_back(
        replace(made, format=replace(made.format, load=lambda: codec), export_note=replace(made.export_note, spent=0))
    )
    assert (again.export_note, again.written.data) == (made.export_note, made.written.data)
    assert save(again, tmp_path / "x.json").where.read_bytes() == made.written.data
    assert times == [Path(made.written.name)]
