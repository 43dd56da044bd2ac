"""A comparison as a ranking: a row for each variant, figures on one denominator, the best and the worst marked.
Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from rich.cells import cell_len
from rich.text import Text

from workbench.analysis.fit import Fit, rank
from workbench.analysis.later_use import LaterUse
from workbench.analysis.replay import Replay
from workbench.analysis.replay_table import replays_table
from workbench.analysis.retention import Retention, new_messages
from workbench.analysis.retention_tables import by_variant
from workbench.base.figures import short
from workbench.bench import RuleState
from workbench.bench.assessment import Assessment
from workbench.compaction.outcome import Outcome
from workbench.runs.live_run import FinishedRun
from workbench.runs.variants import Variant, figures_table, paid_back_words
from workbench.summarizers.server_forms import ServerSummary
from workbench.tui.plain import bar, figure, fit, one_line, percent, plain
from workbench.tui.widgets.facts_list import fate_of
from workbench.tui.widgets.session_plot import saw
from workbench.tui.widgets.watched_lines import SIGNS

BAR, SPARK = 6, 24
"""Cells of a bar, and of the context over the session."""

BEST, WORST = "▲", "▼"
"""Marks of the best and the worst figure of a column."""


@dataclass(frozen=True)
class Ranked:
    """Row of the ranking: one variant. Facts are shown if `are_known`; `sent` are the tokens of every call of the
    session simulated under the variant, empty until that is known.

    `variant` is None for the agent's own compaction, `played` until the session is simulated, `ran` if no model was
    used.
    """

    name: str
    found: Assessment
    are_known: bool = False
    sent: Sequence[int] = ()
    variant: Variant | None = None
    played: Replay | None = None
    ran: FinishedRun | None = None

    @property
    def outcome(self) -> Outcome:
        return self.found.outcome

    @property
    def held(self) -> Retention | None:
        return self.found.retention if self.are_known else None

    @property
    def stood(self) -> tuple[RuleState, ...]:
        return self.found.watched if self.are_known else ()

    @property
    def needed(self) -> LaterUse | None:
        return self.found.later_use if self.are_known else None


@dataclass(frozen=True)
class Head:
    """Column of the ranking. `value` is its sort key, None if unknown; `less` is better if set."""

    title: str
    value: Callable[[Ranked], float | None]
    words: Callable[[Ranked], str]
    less: bool = False


def _share(of: Callable[[Ranked], float | None]) -> Callable[[Ranked], str]:
    def words(one: Ranked) -> str:
        found = of(one)
        return "" if found is None else f"{bar(found, BAR)} {percent(found):>5}"

    return words


def _rules(one: Ranked) -> float | None:
    counts = one.held.rules_kept if one.held else None
    return counts[0] / counts[1] if counts and counts[1] else None


def _rules_words(one: Ranked) -> str:
    counts = one.held.rules_kept if one.held else None
    return f"{counts[0]}/{counts[1]}" if counts and counts[1] else "–" if counts else ""


def _held(one: Ranked) -> float | None:
    return one.held.whole.share if one.held else None


def _needed(one: Ranked) -> float | None:
    return one.needed.share if one.needed else None


def _after_words(one: Ranked) -> str:
    after, before = one.found.after, one.found.before.tokens
    return f"{bar(after.tokens / max(before, 1), BAR)} {after.basis.value + short(after.tokens):>6}"


def _paid_back(one: Ranked) -> float | None:
    """Calls until the summary is paid back; infinite for never."""
    if one.outcome.status == "unchanged":
        return None
    after = one.found.pays_off_after
    return float("inf") if after is None else float(after)


def _paid_back_words(one: Ranked) -> str:
    return (paid_back_words(one.found) or "").removeprefix("after ")


def _cost(one: Ranked) -> float | None:
    """Billed cost of a run with a model, else the estimate."""
    billed = one.found.billed.dollars if one.found.billed and one.found.rates.known else None
    return one.found.summary_cost if billed is None else billed


def _cost_words(one: Ranked) -> str:
    cost = _cost(one)
    return "not recorded" if cost is None else one.found.rates.words(cost)


def _session_cost(one: Ranked) -> float | None:
    return one.played.cost if one.played else None


def _session_cost_words(one: Ranked) -> str:
    return one.played.rates.words(one.played.cost) if one.played else ""


def _checks(one: Ranked) -> float | None:
    return None if one.found.preset is None else float(len(one.found.failed))


def _checks_words(one: Ranked) -> str:
    failed = one.found.failed
    hard = sum(check.hard for check in failed)
    return "" if one.found.preset is None else f"✘ {hard}" if hard else f"! {len(failed)}" if failed else "✔"


FIT = "fit"
"""Title of the column that ranks by fit, then facts kept, then cost."""

SESSION = "session"
"""Title of the cost of all prompts and summaries of the simulated session."""

FIT_CELLS: dict[Fit, tuple[str, str]] = {
    "fits": ("✔", "green"),
    "too large": ("too large", "bold"),
    "not usable": ("not usable", "bold"),
    "unchanged": ("–", "dim"),
}


HEADS = {
    head.title: head
    for head in (
        Head(FIT, lambda one: None, lambda one: FIT_CELLS[one.found.fit][0]),
        Head("tokens after", lambda one: float(one.found.after.tokens), _after_words, less=True),
        Head("rules", _rules, _rules_words),
        Head("kept", _held, _share(_held)),
        Head("needed", _needed, _share(_needed)),
        Head("cost", _cost, _cost_words, less=True),
        Head("paid back", _paid_back, _paid_back_words, less=True),
        Head("checks", _checks, _checks_words, less=True),
        Head(SESSION, _session_cost, _session_cost_words, less=True),
    )
}
"""Columns by title, in their order."""

FIRST = FIT
"""Column that sorts a ranking at first."""


def heads_of(*, goes_on: bool) -> tuple[str, ...]:
    """Titles of the columns; "needed" only if the session continues after the context."""
    return tuple(title for title in HEADS if title != "needed" or goes_on)


def value_of(one: Ranked, title: str) -> float | None:
    """Sort key of a row in a column. None for a row that compacts nothing, which would keep all at no cost, except in
    the session's cost."""
    return None if one.outcome.status == "unchanged" and title != SESSION else HEADS[title].value(one)


