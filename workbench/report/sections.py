"""Sections of a report: sentences, tables and plots, shared by HTML and Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from workbench.analysis import replay_table
from workbench.analysis.pictures import Picture, growth_picture, replay_picture
from workbench.analysis.probes import ProbeResults
from workbench.analysis.recorded_compactions import recorded_compactions, recorded_compactions_report
from workbench.analysis.retention import Retention
from workbench.analysis.retention_report import lacking_table
from workbench.analysis.rework import rework_report
from workbench.analysis.why.tables import tables as why_tables
from workbench.base.figures import grouped, interval
from workbench.base.printable import one_line, printable
from workbench.base.tables import Column, Row, Table, transposed
from workbench.base.text import counted
from workbench.compaction.preset import preset_toml
from workbench.report.contents import ReportContents
from workbench.report.top import Bars, compared
from workbench.runs.variants import figures_table, retention_table, rules_table

ROWS = 15
"""Maximum rows of a table; a longer one is cut and notes it."""

WORDS = 140


@dataclass(frozen=True, slots=True)
class Section:
    """A section. `words` are sentences, `code` is preformatted text. All texts are printable and without secrets."""

    title: str
    words: tuple[str, ...] = ()
    bars: Bars | None = None
    picture: Picture | None = None
    table: Table | None = None
    code: str = ""


def sections(report: ReportContents) -> tuple[Section, ...]:
    """Return the sections below the top in order: growth, watched rules, compared variants, replay, losses, questions,
    rework, sizes, session, settings. Sections that do not apply are left out."""
    return (
        _growth(report),
        *_watched(report),
        *_comparison(report),
        _replay(report),
        *_watched_over(report),
        *_lost(report),
        *_probes(report),
        *_rework(report),
        *_sizes(report),
        _session(report),
        _settings(report),
    )


TABLES = (
    "variants", "kept", "watched", "replays", "watched_over_session", "lost", "recorded_lost",
    "layers", "tools", "files", "largest", "rework",
)  # fmt: skip
"""Keys of `result_tables` in order."""


def result_tables(report: ReportContents) -> dict[str, Table]:
    """Return the complete tables of the page by key, without those that do not apply to this session."""
    bench, first = report.bench, report.variants[0]
    variants = [*report.variants, *filter(None, (report.recorded,))]
    tables = {"variants": figures_table(bench, variants), "kept": retention_table(bench, variants)}
    if bench.watched:
        tables["watched"] = rules_table(bench, variants)
        tables["watched_over_session"] = replay_table.watched_table(report.played, bench.watched)
    tables |= {"replays": replay_table.replays_table(report.played), "lost": lacking_table(first.retention)}
    if report.recorded is not None:
        tables["recorded_lost"] = lacking_table(report.recorded.retention)
    tables |= why_tables(report.diagnosis)
    return {key: replace(tables[key], key=key) for key in TABLES if key in tables}


def clean(text: str) -> str:
    """Return the first line of a session's text, printable, secrets masked, cut to `WORDS` characters."""
    return one_line(text, WORDS)


def _session(report: ReportContents) -> Section:
    bench, found = report.bench, report.diagnosis
    session = bench.session
    name = session.path.name if session.path else session.id
    rows = [
        ("session", clean(name)),
        ("format", session.format),
        ("model", clean(session.model or "not recorded")),
        ("epoch", f"{bench.epoch} of {len(session.epochs)}"),
        ("context", f"{found.total} tokens in {counted(found.total.messages, 'message')}"),
        ("window", str(found.window) if found.window else "not known"),
        ("counted by", bench.layout.sizes.meter.method),
    ]
    if session.title:
        rows.insert(1, ("title", clean(session.title)))
    rows += [("warning", clean(str(warning))) for warning in session.warnings[:5]]
    return Section("Session", table=_table(("", ""), rows))


def _growth(report: ReportContents) -> Section:
    found = report.diagnosis
    words = []
    if found.limit:
        words += [f"Limit: {grouped(found.limit.tokens)} tokens, {found.limit.why}.", f"It is {found.reached}."]
    words += [f"{found.preset.name}: {trigger}." for trigger in found.triggers]
    words += [f"The API rejected the context: {clean(one.text)}." for one in found.refusals[:3]]
    return Section("How it grew", tuple(words), picture=growth_picture(found))


def _sizes(report: ReportContents) -> tuple[Section, ...]:
    tables = why_tables(report.diagnosis)
    return tuple(_result(tables[key]) for key in ("layers", "tools", "files", "largest") if tables[key].rows)


def _replay(report: ReportContents) -> Section:
    picture = replay_picture(report.course, report.played, report.bench.window)
    summaries = "sentences of the session" if report.bench.watched else "estimated"
    words = (
        "The session from this epoch on, replayed under each variant with the agent's recorded answers. "
        f"Summaries are {summaries}.",
        *filter(None, (recorded_compactions_report(recorded_compactions(report.course)),)),
        replay_table.cost_basis(report.played[0].rates),
        *filter(None, (replay_table.cost_recorded(report.course.session),)),
    )
    table = replay_table.replays_table(report.played)
    return Section("When each variant would have compacted", words, picture=picture, table=table)


