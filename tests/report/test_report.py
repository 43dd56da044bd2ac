"""The report: what it holds, that it holds nothing live and no secret, and that its figures are the commands'."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.commands import cwb
from tests.paths import SAMPLES
from workbench.analysis.plots import Level, PlotLine
from workbench.base.secrets import MASK
from workbench.report.pages import svg_plot

REPO = Path(__file__).parents[2]
SAMPLE = REPO / "sample_sessions" / "claude-code-overflow.jsonl"
SECRET = "sk-ant-" + "a1B2" * 10
HOSTILE = (
    "<script>alert(1)</script> <img src=x onerror=alert(2)> | [a](javascript:alert(3)) `x` & password=hunter2secret"
)


class Seen(HTMLParser):
    """Tags and attributes of a page."""

    def __init__(self, page: str = "") -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]


def report(file: Path, *flags: str) -> str:
    run = cwb("report", file, *flags)
    assert run.exit_code == 0, run.output
    return run.output


def hostile_session(folder: Path) -> Path:
    answer = {"type": "tool_result", "tool_use_id": "t", "content": f"{HOSTILE} {SECRET} " * 200}
    calls = [
        {"role": "user", "content": f"{HOSTILE}. Never print {SECRET}. " + "go " * 50},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "Read", "input": {"path": HOSTILE}}]},
        {"role": "user", "content": [answer]},
        {"role": "assistant", "content": [{"type": "text", "text": "done"}]},
        {"role": "user", "content": "and now?"},
    ]
    path = folder / "<b>hostile & co.json"
    path.write_text(json.dumps({"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": calls}))
    return path


def test_a_page_needs_nothing_from_elsewhere_and_nothing_in_it_is_live(tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    report(hostile_session(tmp_path), "-o", str(out), "--compare", "ledger")
    page = out.read_text("utf-8")
    seen = Seen(page)
    assert not {"script", "img", "iframe", "link", "object", "button", "form"} & set(seen.tags)
    assert page.count('<svg viewBox="0 0 860') == 2
    assert not [name for name, _ in seen.attributes if name.startswith("on") or name in ("src", "href", "action")]
    assert "&lt;script&gt;" in page
    assert SECRET not in page
    assert "hunter2secret" not in page
    assert MASK in page


def test_markdown_holds_the_same_and_no_markup_of_the_sessions(tmp_path: Path) -> None:
    out = tmp_path / "report.md"
    report(hostile_session(tmp_path), "-o", str(out), "--compare", "ledger")
    page = out.read_text("utf-8")
    assert SECRET not in page
    assert "hunter2secret" not in page
    outside = re.sub(r"^(`{3,})\n.*?^\1$", "", page, flags=re.M | re.S)
    assert not re.search(r"(?<!\\)<", outside)
    assert not re.search(r"(?<!\\)\]\(", outside), "no link"
    tables = [line for line in outside.splitlines() if line.startswith("|")]
    assert tables
    cells = [len(re.findall(r"(?<!\\)\|", line)) for line in tables]
    heads = [count for line, count in zip(tables, cells, strict=True) if set(line) <= set("|-: ")]
    assert set(cells) <= set(heads), "no cell of a session breaks its row"


def test_what_was_done_again_stands_on_the_page_with_both_places(tmp_path: Path) -> None:
    report(SAMPLES / "augment-with-summary.json", "--epoch", "1", "-o", str(tmp_path / "page.md"))
    page = (tmp_path / "page.md").read_text("utf-8")
    section = page.partition("## Rework after compactions")[2].partition("\n## ")[0]
    assert "After 2 recorded compactions: 3 file reads repeated" in section
    assert "| 262 | 1 | file read again | 2b1e83f0-05a | 0cc3bf15-d44 | tidewatch/harmonics.py |" in section


@pytest.mark.parametrize(
    ("name", "says"), [("report.pdf", "ends in .html or .md"), ("there.html", "exists; choose another name or allow")]
)
def test_what_cannot_be_written_is_said_in_a_sentence(tmp_path: Path, name: str, says: str) -> None:
    (tmp_path / "there.html").write_text("mine")
    run = cwb("report", SAMPLE, "-o", tmp_path / name, "--compare", "")
    assert run.exit_code == 2
    assert says in run.output
    assert (tmp_path / "there.html").read_text() == "mine"


def test_a_plot_shows_levels_within_reach_and_every_line() -> None:
    lines = [PlotLine("A", [(1, 100), (2, 900), (2, 100), (3, 500)]), PlotLine("B", [(1, 50), (3, 60)])]
    svg = svg_plot(lines, [Level("window", 1_000), Level("far", 90_000)], {2: "▼"}, "call", 'a "title" & more')
    assert svg.count("<polyline") == 2
    assert "window: 1 000" in svg
    assert "far" not in svg
    assert "a &quot;title&quot; &amp; more" in svg
    assert "▼" in svg


def test_lines_of_one_sign_are_alike_and_do_not_meet() -> None:
    parts = [
        PlotLine("A", [(1, 100), (2, 900)]),
        PlotLine("B", [(3, 50), (4, 60)]),
        PlotLine("A", [(5, 100), (6, 200)]),
    ]
    pale = svg_plot([PlotLine("A", parts[0].points), PlotLine("·", [(1, 5), (2, 6)])], [], {}, "call", "").split(
        "<polyline "
    )[1:]
    assert ["#8b949e" in each for each in pale] == [True, False], "what runs along lies below, and takes no colour"
    before, between, behind = svg_plot(parts, [], {}, "call", "a title").split("<polyline ")[1:]
    alike = 'stroke="#1f6feb" stroke-width="1.6"/>'
    assert alike in before
    assert alike in behind
    assert alike not in between


def test_the_legend_shows_the_lines_as_they_are_drawn(page: str) -> None:
    plots = re.findall(r'(<svg viewBox="0 0 860.*?</svg>).*?<p class="legend">(.*?)</p>', page, flags=re.S)
    assert len(plots) == 2
    assert "#" not in re.sub(r"<[^>]*>", "", plots[0][1]), "a sign for a terminal"
    for plot, legend in plots:
        strokes = set(re.findall(r'(stroke="#\w+" stroke-width="1.6"[^/]*)/>', plot))
        assert strokes == set(re.findall(r'<path d="M0 3H28" (.*?)/>', legend))


def test_every_card_says_in_a_few_words_what_it_is(page: str) -> None:
    heads = re.findall(r'<div class="card"><h3>(.*?)</h3>', page)
    assert heads[:2] == ["Clear old tool results", "Results of one tool"]
    assert len(heads) == page.count('<div class="card">')


def test_what_was_needed_later_stands_where_the_session_goes_on(tmp_path: Path) -> None:
    """The page's figures are those of `cwb compare`."""
    sample = SAMPLES / "augment-with-summary.json"
    pages = [tmp_path / f"{epoch}.html" for epoch in "13"]
    for page in pages:
        report(sample, "--epoch", page.stem, "-o", str(page))
    compared = json.loads(cwb("compare", sample, "--epoch", "1", "--json").output)
    share = compared["recorded"]["later_use"]["kept_share"]
    heads, *rows = re.findall(r"<tr>(.*?)</tr>", pages[0].read_text("utf-8").partition("Facts kept")[2], flags=re.S)
    assert re.findall(r"<th>(.*?)</th>", heads)[-1] == "recorded"
    needed = next(row for row in rows if "<td>needed later</td>" in row)
    assert re.findall(r"<td>(\d+)\s%</td>", needed)[-1] == f"{100 * share:.0f}"
    assert ["needed later" in page.read_text("utf-8") for page in pages] == [True, False]