def ordered(ranked: Sequence[Ranked], title: str, *, turned: bool = False) -> list[Ranked]:
    """Rows with the best first, or the worst if `turned`. Rows that are too large always come after those that fit, and
    unchanged ones last; unknown values come last in their group. Ties keep their order."""
    groups = ([one for one in ranked if one.found.fit == fit] for fit in FIT_CELLS)
    return [one for group in groups for one in _in_order(group, title, turned=turned)]


def _in_order(group: Sequence[Ranked], title: str, *, turned: bool) -> list[Ranked]:
    if title == FIT:
        return sorted(group, key=_rank, reverse=turned)
    known = [(value, one) for one in group if (value := value_of(one, title)) is not None]
    known.sort(key=lambda pair: pair[0], reverse=HEADS[title].less == turned)
    return [*(one for _, one in known), *(one for one in group if value_of(one, title) is None)]


def _rank(one: Ranked) -> tuple[float, ...]:
    return rank(one.found.fit, _held(one), _cost(one), foreign=bool(one.found.language_note))


def ends(ranked: Sequence[Ranked], title: str) -> tuple[float | None, float | None]:
    """Best and worst value of a column among the rows that fit, or among all if none does. None for a value that half
    of these rows have."""
    ranked = [one for one in ranked if one.found.fit == "fits"] or ranked
    values = [value for one in ranked if (value := value_of(one, title)) is not None]
    low, high = (min(values), max(values)) if values else (0.0, 0.0)
    best, worst = (
        value if values.count(value) * 2 <= len(values) and low < high else None
        for value in ((low, high) if HEADS[title].less else (high, low))
    )
    return best, worst


def width_of(ranked: Sequence[Ranked], title: str) -> int:
    """Cells of a column's figures, heading and mark included."""
    return max(len(title), *(cell_len(HEADS[title].words(one)) for one in ranked), 0) + 2


def room_over(ranked: Sequence[Ranked], titles: Sequence[str], watched: int, width: int) -> int:
    """Cells that a table of `width` cells leaves for the context over the session, from `LEAST` to `MOST_OVER`."""
    names = max((cell_len(plain(one.name)) for one in ranked), default=0)
    columns = [1, max(names, len("policy")), *(width_of(ranked, title) for title in titles), max(0, 2 * watched - 1)]
    return min(max(width - sum(each + 2 for each in columns) - 2, LEAST), MOST_OVER)


LEAST = 8
"""Fewest cells of the context over the session. The table is then wider than the screen, and this column comes after
"kept" so that it is visible."""

MOST_OVER = 3 * SPARK
"""Most cells of it: the saw's teeth are distinct then."""


BEFORE_SENT = "kept"
WATCHED, SENT = "watched", "sent"
"""Columns without figures."""


def places(titles: Sequence[str], over: int) -> tuple[str, ...]:
    """Columns after the name, from left to right."""
    at = titles.index(BEFORE_SENT) + 1 if over <= LEAST else len(titles)
    return (*titles[:at], WATCHED, SENT, *titles[at:])