def _comparison(report: ReportContents) -> tuple[Section, ...]:
    variants = [*report.variants, *filter(None, (report.recorded,))]
    words = 'This context compacted now by each variant, offline. "recorded" is the agent\'s compaction.'
    shares = (
        "Shares of all the context's facts. Kept: still in the context; correct: kept and not contradicted; weighted: "
        "facts used again count more. Needed later: share kept of the facts that the session used again."
    )
    return (
        Section("Compared", (words,), compared(report), table=transposed(figures_table(report.bench, variants))),
        Section("Facts kept", (shares,), table=transposed(retention_table(report.bench, variants))),
    )


def _lost(report: ReportContents) -> tuple[Section, ...]:
    first = report.variants[0]
    found = [_lost_section(f"What {first.name} loses", first.retention)]
    if report.recorded is not None:
        found.append(_lost_section("What the agent's own compaction lost", report.recorded.retention))
    return tuple(found)


def _watched(report: ReportContents) -> tuple[Section, ...]:
    """Return the section of watched rules in each outcome; none without watched rules."""
    if not report.bench.watched:
        return ()
    words = (
        "Verbatim: word for word. Paraphrased: correct in other words. Contradicted: with another sign, value or "
        "order. Gone: missing.",
    )
    table = transposed(rules_table(report.bench, [*report.variants, *filter(None, (report.recorded,))]))
    return (Section("Watched rules", words, table=table),)


def _watched_over(report: ReportContents) -> tuple[Section, ...]:
    """Return the section of watched rules over the session under each variant; none without watched rules."""
    if not report.bench.watched:
        return ()
    words = ("State of each rule after replaying the session under each variant, and the call that lost it.",)
    table = replay_table.watched_table(report.played, report.bench.watched).without("sign")
    return (Section("Watched rules over the session", words, table=transposed(table)),)


def _probes(report: ReportContents) -> tuple[Section, ...]:
    """Return the section of questions and their answers in each variant; none without questions."""
    found = report.answers
    if found is None:
        return ()
    controls = len(found.probes) - len(found.scored)
    totals = f"{counted(len(found.scored), 'question')} with one exact answer and {counted(controls, 'control')}"
    words = (
        f"{totals} without an answer in the session. Answered by text search, no model.",
        "; ".join(_answered_share(found, arm) for arm in range(len(found.arms))) + ".",
    )
    heads = ("question", "kind", "answer", *(arm.name for arm in found.arms))
    rows = [
        (
            clean(found.probes[number].question),
            found.probes[number].kind,
            clean(found.probes[number].answer),
            *("✓" if row[number].right else "✗" for row in found.answers),
        )
        for number in found.scored
    ]
    return (Section("Questions after the compaction", words, table=_table(heads, rows)),)


def _answered_share(found: ProbeResults, arm: int) -> str:
    share = found.share(arm)
    words = interval(share.value, share.low, share.high) if share else "no questions"
    return f"{found.arms[arm].name}: {words}"


def _rework(report: ReportContents) -> tuple[Section, ...]:
    """Return the section of rework after the recorded compactions; none without one."""
    found = report.diagnosis.rework
    if not found:
        return ()
    table = why_tables(report.diagnosis)["rework"]
    return (replace(_result(table), words=("Judged without a model. " + rework_report(found),)),)


def _lost_section(title: str, held: Retention) -> Section:
    overall = held.overall
    counts = f"{grouped(overall.full)} in full, {grouped(overall.part)} in part, {grouped(overall.lost)} not at all"
    if overall.unknown:
        return Section(title, ("Not known: the summary cannot be read (none in the file, or an encrypted one).",))
    wrong = f" Wrong: {grouped(overall.wrong)}, of these stale: {grouped(overall.stale)}."
    where = f"in the first {counted(held.head, 'message')}, unchanged after that"
    words = (f"Of {counted(overall.facts, 'fact')} {where}: {counts}.{wrong}",)
    return replace(_result(lacking_table(held), 30), title=title, words=words)


def _settings(report: ReportContents) -> Section:
    bench = report.bench
    pinned = [clean(id) for id in sorted(bench.pins)]
    words = (f"Strategy {bench.strategy.id}.",) + ((f"Pinned: {', '.join(pinned)}.",) if pinned else ())
    return Section("Settings", words, code=printable(preset_toml(bench.as_preset)))


def _result(table: Table, most: int = ROWS) -> Section:
    """Return a table as a section with its title and note."""
    return Section(table.title, (table.note,) if table.note else (), table=table.first(most))


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], numbers: int = 0, most: int = ROWS) -> Table:
    kinds = (Column(head, head, "count" if at < numbers else "text") for at, head in enumerate(heads))
    return Table("", "", tuple(kinds), tuple(Row(tuple(row)) for row in rows)).first(most)