@pytest.mark.parametrize(
    ("flags", "summaries"), [((), "estimated"), (("--watch", "Use pnpm."), "sentences of the session")]
)
def test_the_replay_states_its_beginning_and_its_summaries(
    tmp_path: Path, flags: Sequence[str], summaries: str
) -> None:
    out = tmp_path / "report.md"
    report(SAMPLES / "augment-with-summary.json", "-o", str(out), *flags)
    section = " ".join(out.read_text("utf-8").split("## When each variant would have compacted")[1].split())
    answers = "replayed under each variant with the agent's recorded answers."
    assert f"The session from this epoch on, {answers} Summaries are {summaries}." in section


def test_what_is_still_known_is_that_of_the_command(tmp_path: Path) -> None:
    out = tmp_path / "report.md"
    sample = SAMPLES / "augment-with-summary.json"
    report(sample, "-o", str(out), "--preset", "codex", "--compare", "trim")
    section = out.read_text("utf-8").split("## Questions after the compaction")[1].split("\n## ")[0]
    told = json.loads(cwb("retention", "--ask", sample, "--preset", "codex", "--preset", "trim", "--json").stdout)
    shares = {arm["name"]: round(100 * arm["correct"]["share"]) for arm in told["variants"]}
    assert list(shares) == ["full context", "codex", "trim", "nothing"]
    for name, share in shares.items():
        assert f"{name}: {share}\u00a0%" in section, "no line is broken within a figure"
    assert "Answered by text search, no model" in section


