"""What compactions keep of what was needed afterwards: `python -m benchmarks.keeping FOLDER… [--half tuning|held-out]`.

A session is compacted where its agent compacted it (*compactions*), and where it stood in the middle of its work, at
40, 60 and 80 % of its calls (*cuts*). The rest of the file tells what the agent needed again and was not told again
(`workbench.analysis.needed_items`, which shares nothing with the workbench's own facts). A table for each says
what share of that the result holds, by kind, of all that was needed in all of the places, with the interval in which
95 % of 1 000 draws of the sessions lie.

First the whole context, which must hold everything. At 5, 10 and 20 % of it: the ledger without a model, the newest
messages, the user's own newest words. Then
every preset at the size that it has by itself, and the agents' own summaries, each beside a ledger of just that size.
A preset that asks a model gets the extractive summary. What the agents' encrypted summaries hold is not known: they
are counted and left out.

`--half` takes the files whose name's SHA-1 begins with 0–7 (tuning) or 8–f (held out): tune by the one, look at the
other when all is done. `--lost` lists what the ledger lacks at 20 %.
"""

from __future__ import annotations

import argparse
import hashlib
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path

from workbench.analysis.generations import generations
from workbench.analysis.mentions import texts
from workbench.analysis.needed_items import KINDS, Item, ItemSearch, Kind, messages_after, needed_items, project_folder
from workbench.analysis.recorded_compactions import following, recorded_outcome
from workbench.analysis.retention import is_unreadable
from workbench.base.errors import BadInput
from workbench.compaction.context import Context, Layout
from workbench.compaction.fates import Stroke, painted
from workbench.compaction.opening import context_at
from workbench.compaction.outcome import Fate, Outcome
from workbench.compaction.preset import load_preset, preset_names
from workbench.compaction.shape import Shape
from workbench.compaction.spans import kept_pieces, spans_of
from workbench.compaction.strategies import strategy
from workbench.formats.files import load, parts_of
from workbench.session import Epoch, Message, Session
from workbench.summarizers.driver import drive
from workbench.summarizers.extractive import extractive
from workbench.tokens import Counter, session_sizes

BUDGETS = (5, 10, 20)
CUTS = (40, 60, 80)
FEWEST_CALLS = 12
FEWEST_TOKENS = 4_000
"""Of less than this nobody would compact anything."""

DRAWS = 1_000


@dataclass(frozen=True)
class Case:
    """A context that is to be compacted and what came after it. `recorded` is what the agent made of it itself."""

    file: Path
    name: str
    cut: bool
    context: Context
    cwd: str
    later: Sequence[Message]
    recorded: Outcome | None = None

    @cached_property
    def needed(self) -> tuple[Item, ...]:
        return needed_items(self.context.messages, self.later, self.cwd, self.context.system)

    @property
    def tokens(self) -> int:
        return self.context.upto(len(self.context)).tokens


Held = dict[Kind, tuple[int, int]]
"""By kind how many of the needed items are held, and how many there are."""


@dataclass
class Row:
    """What one contender held, a `Held` for each case by the case's file, and the share of the context that it took."""

    held: list[tuple[Path, Held]] = field(default_factory=list)
    sizes: list[float] = field(default_factory=list)

    def add(self, case: Case, parts: Sequence[str], tokens: int) -> None:
        holding = ItemSearch(parts, case.cwd)
        found: Held = {}
        for item in case.needed:
            held, of = found.get(item.kind, (0, 0))
            found[item.kind] = (held + holding.holds(item), of + 1)
        self.held.append((case.file, found))
        self.sizes.append(tokens / (case.tokens or 1))


