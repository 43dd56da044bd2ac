"""One session, one epoch, one policy: every command, the report and the Python calls name the same figures."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import workbench
from tests.commands import cwb, document
from tests.formats.claude_code_build import SESSION, assistant, boundary, jsonl, text, user
from tests.paths import SAMPLES
from tests.products import mostly_full
from tests.tui.bench.desk import Desk
from workbench.analysis.timeline import size_when_compacted
from workbench.analysis.why.diagnosis import diagnose
from workbench.base.figures import grouped, short
from workbench.bench import Bench, open_bench
from workbench.bench.assessment import Assessment, assess_recorded
from workbench.compaction.preset import Preset, candidates
from workbench.formats.files import load
from workbench.runs.variants import assess_offline, preset_variants
from workbench.tokens import Counter, Scale, scales
from workbench.tokens.sizes import Basis, Size, usage_words
from workbench.tui.bench import counting, planning
from workbench.tui.bench.middle_text import tab_input
from workbench.tui.bench.panes import size_after
from workbench.tui.middle.tabs import result_parts
from workbench.tui.plan_words import status_text
from workbench.tui.retention.facts import fact_words
from workbench.tui.screens.export import draft
from workbench.tui.simulations import course_on
from workbench.tui.widgets.facts_list import fate_of
from workbench.tui.widgets.headline import plans_of

BILLED, UNBILLED = SAMPLES / "claude-code-overflow.jsonl", SAMPLES / "openai-chat-tools.json"
WINDOW = {BILLED: 100_000, UNBILLED: 3_000}
"""Small enough that the policies below compact."""


def variants_of(bench: Bench, presets: Iterable[Preset] = ()) -> list[Assessment]:
    return [assess_offline(bench, one) for one in preset_variants(bench, presets)]


def figures(sized: dict[str, Any]) -> tuple[int, int, int]:
    return sized["messages"], sized["chars"], sized["tokens"]


@pytest.fixture(params=[(BILLED, "codex"), (UNBILLED, "trim")], ids=["billed", "unbilled"], scope="module")
def policy(request: pytest.FixtureRequest) -> tuple[Path, str, tuple[object, ...]]:
    file, preset = request.param
    return file, preset, (file, "--epoch", 1, "--window", WINDOW[file])


def test_the_context_before_and_after(policy: tuple[Path, str, tuple[object, ...]]) -> None:
    file, preset, args = policy
    compacted = document("compact", *args, "--preset", preset)
    inspected = document("inspect", *args)
    why = document("why", *args, "--preset", preset)
    compared = document("compare", *args, "--presets", preset)
    held = document("retention", *args, "--preset", preset)
    called = workbench.compact(workbench.load(file), preset=preset, epoch=1, window=WINDOW[file])
    report = called.report
    [column] = compared["variants"]

    before = figures(compacted["before"])
    assert before == figures(inspected["context"]) == figures(why["context"]) == figures(compared["before"])
    assert before == (report.before.messages, report.before.chars, report.before.tokens)
    assert held["tokens_before"] == before[2] == sum(layer["tokens"] for layer in inspected["layers"])
    assert inspected["layers"] == why["layers"]
    assert inspected["window_tokens"] == why["window_tokens"] == WINDOW[file]
    after = figures(compacted["after"])
    assert after == figures(column["after"]) == (report.after.messages, report.after.chars, report.after.tokens)
    assert held["tokens_after"] == after[2] < before[2]
    assert column["saved_tokens"] == before[2] - after[2]
    assert compacted["fates"] == column["fates"]
    assert compacted["status"] == column["status"] == held["status"] == report.status
    assert [(one["name"], one["passed"]) for one in compacted["checks"]] == [
        (one["name"], one["passed"]) for one in column["checks"]
    ]
    assert compacted["triggers"] == column["triggers"] == why["triggers"]
    assert compacted["trigger"]["fired"]
    ours = workbench.retention(called)
    assert held["head_facts"]["kept_fully"] == ours.overall.full
    assert {kind: share["kept_share"] for kind, share in held["head_facts_by_kind"].items()} == {
        kind: share.share for kind, share in ours.kinds.items()
    }
    assert held["head_facts"]["weighted_share"] == ours.overall.weighted


@pytest.mark.parametrize("asks", [True, False], ids=["with a summary", "without one"])
def test_one_context_has_one_size_on_the_bench_before_and_after_a_run_in_compare_and_in_what_is_written(
    asks: bool, tmp_path: Path
) -> None:
    """What the preview says of the size afterwards is what Compare says, what a run makes and what a command does."""
    preset = "codex" if asks else "trim"
    session, counter = workbench.load(BILLED), Counter()
    counter.count_all(session.messages, lambda done, of: None, lambda: False)
    desk = Desk(session, counter, preset=preset, epoch=1, window=WINDOW[BILLED])
    assert size_after(desk.bench).basis is (Basis.ESTIMATE if asks else desk.bench.layout.sizes.meter.basis)
    desk.store.subscribe(partial(planning.start_preview, desk))
    desk.rest()
    previewed, words = size_after(desk.bench), plans_of(desk.bench, None)[0]
    compared = {one.name: one.after for one in variants_of(desk.bench, candidates((), (preset,)))}
    assert compared[preset] == previewed

    desk.do("run")
    desk.rest()
    ran = desk.bench
    assert ran.result
    assert size_after(ran) == previewed
    assert plans_of(ran, None)[0] == words.replace("Compacting now", "Compacted")
    assert grouped(previewed.tokens) in "".join(part.text for part in result_parts(tab_input(desk.view, 0)))
    assert [one.after for one in variants_of(ran)] == [previewed]

    out = tmp_path / "new.jsonl"
    args = ("--epoch", 1, "--window", WINDOW[BILLED], "--preset", preset)
    told = document("compact", BILLED, *args, "-o", out)
    assert figures(told["after"]) == (previewed.messages, previewed.chars, previewed.tokens)
    assert draft(ran, ran.session.format, mask=False).export.written.data.count(b"\n") == out.read_bytes().count(b"\n")


EDITED = [(preset, edit) for preset in ("codex", "trim") for edit in ("drop", "shorten")]
"""A preset that summarizes and one that does not, and an edit."""


@pytest.mark.parametrize("edited", mostly_full(EDITED, [("codex", "shorten"), ("trim", "drop")]), ids="-".join)
def test_an_edit_by_hand_leaves_one_size_in_the_status_on_the_bar_in_the_result_and_in_compare(
    edited: tuple[str, str],
) -> None:
    """The status told what the plan had foreseen of an edit, beside a bar with what its run gave."""
    preset, edit = edited
    session, counter = workbench.load(BILLED), Counter()
    counter.count_all(session.messages, lambda done, of: None, lambda: False)
    desk = Desk(session, counter, preset=preset, epoch=1, window=WINDOW[BILLED])
    desk.store.subscribe(partial(planning.start_preview, desk))
    desk.at = (150, True)
    desk.do(edit)
    desk.rest()
    after, before = size_after(desk.bench), desk.bench.context.total
    told = status_text("", desk.view.note).plain
    edited = re.search(r": ([\d\s]+) → ([\d\s]+) tokens$", told)
    assert edited, "what the edit did to its own messages, and no size beside the bars' own"
    reason = desk.bench.outcome.reason
    left = grouped(before.tokens - number(edited[1]) + number(edited[2]))
    assert re.search(rf"manual edits, .*; then .*{left} → {grouped(after.tokens)} tokens$", reason)
    assert f"{short(before.tokens)} → {short(after.tokens)} " in plans_of(desk.bench, None)[0]
    assert f"{before} → {after} tokens" in "".join(part.text for part in result_parts(tab_input(desk.view, 0)))
    assert [one.after for one in variants_of(desk.bench)] == [after]
    course = course_on(desk.bench, counter, lambda stage: None, first=1)[1]
    assert diagnose(desk.bench.context, course, 1, desk.bench.as_preset).total == before

    desk.do("run")
    desk.rest()
    assert desk.bench.result
    assert size_after(desk.bench) == after


def number(figure: str) -> int:
    return int(re.sub(r"\D", "", figure))


SHORT = ("codex-two-compactions.jsonl", "openai-chat-tools.json", "roo-window.json")
"""Sessions of one epoch and of several."""


@pytest.mark.parametrize("name", mostly_full([*SHORT, "claude-code-overflow.jsonl"], SHORT))
def test_b4_every_command_takes_the_screens_epoch_and_tells_its_figures(name: str) -> None:
    file = SAMPLES / name
    session, counter = workbench.load(file), Counter()
    counter.count_all(session.messages, lambda done, of: None, lambda: False)
    desk = Desk(session, counter)
    shown, last = desk.bench, len(session.epochs)
    preset = ("--preset", shown.preset)
    there, kept = document("compact", file, *preset), document("retention", file, *preset)
    taken = {
        "inspect": document("inspect", file)["epoch"],
        "why": document("why", file)["epoch"],
        "retention": kept["epoch"],
        "probe": document("retention", "--ask", file, *preset)["epoch"],
        "compact": there["epoch"],
    }
    assert taken == dict.fromkeys(taken, shown.epoch)
    assert document("compact", file, *preset, "--epoch", "last", code=None)["epoch"] == last
    assert kept["head_facts"]["facts"] == len(shown.retention(shown.offline.outcome).facts)
    after = shown.context.outcome_size(shown.offline.outcome)
    assert figures(there["before"]) == (
        shown.context.total.messages,
        shown.context.total.chars,
        there["before"]["tokens"],
    )
    assert (there["before"]["tokens"], there["after"]["tokens"]) == (shown.context.total.tokens, after.tokens)
    said = cwb("compact", file, *preset).output
    assert (f"{shown.epoch} of {last}, the newest that overflowed or was compacted" in said) == (shown.epoch < last)


@pytest.mark.parametrize("name", ["codex-two-compactions.jsonl", "claude-code-overflow.jsonl", "kimi-buoys.jsonl"])
def test_b5_one_size_for_the_moment_at_which_the_agent_compacted_or_was_refused(name: str) -> None:
    """Codex recorded 229 684 tokens with its newest call; the context was 240 134 by then. Both, and what its trigger
    counts besides, stood on the screen and in the commands as the size of one moment."""
    file = SAMPLES / name
    session, counter = workbench.load(file), Counter()
    counter.count_all(session.messages, lambda done, of: None, lambda: False)
    desk = Desk(session, counter)
    counting.show_epochs(desk)
    desk.rest()
    view, total = desk.view, desk.bench.context.total

    inspected, why = document("inspect", file), document("why", file)
    assert inspected["context"]["tokens"] == why["context"]["tokens"] == total.tokens == desk.bench.plan.before.tokens
    assert (
        inspected["context"]["recorded_usage_tokens"]
        == why["context"]["recorded_usage_tokens"]
        == desk.bench.layout.last_usage
    )
    assert sum(layer["tokens"] for layer in inspected["layers"]) == total.tokens
    assert view.epochs[desk.bench.epoch - 1].tokens == total.tokens
    assert why["limit"]["context_tokens"] == total.tokens
    ended = re.match(r"(?:The agent compacted|API rejected the request) at (\S+)\. ", view.verdict)
    assert ended
    assert ended[1] == short(total.tokens)
    assert view.verdict == why["verdict"]
    assert view.verdict in cwb("why", file).output.splitlines()
    assert size_when_compacted(view.epochs, desk.bench.epoch) in (0, total.tokens)
    for output in (cwb("inspect", file).output, cwb("why", file).output):
        [line] = [line for line in output.splitlines() if line.startswith("context ")]
        assert f"{total} tokens" in line
        assert line.endswith(usage_words(total, desk.bench.layout.last_usage))


def test_a_new_file_of_an_older_epoch_says_what_it_lacks(tmp_path: Path) -> None:
    """The default epoch is the one that overflowed, also where the session went on: nothing later is lost silently."""
    file, out = SAMPLES / "codex-two-compactions.jsonl", tmp_path / "new.jsonl"
    written = cwb("compact", file, "--preset", "codex", "-o", out).output
    says = "7 messages after epoch 2 are not in a new file; the agent continues with epoch 3"
    assert re.search(rf"^left out +{says}; --epoch last compacts that one$", written, re.M)
    assert document("compact", file, "--preset", "codex")["left_out"] == says
    assert document("compact", file, "--preset", "codex", "--epoch", "last", code=None)["left_out"] == ""


def test_b5_the_parts_of_a_size_sum_to_it() -> None:
    grown = Size(3, 9, 240_134, Basis.CALIBRATED)
    assert usage_words(grown, 229_684) == "229 684 recorded + ≈10 450 since"
    assert usage_words(grown, 240_512) == "240 512 recorded, 378 of it not sent again"
    assert usage_words(grown, 240_134) == usage_words(grown, None) == ""


def test_what_is_used_again_later_counts_in_calls_too() -> None:
    """Of an epoch that later ones followed, their messages tell what was needed again."""
    file = SAMPLES / "roo-window.json"
    held = document("retention", file, "--epoch", 1, "--preset", "codex")
    compacted = workbench.compact(workbench.load(file), preset="codex", epoch=1)
    ours = workbench.retention(compacted)
    assert held["head_facts"]["weighted_share"] == ours.overall.weighted
    assert held["head_facts"]["used"] == ours.overall.used
    assert workbench.retention(compacted, later=()).overall.used < ours.overall.used


def test_the_session_played(policy: tuple[Path, str, tuple[object, ...]]) -> None:
    file, preset, args = policy
    scales.keep(workbench.load(file), Scale(1.25, 1, "an exact count"))
    [played] = document("compare", "--over-session", *args, "--preset", preset)["replays"]
    why = document("why", *args, "--preset", preset)
    assert "1.25" in document("inspect", *args)["context"]["counting"]
    swept = document("compare", file, "--preset", preset, "--vary", f"window={WINDOW[file]}")
    [cell] = swept["cells"]
    assert why["replay"] == played
    count = len(played["compactions"])
    assert count >= 1
    assert (cell["compactions"], cell["tokens_after"], cell["peak_tokens"], cell["last_tokens"],
            cell["calls_over_window"], cell["rebilled_tokens"]) == (
        count, played["mean_tokens_after"], played["peak_tokens"], played["last_tokens"],
        played["calls_over_window"], played["rebilled_tokens"],
    )  # fmt: skip
    assert (cell["calls"], cell["sent_tokens"]) == (len(played["sent_tokens"]), sum(played["sent_tokens"]))
    assert cell["usd"] == (played["cost"] if played["cost_unit"] == "usd" else None)
    assert (swept["best"]["compactions"], swept["best"]["tokens_after"]) == (count, played["mean_tokens_after"])


def test_the_report_says_what_the_commands_say(policy: tuple[Path, str, tuple[object, ...]], tmp_path: Path) -> None:
    _, preset, args = policy
    out = tmp_path / "report.md"
    run = cwb("report", *args, "--preset", preset, "--compare", "ledger", "-o", out)
    assert (run.exit_code, "2 variants compared" in run.output) == (0, True)
    page = out.read_text("utf-8").replace("\\", "").replace("\u00a0", " ")
    why = document("why", *args, "--preset", preset)
    [column] = document("compare", *args, "--presets", preset)["variants"]
    [played] = document("compare", "--over-session", *args, "--preset", preset)["replays"]
    overall = document("retention", *args, "--preset", preset)["head_facts"]

    assert [one["text"] for one in why["findings"] if one["text"] not in page] == []
    before, after = grouped(why["context"]["tokens"]), grouped(column["after"]["tokens"])
    assert re.search(rf"^now +\S+ +[~≈]?{before} tokens", page, re.M)
    assert re.search(rf"^{preset} +\S+ +[~≈]?{after} tokens", page, re.M)
    rows = (rf"^\|  \| {preset} \| ledger \|", r"^\| status \| compacted \|", rf"^\| after \| [~≈]?{after} \|")
    assert [row for row in rows if not re.search(row, page, re.M)] == []
    assert f"{grouped(why['limit']['tokens'])} tokens" in page
    for one in why["triggers"]:
        if one["unit"] == "tokens" and one["limit"]:
            assert f"{grouped(one['limit'])} tokens" in page
    row = re.search(rf"^\| A \| {preset} \| (.*) \|$", page, re.M)
    assert row
    cells = row[1].split(" | ")
    assert cells[:8] == [
        str(len(played["compactions"])),
        grouped(played["compactions"][0]["call"]),
        grouped(played["mean_tokens_after"]),
        grouped(played["peak_tokens"]),
        grouped(played["last_tokens"]),
        grouped(played["calls_over_window"]),
        str(sum(one["requests"] for one in played["compactions"])),
        grouped(played["rebilled_tokens"]),
    ]
    shown = cwb("compare", "--over-session", *args, "--preset", preset, "--no-plot").output
    lines = [re.split(r"\s{2,}", line) for line in shown.splitlines()]
    assert ["A", preset, *cells] in lines, "one table on the command line and in the report"
    assert f"{overall['kept_fully']} in full, {overall['kept_partly']} in part, {overall['lost']} not at all" in page


def with_a_summary_that_is_wrong(folder: Path) -> Path:
    """A session whose recorded summary reverses one rule, tells a replaced one as if it held, and forgets a third."""
    rules = (
        "Never touch the generated grammar files.",
        "Answer in French.",
        "Always sign the commits with the yard key.",
    )
    lines = [
        user("u1", None, rules[0]),
        assistant("a1", "u1", "m1", text("Understood.")),
        user("u2", "a1", rules[1]),
        assistant("a2", "u2", "m2", text("Oui.")),
        user("u3", "a2", rules[2]),
        assistant("a3", "u3", "m3", text("Yes.")),
        user("u4", "a3", "Answer in English."),
        assistant("a4", "u4", "m4", text("Yes, in English.")),
        boundary("b", "a4"),
        user(
            "s",
            "b",
            "Touch the generated grammar files.\nThe user wants answers in French.\nThe user wants answers in English.",
            isCompactSummary=True,
            isVisibleInTranscriptOnly=True,
        ),
        user("u5", "s", "Look at the sluice."),
        assistant("a5", "u5", "m5", text("It is dry.")),
    ]
    path = folder / f"{SESSION}.jsonl"
    path.write_bytes(jsonl(*lines))
    return path


def test_a26_command_screen_and_report_give_a_fact_the_same_verdict(tmp_path: Path) -> None:
    """A rule that a summary reverses was "full" in the report, where the command and the screen said "wrong"."""
    path = with_a_summary_that_is_wrong(tmp_path)
    verdicts = {
        "Never touch the generated grammar files.": "wrong",
        "Answer in French.": "stale",
        "Always sign the commits with the yard key.": "none",
    }
    command = cwb("retention", path, "--recorded").output
    page = tmp_path / "page.md"
    assert cwb("report", path, "--epoch", "1", "-o", page).exit_code == 0
    lost = page.read_text("utf-8").replace("\u00a0", " ").partition("What the agent's own compaction lost")[2]
    bench = open_bench(load(path), Counter(), epoch=1)
    own = assess_recorded(bench)
    assert own
    facts = {fact.text: fact for fact in bench.retention(own.outcome).lacking if fact.kind == "instruction"}
    assert {text: fact.state for text, fact in facts.items()} == verdicts
    for sentence, verdict in verdicts.items():
        assert re.search(rf" instruction +{verdict} .*{re.escape(sentence)}", command), sentence
        assert re.search(rf"\| instruction \| {verdict} \|.*\| {re.escape(sentence)} \|", lost), sentence
        assert fate_of(facts[sentence])[0].split()[1] == {"none": "lost"}.get(verdict, verdict)
    words = {text: fact_words(fact, frozenset()).plain for text, fact in facts.items()}
    assert {text: " · wrong" in said for text, said in words.items()} == {
        text: verdict == "wrong" for text, verdict in verdicts.items()
    }
    assert {text: "stale: stated as if it still held" in said for text, said in words.items()} == {
        text: verdict == "stale" for text, verdict in verdicts.items()
    }
