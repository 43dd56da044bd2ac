"""Ranking of the variants of a comparison: one row each, shares of the same facts, best and worst marked. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from rich.cells import cell_len
from rich.text import Text

from workbench.analysis.needed_items import LaterUse
from workbench.analysis.outcome_comparison import Fit, rank
from workbench.analysis.replay import Replay
from workbench.analysis.replay_table import replays_table
from workbench.analysis.retention import Retention, new_messages
from workbench.analysis.retention_report import variants_table
from workbench.base.figures import short
from workbench.bench import RuleState
from workbench.bench.assessment import Assessment
from workbench.compaction.outcome import Outcome
from workbench.runs.live_run import FinishedRun
from workbench.runs.variants import Variant, figures_table, paid_back_words
from workbench.summarizers.server_endpoints import ServerSummary
from workbench.tui.plain import bar, figure, fit, one_line, percent, plain
from workbench.tui.widgets.facts_list import fate_of
from workbench.tui.widgets.session_plot import context_sparkline
from workbench.tui.widgets.watched_lines import SIGNS

BAR, SPARK = 6, 24
"""Widths in cells of a bar, and of the plot of the context over the session."""

BEST, WORST = "▲", "▼"
"""Marks of the best and the worst figure of a column."""


@dataclass(frozen=True)
class RankRow:
    """One variant in the ranking.

    Facts and rules are shown if `are_known`. `sent` is the size in tokens of each call of the simulated session, empty
    until it is simulated. `variant` is None for the agent's own compaction, `replay` until the session is simulated,
    `run` if no model was used.
    """

    name: str
    assessment: Assessment
    are_known: bool = False
    sent: Sequence[int] = ()
    variant: Variant | None = None
    replay: Replay | None = None
    run: FinishedRun | None = None

    @property
    def outcome(self) -> Outcome:
        return self.assessment.outcome

    @property
    def retention(self) -> Retention | None:
        return self.assessment.retention if self.are_known else None

    @property
    def watched(self) -> tuple[RuleState, ...]:
        return self.assessment.watched if self.are_known else ()

    @property
    def later_use(self) -> LaterUse | None:
        return self.assessment.later_use if self.are_known else None


@dataclass(frozen=True)
class RankColumn:
    """Column of the ranking. `value` returns the sort key of a row, None if unknown."""

    title: str
    value: Callable[[RankRow], float | None]
    words: Callable[[RankRow], str]
    is_less_better: bool = False


def _share(of: Callable[[RankRow], float | None]) -> Callable[[RankRow], str]:
    def words(one: RankRow) -> str:
        found = of(one)
        return "" if found is None else f"{bar(found, BAR)} {percent(found):>5}"

    return words


def _rules(one: RankRow) -> float | None:
    counts = one.retention.rule_counts if one.retention else None
    return counts[0] / counts[1] if counts and counts[1] else None


def _rules_words(one: RankRow) -> str:
    counts = one.retention.rule_counts if one.retention else None
    return f"{counts[0]}/{counts[1]}" if counts and counts[1] else "–" if counts else ""


def _facts_share(one: RankRow) -> float | None:
    return one.retention.whole.share if one.retention else None


def _needed_share(one: RankRow) -> float | None:
    return one.later_use.share if one.later_use else None


def _after_words(one: RankRow) -> str:
    after, before = one.assessment.after, one.assessment.before.tokens
    return f"{bar(after.tokens / max(before, 1), BAR)} {after.basis.value + short(after.tokens):>6}"


def _paid_back(one: RankRow) -> float | None:
    """Calls until the summary is paid back; infinite for never."""
    if one.outcome.status == "unchanged":
        return None
    after = one.assessment.pays_off_after
    return float("inf") if after is None else float(after)


def _paid_back_words(one: RankRow) -> str:
    return (paid_back_words(one.assessment) or "").removeprefix("after ")


def _cost(one: RankRow) -> float | None:
    """Billed cost of a run with a model, else the estimate."""
    billed = one.assessment.billed.dollars if one.assessment.billed and one.assessment.rates.known else None
    return one.assessment.summary_cost if billed is None else billed


def _cost_words(one: RankRow) -> str:
    cost = _cost(one)
    return "not recorded" if cost is None else one.assessment.rates.words(cost)


def _session_cost(one: RankRow) -> float | None:
    return one.replay.cost if one.replay else None


def _session_cost_words(one: RankRow) -> str:
    return one.replay.rates.words(one.replay.cost) if one.replay else ""


def _checks(one: RankRow) -> float | None:
    return None if one.assessment.preset is None else float(len(one.assessment.failed))


def _checks_words(one: RankRow) -> str:
    failed = one.assessment.failed
    hard = sum(check.hard for check in failed)
    return "" if one.assessment.preset is None else f"✘ {hard}" if hard else f"! {len(failed)}" if failed else "✔"


FIT = "fit"
"""Title of the column that ranks by fit, then facts kept, then cost."""

SESSION = "session"
"""Title of the column with the cost of all prompts and summaries of the simulated session."""

FIT_CELLS: dict[Fit, tuple[str, str]] = {
    "fits": ("✔", "green"),
    "too large": ("too large", "bold"),
    "not usable": ("not usable", "bold"),
    "unchanged": ("–", "dim"),
}


RANK_COLUMNS = {
    head.title: head
    for head in (
        RankColumn(FIT, lambda one: None, lambda one: FIT_CELLS[one.assessment.fit][0]),
        RankColumn("tokens after", lambda one: float(one.assessment.after.tokens), _after_words, is_less_better=True),
        RankColumn("rules", _rules, _rules_words),
        RankColumn("kept", _facts_share, _share(_facts_share)),
        RankColumn("needed", _needed_share, _share(_needed_share)),
        RankColumn("cost", _cost, _cost_words, is_less_better=True),
        RankColumn("paid back", _paid_back, _paid_back_words, is_less_better=True),
        RankColumn("checks", _checks, _checks_words, is_less_better=True),
        RankColumn(SESSION, _session_cost, _session_cost_words, is_less_better=True),
    )
}
"""Columns by title, in their order."""

FIRST = FIT
"""Column by which a new ranking is sorted."""


def column_titles(*, goes_on: bool) -> tuple[str, ...]:
    """Titles of the columns; "needed" only if the session continues after the context."""
    return tuple(title for title in RANK_COLUMNS if title != "needed" or goes_on)


def value_of(one: RankRow, title: str) -> float | None:
    """Sort key of a row in a column, None if unknown. A row that compacts nothing has a key only in the cost of the
    session: it would otherwise win, with everything kept at no cost."""
    return None if one.outcome.status == "unchanged" and title != SESSION else RANK_COLUMNS[title].value(one)


def sort_rows(ranked: Sequence[RankRow], title: str, *, is_reversed: bool = False) -> list[RankRow]:
    """Rows with the best first, or the worst if `is_reversed`, always in groups: those that fit, too large, not usable,
    and unchanged. Unknown values come last in their group. Ties keep their order."""
    groups = ([one for one in ranked if one.assessment.fit == fit] for fit in FIT_CELLS)
    return [one for group in groups for one in _in_order(group, title, is_reversed=is_reversed)]


def _in_order(group: Sequence[RankRow], title: str, *, is_reversed: bool) -> list[RankRow]:
    if title == FIT:
        return sorted(group, key=_rank, reverse=is_reversed)
    known = [(value, one) for one in group if (value := value_of(one, title)) is not None]
    known.sort(key=lambda pair: pair[0], reverse=RANK_COLUMNS[title].is_less_better == is_reversed)
    return [*(one for _, one in known), *(one for one in group if value_of(one, title) is None)]


def _rank(one: RankRow) -> tuple[float, ...]:
    return rank(one.assessment.fit, _facts_share(one), _cost(one), foreign=bool(one.assessment.language_note))


def best_and_worst(ranked: Sequence[RankRow], title: str) -> tuple[float | None, float | None]:
    """Best and worst value of a column among the rows that fit, or among all if none does. None for a value that more
    than half of these rows share."""
    ranked = [one for one in ranked if one.assessment.fit == "fits"] or ranked
    values = [value for one in ranked if (value := value_of(one, title)) is not None]
    low, high = (min(values), max(values)) if values else (0.0, 0.0)
    best, worst = (
        value if values.count(value) * 2 <= len(values) and low < high else None
        for value in ((low, high) if RANK_COLUMNS[title].is_less_better else (high, low))
    )
    return best, worst


def width_of(ranked: Sequence[RankRow], title: str) -> int:
    """Width of a column in cells, for its heading, figures and mark."""
    return max(len(title), *(cell_len(RANK_COLUMNS[title].words(one)) for one in ranked), 0) + 2


@dataclass(frozen=True)
class ColumnScale:
    """Width of a column in cells, and its best and worst value (None where no row is marked)."""

    width: int
    best: float | None
    worst: float | None


def column_scales(ranked: Sequence[RankRow], titles: Sequence[str]) -> dict[str, ColumnScale]:
    """Scale of each column by its title. It reads every row, so compute it once for a table, not for each cell."""
    return {title: ColumnScale(width_of(ranked, title), *best_and_worst(ranked, title)) for title in titles}


def room_over(ranked: Sequence[RankRow], titles: Sequence[str], watched: int, width: int) -> int:
    """Width in cells of the plot of the context over the session: the rest of a table of `width` cells, from `LEAST` to
    `MOST_OVER`. `watched` is the number of watched rules."""
    names = max((cell_len(plain(one.name)) for one in ranked), default=0)
    columns = [1, max(names, len("policy")), *(width_of(ranked, title) for title in titles), max(0, 2 * watched - 1)]
    return min(max(width - sum(each + 2 for each in columns) - 2, LEAST), MOST_OVER)


LEAST = 8
"""Minimum width of the plot in cells. The table may then be wider than the screen, so the plot moves next to "kept" to
stay visible."""

MOST_OVER = 3 * SPARK
"""Maximum width of the plot in cells: enough to tell the compactions apart."""


BEFORE_SENT = "kept"
WATCHED, SENT = "watched", "sent"
"""Columns without figures: states of the watched rules, and the plot of the context over the session."""


def column_order(titles: Sequence[str], over: int) -> tuple[str, ...]:
    """Columns after the name, from left to right. `over` is the width of the plot in cells."""
    at = titles.index(BEFORE_SENT) + 1 if over <= LEAST else len(titles)
    return (*titles[:at], WATCHED, SENT, *titles[at:])


def heading(ranked: Sequence[RankRow], title: str, sign: str, watched: int, over: int) -> Text:
    """Heading of a column. `sign` is the direction of the order if the rows are ordered by it, else ""; `watched` the
    number of watched rules, `over` the width of the plot in cells."""
    if title == WATCHED:
        return Text("◉" * watched)
    if title == SENT:
        return Text("context over the session" if over >= SPARK else "context")
    words = f"{title} {sign}".rstrip()
    return Text(f"{words:>{width_of(ranked, title) - 2}}", "bold" if sign else "")


def row_cells(
    one: RankRow, scales: Mapping[str, ColumnScale], letter: str, top: int, over: int = SPARK
) -> Iterator[Text]:
    """Yield the cells of a row: letter, name, then the columns in the order of `column_order`. The plot is `over` cells
    wide and `top` tokens high."""
    yield Text(letter, "bold reverse")
    yield Text(plain(one.name), "bold" if one.outcome.status != "unchanged" else "dim")
    for title in column_order((*scales,), over):
        if title == WATCHED:
            yield Text(" ".join(SIGNS[rule_state.after] if rule_state.after else "·" for rule_state in one.watched))
        elif title == SENT:
            yield context_sparkline(one.sent, one.replay.watched if one.replay else (), over, top)
        else:
            yield _figure(one, scales[title], title)


def _figure(one: RankRow, scale: ColumnScale, title: str) -> Text:
    if title == FIT:
        words, style = FIT_CELLS[one.assessment.fit]
        return Text(f"{words:>{scale.width - 2}}", style)
    value = value_of(one, title)
    mark = BEST if value == scale.best else WORST if value == scale.worst else " "
    mark, style = (" ", "dim") if value is None or one.assessment.fit == "unchanged" else (mark, "")
    return Text(f"{RANK_COLUMNS[title].words(one):>{scale.width - 2}} {mark}", style)


def _pairs(one: RankRow) -> Iterator[tuple[str, str]]:
    """Yield the headings and non-empty cells of a variant's tables, without its name."""
    tables = [figures_table(one.assessment.bench, (one.assessment,))]
    tables += (
        [variants_table([(one.name, one.retention, one.later_use)], goes_on=one.later_use is not None)]
        if one.retention
        else []
    )
    tables += [replays_table([one.replay]).without("sign", "strategy")] if one.replay else []
    if one.assessment.billed:
        yield "billed", str(one.assessment.billed)
    for table in tables:
        cells = zip(table.heads, table.columns, table.cells(table.rows[0]), strict=True)
        for head, column, cell in islice(cells, 1, None):
            if cell:
                yield head, f"{plain(cell)}{' tokens' if column.kind == 'tokens' else ''}"