def main() -> None:
    asked = argparse.ArgumentParser(
        prog="python -m benchmarks.keeping",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    asked.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    asked.add_argument("--half", choices=("tuning", "held-out"))
    asked.add_argument("--quick", action="store_true", help="without the presets")
    asked.add_argument("--generations", type=int, default=0, metavar="N", help="N compactions in a row")
    asked.add_argument("--lost", action="store_true", help="list what the ledger lacks at 20 %%")
    given = asked.parse_args()
    cases = [case for folder in given.folders for case in cases_in(folder, given.half)]
    half = f", {given.half} half" if given.half else ""
    for title, chosen in (
        (f"cuts at {', '.join(map(str, CUTS))} % of the calls", [case for case in cases if case.cut]),
        ("recorded compactions", [case for case in cases if not case.cut]),
    ):
        files = len({case.file for case in chosen})
        print(f"\n## {len(chosen)} {title}, of {files} sessions{half}\n")
        if chosen and given.generations:
            last = [case for case in chosen if not case.cut or case.name.endswith(f"{CUTS[-1]} %")]
            show_generations(last, given.generations)
        elif chosen:
            _show(at_budgets(chosen, given.lost), chosen)
            print("\neach at its own size, and the ledger at that size\n")
            _show(at_own_size(chosen, () if given.quick else preset_names()), chosen)


def show_generations(cases: Sequence[Case], count: int) -> None:
    """Of the facts of each first head, by the workbench's own measure, how many are still told, and rightly, after each
    compaction, and of its instructions how many: the mean over the sessions that last so long."""
    for name, compacted in IN_A_ROW:
        found: list[list[tuple[float | None, ...]]] = [[] for _ in range(count)]
        for case in cases:
            for step in generations(case.context, partial(compacted, case.tokens // 5), case.later, count).steps:
                overall, told = step.retention.overall, step.retention.kinds.get("instruction")
                found[step.number - 1].append((overall.share, overall.right, told.share if told else None))
        print(f"\n{name}\n{'generation':>10}  {'sessions':>8}  {'present':>7}  {'right':>7}  instructions")
        for number, several in enumerate(found, 1):
            present, right, rules = (_mean([one[place] for one in several]) for place in range(3))
            print(f"{number:10}  {len(several):8}  {present:>7}  {right:>7}  {rules:>12}")


def _mean(shares: Sequence[float | None]) -> str:
    known = [share for share in shares if share is not None]
    return f"{100 * sum(known) / len(known):.0f} %" if known else "–"


def half_of(path: Path) -> str:
    """In which half a file is, by its name."""
    return "tuning" if hashlib.sha1(path.name.encode()).hexdigest()[0] in "01234567" else "held-out"


# --- where to compact -----------------------------------------------------------------------------------------------


def cases_in(folder: Path, half: str | None) -> Iterator[Case]:
    """Every compaction and every cut of the sessions in a folder, those of which nothing was needed left out."""
    counter = Counter()
    for path in sorted(folder.iterdir()) if folder.is_dir() else [folder]:
        if path.is_dir():
            yield from cases_in(path, half)
            continue
        if half and half_of(path) != half:
            continue
        try:
            parts = [part.id for part in parts_of(path)]
            sessions = [load(path, part=part) for part in (parts if len(parts) > 1 else [""])]
        except BadInput:
            continue
        for session in sessions:
            for case in _cases(session, path, counter):
                if case.tokens >= FEWEST_TOKENS and case.needed:
                    yield case


def _cases(session: Session, file: Path, counter: Counter) -> Iterator[Case]:
    counter.count_all(session.messages, lambda done, total: None, lambda: False)
    cwd = project_folder(session)
    for epoch in range(1, len(session.epochs)):
        if session.epochs[epoch - 1].ended_by is None:
            continue
        outcome = recorded_outcome(session, epoch)
        if outcome.status == "unchanged":
            continue
        later = messages_after(session, epoch, following(session, epoch))
        context = context_at(session, epoch, counter)
        yield Case(file, f"{file.name} compaction {epoch}", False, context, cwd, later, outcome)
    longest = max(range(1, len(session.epochs) + 1), key=lambda epoch: len(_calls(session.context(epoch))))
    messages = session.context(longest)
    calls = _calls(messages)
    whole = context_at(session, longest, counter)
    for percent in CUTS if len(calls) >= FEWEST_CALLS else ():
        at = calls[len(calls) * percent // 100]
        cut = Epoch(longest, session.epochs[longest - 1].members[:at])
        facts = replace(session.facts, tokens_now=None)
        shorter = replace(session, epochs=(*session.epochs[: longest - 1], cut), facts=facts)
        sizes = session_sizes(shorter, longest, counter)
        context = whole.with_(layout=Layout(Shape(messages[:at]), sizes))
        later = [*messages[at:], *following(session, longest)]
        yield Case(file, f"{file.name} at {percent} %", True, context, cwd, later)


def _calls(messages: Sequence[Message]) -> list[int]:
    return [index for index, message in enumerate(messages) if message.role == "assistant" and message.kind == "normal"]


# --- who compacts ---------------------------------------------------------------------------------------------------


def at_budgets(cases: Sequence[Case], lost: bool = False) -> dict[str, Row]:
    rows = {"all of it": Row()}
    for case in cases:
        rows["all of it"].add(case, _said(case.context.messages), case.tokens)
    for budget in BUDGETS:
        for name, compacted in CONTENDERS:
            row = rows[f"{budget} % {name}"] = Row()
            for case in cases:
                parts, tokens = compacted(case, case.tokens * budget // 100)
                row.add(case, parts, tokens)
                if lost and (budget, name) == (20, "ledger"):
                    _tell_lost(case, parts)
    return rows


def at_own_size(cases: Sequence[Case], presets: Sequence[str]) -> dict[str, Row]:
    """Each preset that compacts anything, the agents' own, and behind each the ledger at its size."""
    rows: dict[str, Row] = {}
    unknown = 0

    def add(name: str, case: Case, parts: Sequence[str], tokens: int) -> None:
        rows.setdefault(name, Row()).add(case, parts, tokens)
        rows.setdefault(f"  ledger like {name}", Row()).add(case, *ledger(case, tokens))

    for case in cases:
        if case.recorded and is_unreadable(case.recorded):
            unknown += 1
        elif case.recorded:
            add("recorded", case, _said(case.recorded.messages), _tokens(case.context, case.recorded))
    for name in presets:
        if load_preset(name).strategy == "ledger":
            continue
        for case in cases:
            if outcome := by_preset(case, name):
                add(name, case, _said(outcome.messages), _tokens(case.context, outcome))
    if unknown:
        print(f"{unknown} recorded summaries are encrypted or missing: what they hold is unknown\n")
    return rows


def ledger(case: Case, budget: int) -> tuple[list[str], int]:
    outcome = _ledger_outcome(budget, case.context)
    return _said(outcome.messages), _tokens(case.context, outcome)


def _ledger_outcome(budget: int, context: Context) -> Outcome:
    """Without a model, and without a narrative."""
    one = strategy("ledger")
    policy = load_preset("ledger").policy.with_(**{**one.offline_settings, "budget_tokens": max(1, budget)})
    return drive(one.run(context, policy), extractive).outcome


def _newest_outcome(budget: int, context: Context) -> Outcome:
    """The newest messages that fit, and none before them."""
    cut = len(context)
    while cut > context.shape.lead and context.size(cut - 1, len(context)).tokens <= budget:
        cut -= 1
    return _staying(context, [*range(context.shape.lead), *range(cut, len(context))])


def _users_outcome(budget: int, context: Context) -> Outcome:
    """The newest of the user's messages that fit."""
    there: list[int] = []
    for index in reversed(range(context.shape.lead, len(context))):
        if context.messages[index].starts_round and (tokens := context.size(index, index + 1).tokens) <= budget:
            there.append(index)
            budget -= tokens
    return _staying(context, [*range(context.shape.lead), *reversed(there)])


def _staying(context: Context, indexes: Sequence[int]) -> Outcome:
    spans = spans_of(indexes)
    fates = painted(len(context), [Stroke(Fate.KEPT, spans)])
    return Outcome("compacted", "", context.messages, tuple(kept_pieces(spans)), fates)


def _summary_outcome(budget: int, context: Context) -> Outcome:
    """An extractive summary of all, and of the summary before it: what a tool does without a tail."""
    preset = load_preset("claude-code")
    return drive(strategy(preset.strategy).run(context, preset.policy), extractive).outcome


IN_A_ROW: tuple[tuple[str, Callable[[int, Context], Outcome]], ...] = (
    ("ledger at 20 %", _ledger_outcome),
    ("newest messages at 20 %", _newest_outcome),
    ("user's newest words at 20 %", _users_outcome),
    ("claude-code with an extractive summary, at its own size", _summary_outcome),
)


def newest(case: Case, budget: int) -> tuple[list[str], int]:
    """The newest messages, and of the one that does not fit the end; as everywhere behind the system messages."""
    lead = case.context.shape.lead
    parts = _said(case.context.messages[:lead])
    left = max(0, budget - case.context.upto(lead).tokens)
    for index in range(len(case.context) - 1, lead - 1, -1):
        tokens = case.context.size(index, index + 1).tokens
        said = "\n".join(texts(case.context.messages[index]))
        if tokens > left:
            parts.append(said[len(said) - len(said) * left // tokens :])
            return parts, budget
        parts.append(said)
        left -= tokens
    return parts, budget - left


def users_words(case: Case, budget: int) -> tuple[list[str], int]:
    """What the user said, the newest first, and of the message that does not fit the beginning."""
    meter = case.context.layout.sizes.meter
    lead = case.context.shape.lead
    parts = _said(case.context.messages[:lead])
    left = max(0, budget - case.context.upto(lead).tokens)
    for message in reversed(case.context.messages):
        if not (said := message.user_text):
            continue
        tokens = meter.text_tokens(said)
        if tokens > left:
            parts.append(said[: len(said) * left // tokens])
            return parts, budget
        parts.append(said)
        left -= tokens
    return parts, budget - left


CONTENDERS = (("ledger", ledger), ("newest", newest), ("user's words", users_words))


def by_preset(case: Case, name: str) -> Outcome | None:
    """None where it finds nothing to compact."""
    preset = load_preset(name)
    one = strategy(preset.strategy)
    outcome = drive(one.run(case.context, preset.policy), extractive).outcome
    return None if outcome.status == "unchanged" else outcome


def _said(messages: Sequence[Message]) -> list[str]:
    return [text for message in messages for text in texts(message)]


def _tokens(context: Context, outcome: Outcome) -> int:
    return context.outcome_size(outcome).tokens - context.layout.sizes.overhead


def _tell_lost(case: Case, parts: Sequence[str]) -> None:
    holding = ItemSearch(parts, case.cwd)
    missing = [item for item in case.needed if not holding.holds(item)]
    print(f"\n{case.name}: {len(missing)} of {len(case.needed)} lost")
    for item in missing:
        print(f"  {item.kind:9} {' '.join(item.text.split())[:140]}")


# --- what they kept -------------------------------------------------------------------------------------------------


def _show(rows: dict[str, Row], cases: Sequence[Case]) -> None:
    width = max(map(len, (*rows, "needed in all")))
    sums = {name: _pooled([held for _, held in row.held]) for name, row in rows.items()}
    print(f"{'':{width}}  cases   size  " + "".join(f"{kind:<18}" for kind in KINDS))
    for name, row in rows.items():
        size = 100 * sum(row.sizes) / (len(row.sizes) or 1)
        cells = "".join(f"{_cell(kind, sums[name], row):<18}" for kind in KINDS)
        print(f"{name:{width}}  {len(row.held):5}  {size:4.0f} %  {cells}".rstrip())
    counts = [sum(item.kind == kind for case in cases for item in case.needed) for kind in KINDS]
    print(f"{'needed in all':{width}}  {len(cases):5}  {'':6}  {''.join(f'{count:<18}' for count in counts)}".rstrip())


def _cell(kind: Kind, pooled: Held, row: Row) -> str:
    held, of = pooled.get(kind, (0, 0))
    if not of:
        return "–"
    low, high = interval([(file, one[kind]) for file, one in row.held if kind in one])
    return f"{100 * held / of:3.0f} % [{low:.0f}–{high:.0f}]"


def _pooled(held: Sequence[Held]) -> Held:
    return {
        kind: (sum(one.get(kind, (0, 0))[0] for one in held), sum(one.get(kind, (0, 0))[1] for one in held))
        for kind in KINDS
    }


def interval(found: Sequence[tuple[Path, tuple[int, int]]]) -> tuple[float, float]:
    """In per cent, where 95 % of draws lie. Whole sessions are drawn: the cuts of one are much alike."""
    by_file: dict[Path, tuple[int, int]] = {}
    for file, (held, of) in found:
        before = by_file.get(file, (0, 0))
        by_file[file] = (before[0] + held, before[1] + of)
    files = list(by_file.values())
    draw = random.Random(1)
    shares = []
    for _ in range(DRAWS):
        drawn = draw.choices(files, k=len(files))
        shares.append(100 * sum(held for held, _ in drawn) / sum(of for _, of in drawn))
    shares.sort()
    return shares[DRAWS * 25 // 1_000], shares[DRAWS * 975 // 1_000 - 1]


if __name__ == "__main__":
    main()