# --- how the page is made ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    out = tmp_path_factory.mktemp("page") / "report.html"
    report(SAMPLE, "-o", str(out), "--watch", "Never log the refresh token.")
    return out.read_text("utf-8")


def test_the_verdict_and_both_bars_come_before_all_else(page: str) -> None:
    places = [
        page.index(mark)
        for mark in ('class="verdict"', ">now<", ">after<", 'class="receipt"', 'id="found"', "How it grew")
    ]
    assert places == sorted(places)
    heads = re.findall(r"<h2[^>]*>(.*?)</h2>", page)
    assert heads[:6] == [
        "Findings",
        "How it grew",
        "Watched rules",
        "Compared",
        "Facts kept",
        "When each variant would have compacted",
    ]


def test_every_id_is_there_once_and_no_width_is_fixed(page: str) -> None:
    seen = Seen(page)
    ids = [value for name, value in seen.attributes if name == "id"]
    assert len(ids) > 5
    assert sorted(ids) == sorted(set(ids))
    assert "width" not in [name for name, _ in seen.attributes]
    assert not re.search(r"(?<![-a-z])(?:min-)?width:\s*\d{3,}px", page)
    assert [
        value
        for name, value in seen.attributes
        if name == "style" and not re.fullmatch(r"(?:width|left):[\d.]+%", value)
    ] == []


def test_bars_are_on_one_scale_and_add_up(page: str) -> None:
    """Widths of a bar's parts are its tokens over the window's 200 000."""
    bars = re.findall(
        r'class="bar" role="img" aria-label="(.*?): (\d[\d\s\u202f]*) tokens.*?>(.*?)</div>', page, flags=re.S
    )
    assert [name for name, _, _ in bars] == ["now", "after", "now", "codex", "claude-code as of 2.1.36", "ledger"]
    for _, tokens, inside in bars:
        widths = [float(one) for one in re.findall(r"width:([\d.]+)%", inside)]
        assert sum(widths) == pytest.approx(100 * int(re.sub(r"\s", "", tokens)) / 200_000, abs=0.01)


def test_a_policy_that_would_not_have_compacted_has_no_figure_and_no_bar(tmp_path: Path) -> None:
    written = tmp_path / "page.html"
    report(SAMPLES / "mini-swe-agent-one-grep.traj.json", "-o", str(written))
    cards = re.findall(r'<div class="card">(.*?)</p>', written.read_text("utf-8"), re.DOTALL)
    assert ["<b>" in card for card in cards if "would not have compacted the session" in card] == [False]
    assert all("<b>" in card for card in cards if "would not have compacted the session" not in card)


def test_numbers_are_not_broken_over_lines(page: str) -> None:
    words = re.sub(r"<(style|pre|svg)\b.*?</\1>|<[^>]*>", "", page, flags=re.S)
    assert re.findall(r"\d \d{3}\b", words) == []
    assert re.findall(r"\d %", words) == []


def test_names_of_levels_that_are_near_do_not_lie_upon_each_other() -> None:
    svg = svg_plot(
        [PlotLine("A", [(1, 1_000)])], [Level("window", 1_000), Level("limit", 990), Level("low", 300)], {}, "call", ""
    )
    named = {name: float(y) for y, name in re.findall(r'y="([\d.]+)"[^>]*>(\w+): ', svg)}
    assert named["limit"] - named["window"] >= 13
    assert named["low"] - named["limit"] >= 13


def test_markdown_begins_with_the_same_verdict_and_bars(tmp_path: Path) -> None:
    report(SAMPLE, "-o", str(tmp_path / "page.md"))
    lines = [line for line in (tmp_path / "page.md").read_text("utf-8").splitlines() if line]
    assert lines[1].startswith("**API rejected the request at 197k. ")
    assert [line.split()[0] for line in lines[3:5]] == ["now", "after"]
    # 60 characters are the window: 197 481 of 200 000 tokens are 59 of them.
    assert lines[3].split()[1].rstrip("░") == lines[3].split()[1][:59]


@pytest.mark.parametrize(("epoch", "asked"), [(1, True), (2, False)])
def test_c_a_summary_that_nobody_can_read_is_asked_nothing(tmp_path: Path, epoch: int, asked: bool) -> None:
    """The second compaction of the session left an encrypted summary: what it knows is not known."""
    out = tmp_path / "report.md"
    report(SAMPLES / "codex-two-compactions.jsonl", "-o", str(out), "--epoch", str(epoch), "--preset", "ledger")
    page = out.read_text("utf-8")
    assert "What the agent's own compaction lost" in page
    section = page.split("## Questions after the compaction")[1].split("\n## ")[0]
    assert ("recorded by the agent:" in section or "recorded:" in section) == asked
    assert "ledger: " in section