def details(one: RankRow, width: int, height: int) -> Text:
    """Details of a row: all figures in as many columns as fit; below them failures, losses (gravest first) and the
    beginning of the summary, which comes before the losses if a model wrote it."""
    pairs = list(_pairs(one))
    columns = max(1, width // EACH)
    notes = (one.assessment.fit_words if one.assessment.fit != "fits" else "", one.assessment.language_note)
    heading = f"{one.name} {'; '.join(filter(None, notes))}".rstrip()
    lines = [Text(fit(plain(heading), width), "bold", no_wrap=True)]
    rows = min(max(height - 1, 0), -(-len(pairs) // columns))
    for at in range(rows):
        line = Text(no_wrap=True, overflow="ellipsis")
        for name, value in pairs[at :: max(rows, 1)][:columns]:
            line.append(f"{name:>{NAME}} ", "dim").append(fit(value, EACH - NAME - 2) + " ")
        lines.append(line)
    for part in (
        (_failure_lines, _summary_lines, _loss_lines) if one.run else (_failure_lines, _loss_lines, _summary_lines)
    ):
        room = height - len(lines)
        lines += part(one, width, room) if room >= FEWEST else []
    return Text("\n").join(lines)


FEWEST, MOST = 4, 16
"""Fewest and most lines of a section (failures, losses, summary), with its heading and empty line."""


def _failure_lines(one: RankRow, width: int, room: int) -> list[Text]:
    """Failed calls of a model, notes on a server's block, and claims of the summary that are not in the messages."""
    failed = [str(each) for each in one.run.failures] if one.run else []
    blocks = [each.block_note for each in one.run.run.answers if isinstance(each, ServerSummary)] if one.run else []
    ground = one.assessment.grounding if one.run else None
    claims = [f"{each.kind}: {each.text}" for each in ground.unsupported] if ground else []
    lines = [Text(fit(f"✘ {one_line(each)}", width).rstrip(), "red") for each in failed]
    lines += [Text(fit(f"the server's block: {one_line(each)}", width).rstrip(), "dim") for each in blocks]
    if ground and claims:
        lines.append(Text(f"{figure(len(claims))} of {figure(ground.claims)} claims are not in the messages", "bold"))
        lines += [Text(fit(f"✘ {one_line(each)}", width).rstrip(), "red") for each in claims]
    return [Text(), *lines[: min(room, MOST) - 1]] if lines else []


def _loss_lines(one: RankRow, width: int, room: int) -> list[Text]:
    facts, most = one.retention.lacking if one.retention else (), min(room, MOST) - 2
    if not facts:
        return []
    shown = facts if len(facts) <= most else facts[: most - 1]
    lines = [Text(), Text("lost or wrong, the gravest first", "bold")]
    for fact in shown:
        sign, style = fate_of(fact)
        kind = Text(f"{sign:<7} ", "dim" if style == "part" else "").append(f"{fact.kind:<11} ", "dim")
        lines.append(kind.append(fit(one_line(fact.text), width - kind.cell_len).rstrip(), "not dim"))
    more = len(facts) - len(shown)
    return [*lines, Text(f"and {figure(more)} more", "dim")] if more else lines


def _summary_lines(one: RankRow, width: int, room: int) -> list[Text]:
    texts = [one.run.draft] if one.run else [message.text for message in new_messages(one.outcome)]
    written = (line for each in texts for line in each.splitlines())
    most = min(room, MOST if one.run else room) - 2
    lines = [Text(fit(one_line(line), width).rstrip()) for line in islice(filter(str.strip, written), most)]
    return [Text(), Text("beginning of the summary", "bold"), *lines] if lines else []


EACH, NAME = 34, 14
"""Widths in cells of a figure with its name, and of the name."""