def row(
    one: Ranked, ranked: Sequence[Ranked], titles: Sequence[str], letter: str, top: int, over: int = SPARK
) -> Iterator[Text]:
    """Cells of a row in the order of `places`: letter, name, figures, watched rules, and the context over the session,
    `top` tokens high and `over` cells wide."""
    yield Text(letter, "bold reverse")
    yield Text(plain(one.name), "bold" if one.outcome.status != "unchanged" else "dim")
    for title in places(titles, over):
        if title == WATCHED:
            yield Text(" ".join(SIGNS[stand.after] if stand.after else "·" for stand in one.stood))
        elif title == SENT:
            yield saw(one.sent, one.played.watched if one.played else (), over, top)
        else:
            yield _figure(one, ranked, title)


def _figure(one: Ranked, ranked: Sequence[Ranked], title: str) -> Text:
    if title == FIT:
        words, style = FIT_CELLS[one.found.fit]
        return Text(f"{words:>{width_of(ranked, title) - 2}}", style)
    (best, worst), value = ends(ranked, title), value_of(one, title)
    mark = BEST if value == best else WORST if value == worst else " "
    mark, style = (" ", "dim") if value is None or one.found.fit == "unchanged" else (mark, "")
    return Text(f"{HEADS[title].words(one):>{width_of(ranked, title) - 2}} {mark}", style)


def _pairs(one: Ranked) -> Iterator[tuple[str, str]]:
    """Yield the headings and non-empty cells of a variant's tables, without its name."""
    tables = [figures_table(one.found.bench, (one.found,))]
    tables += [by_variant([(one.name, one.held, one.needed)], goes_on=one.needed is not None)] if one.held else []
    tables += [replays_table([one.played]).without("sign", "strategy")] if one.played else []
    if one.found.billed:
        yield "billed", str(one.found.billed)
    for table in tables:
        cells = zip(table.heads, table.columns, table.cells(table.rows[0]), strict=True)
        for head, column, cell in islice(cells, 1, None):
            if cell:
                yield head, f"{plain(cell)}{' tokens' if column.kind == 'tokens' else ''}"


def details(one: Ranked, width: int, height: int) -> Text:
    """All other figures of a row in as many columns as fit; in the remaining lines its losses, the gravest first, and
    the beginning of its summary."""
    pairs = list(_pairs(one))
    columns = max(1, width // EACH)
    notes = (one.found.fit_words if one.found.fit != "fits" else "", one.found.language_note)
    heading = f"{one.name} {'; '.join(filter(None, notes))}".rstrip()
    lines = [Text(fit(plain(heading), width), "bold", no_wrap=True)]
    rows = min(max(height - 1, 0), -(-len(pairs) // columns))
    for at in range(rows):
        line = Text(no_wrap=True, overflow="ellipsis")
        for name, value in pairs[at :: max(rows, 1)][:columns]:
            line.append(f"{name:>{NAME}} ", "dim").append(fit(value, EACH - NAME - 2) + " ")
        lines.append(line)
    for part in (_trouble, _written, _lacking) if one.ran else (_trouble, _lacking, _written):
        room = height - len(lines)
        lines += part(one, width, room) if room >= FEWEST else []
    return Text("\n").join(lines)


FEWEST, MOST = 4, 16
"""Fewest and most lines of losses or summary, with heading and empty line."""


def _trouble(one: Ranked, width: int, room: int) -> list[Text]:
    """Failed calls of a model, and claims of its summary that are not in the messages."""
    failed = [str(each) for each in one.ran.failures] if one.ran else []
    blocks = [each.about_block for each in one.ran.run.answers if isinstance(each, ServerSummary)] if one.ran else []
    ground = one.found.grounding if one.ran else None
    claims = [f"{each.kind}: {each.text}" for each in ground.unfounded] if ground else []
    lines = [Text(fit(f"✘ {one_line(each)}", width).rstrip(), "red") for each in failed]
    lines += [Text(fit(f"the server's block: {one_line(each)}", width).rstrip(), "dim") for each in blocks]
    if ground and claims:
        lines.append(Text(f"{figure(len(claims))} of {figure(ground.claims)} claims are not in the messages", "bold"))
        lines += [Text(fit(f"✘ {one_line(each)}", width).rstrip(), "red") for each in claims]
    return [Text(), *lines[: min(room, MOST) - 1]] if lines else []


def _lacking(one: Ranked, width: int, room: int) -> list[Text]:
    facts, most = one.held.lacking if one.held else (), min(room, MOST) - 2
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


def _written(one: Ranked, width: int, room: int) -> list[Text]:
    texts = [one.ran.draft] if one.ran else [message.text for message in new_messages(one.outcome)]
    written = (line for each in texts for line in each.splitlines())
    most = min(room, MOST if one.ran else room) - 2
    lines = [Text(fit(one_line(line), width).rstrip()) for line in islice(filter(str.strip, written), most)]
    return [Text(), Text("what it writes begins", "bold"), *lines] if lines else []


EACH, NAME = 34, 14
"""Cells of a pair, and of its name."""
