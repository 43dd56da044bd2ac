"""A comparison as a ranking: a row for each variant, its figures on one denominator, the best and the worst marked.
Pure: how a row is drawn and ordered, without a screen."""

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
"""Behind the best and the worst figure of a column."""


@dataclass(frozen=True)
class Ranked:
    """A row: one variant by its name. Facts are shown when they `are_known`; `sent` are the tokens of every call of the
    session when it is simulated under the variant, empty until that is known.

    `variant` is None for the agent's own compaction, `played` until the session is simulated, `ran` where no model was
    asked."""

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
    """A column of the ranking: what it is ordered by, None for what is not known; whether `less` is better."""

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
    kept = one.held.rules_kept if one.held else None
    return kept[0] / kept[1] if kept and kept[1] else None


def _rules_words(one: Ranked) -> str:
    kept = one.held.rules_kept if one.held else None
    return f"{kept[0]}/{kept[1]}" if kept and kept[1] else "–" if kept else ""


def _held(one: Ranked) -> float | None:
    return one.held.whole.share if one.held else None


def _needed(one: Ranked) -> float | None:
    return one.needed.share if one.needed else None


def _after_words(one: Ranked) -> str:
    after, before = one.found.after, one.found.before.tokens
    return f"{bar(after.tokens / max(before, 1), BAR)} {after.basis.value + short(after.tokens):>6}"


def _paid_back(one: Ranked) -> float | None:
    """Calls; a never is more than any number of them."""
    if one.outcome.status == "unchanged":
        return None
    after = one.found.pays_off_after
    return float("inf") if after is None else float(after)


def _paid_back_words(one: Ranked) -> str:
    return (paid_back_words(one.found) or "").removeprefix("after ")


def _cost(one: Ranked) -> float | None:
    """What was billed where a model was asked, else the estimate."""
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
"""The column of the ranking by what fits, then by what is kept, then by cost."""

SESSION = "session"
"""The cost of all prompts and summaries when the session is simulated under the variant."""

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
"""By their titles, in their order."""

FIRST = FIT
"""What a ranking is ordered by at first."""


def heads_of(*, goes_on: bool) -> tuple[str, ...]:
    """The columns; what was needed later has one only where the session goes on after the context."""
    return tuple(title for title in HEADS if title != "needed" or goes_on)


def value_of(one: Ranked, title: str) -> float | None:
    """What a row is ordered and marked by: nothing where it compacts nothing, for then it keeps all at no cost; over
    the session it may compact."""
    return None if one.outcome.status == "unchanged" and title != SESSION else HEADS[title].value(one)


def ordered(ranked: Sequence[Ranked], title: str, *, turned: bool = False) -> list[Ranked]:
    """The best first, or the worst where it is `turned`. In every order what is too large comes behind what fits, and
    what is unchanged last; what is not known is last among its like. Equals keep their order."""
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
    """The best and the worst value of a column among what fits, or among all where nothing does; None for one that half
    of these rows have: it tells nothing."""
    ranked = [one for one in ranked if one.found.fit == "fits"] or ranked
    values = [value for one in ranked if (value := value_of(one, title)) is not None]
    low, high = (min(values), max(values)) if values else (0.0, 0.0)
    best, worst = (
        value if values.count(value) * 2 <= len(values) and low < high else None
        for value in ((low, high) if HEADS[title].less else (high, low))
    )
    return best, worst


def width_of(ranked: Sequence[Ranked], title: str) -> int:
    """Cells of a column's figures, its heading and mark included."""
    return max(len(title), *(cell_len(HEADS[title].words(one)) for one in ranked), 0) + 2


def room_over(ranked: Sequence[Ranked], titles: Sequence[str], watched: int, width: int) -> int:
    """Cells that a table of `width` cells leaves for the context over the session, in `LEAST` … `MOST_OVER`."""
    names = max((cell_len(plain(one.name)) for one in ranked), default=0)
    columns = [1, max(names, len("policy")), *(width_of(ranked, title) for title in titles), max(0, 2 * watched - 1)]
    return min(max(width - sum(each + 2 for each in columns) - 2, LEAST), MOST_OVER)


LEAST = 8
"""Cells of the context over the session where there is no room for it: the table is then wider than the screen, and it
stands behind what is kept, so that it is seen."""

MOST_OVER = 3 * SPARK
"""Cells of it where there is more room than its heading needs: the saw's teeth are told apart then."""


BEFORE_SENT = "kept"
WATCHED, SENT = "watched", "sent"
"""The columns that are no figures."""


def places(titles: Sequence[str], over: int) -> tuple[str, ...]:
    """The columns behind the name, from left to right."""
    at = titles.index(BEFORE_SENT) + 1 if over <= LEAST else len(titles)
    return (*titles[:at], WATCHED, SENT, *titles[at:])


def row(
    one: Ranked, ranked: Sequence[Ranked], titles: Sequence[str], letter: str, top: int, over: int = SPARK
) -> Iterator[Text]:
    """The cells of a row: its mark, its name, its figures, the state of watched rules, and the context over the
    session, `top` tokens high and `over` cells long, in their `places`."""
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
    """The headings and cells of a variant's tables, the name and what is empty left out."""
    made = [figures_table(one.found.bench, (one.found,))]
    made += [by_variant([(one.name, one.held, one.needed)], goes_on=one.needed is not None)] if one.held else []
    made += [replays_table([one.played]).without("sign", "strategy")] if one.played else []
    if one.found.billed:
        yield "billed", str(one.found.billed)
    for table in made:
        told = zip(table.heads, table.columns, table.cells(table.rows[0]), strict=True)
        for head, column, cell in islice(told, 1, None):
            if cell:
                yield head, f"{plain(cell)}{' tokens' if column.kind == 'tokens' else ''}"


def details(one: Ranked, width: int, height: int) -> Text:
    """All else that is known of a row, pair by pair in as many columns as there is room for; in the lines that are left
    what it loses, the gravest first, and how what it writes begins."""
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
"""Lines of what is lost, or written, with its heading and the empty line above it: fewer are not worth these, and what
is lost has no more."""


def _trouble(one: Ranked, width: int, room: int) -> list[Text]:
    """Calls of a model that failed, and claims of its summary that the messages do not have."""
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
    said = (line for each in texts for line in each.splitlines())
    most = min(room, MOST if one.ran else room) - 2
    lines = [Text(fit(one_line(line), width).rstrip()) for line in islice(filter(str.strip, said), most)]
    return [Text(), Text("what it writes begins", "bold"), *lines] if lines else []


EACH, NAME = 34, 14
"""Cells of a pair, and of its name."""
