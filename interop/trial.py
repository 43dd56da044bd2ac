"""What is tried with one tool, column by column of the table.

read       a session that the tool made goes on in it: what it sends is the context that the workbench shows
own        the same after the tool's own compaction
ours       that session compacted by the workbench, exported, and resumed twice by the printed steps: what the tool
           sends is the context that was promised
foreign    sessions of other tools, exported into this one's form, the same way
repaired   for tools with a command (`repairs.py`): damaged copies of that session, repaired, go on in the same way
samples    for libraries (`samples.py`): every sample, as it is and compacted in every way, goes on once
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import workbench
from interop.compare import Allowance, compare
from interop.homes import Failed, Home, fresh
from interop.server import Request, Server
from interop.server.script import Call
from interop.told import allowed_by
from interop.tool import PLANS, Plan, Tool
from interop.units import Unit, of_request, shown
from workbench.base.errors import BadInput
from workbench.compaction.context import Context
from workbench.compaction.exporting import TOLERATED_PERCENT
from workbench.compaction.preset import agent_preset_id, preset_names
from workbench.formats import export as exporting
from workbench.formats import registry
from workbench.formats.steps import steps
from workbench.session import Message, Session

SAMPLES = Path(__file__).resolve().parents[1] / "sample_sessions"
FOREIGN = ("claude-code-overflow.jsonl", "codex-two-compactions.jsonl", "openai-chat-tools.json")
"""The samples of which the first two that are no files of the tool's own are exported into its form."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A session file as it lay there, the prompt that followed, the request that it led to, and what lay beside it."""

    file: str
    data: bytes
    prompt: str
    request: Request
    beside: bytes = b""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One comparison: of what, the first difference ("" for none), which allowances it took, and what was compared."""

    of: str
    difference: str
    allowed: tuple[str, ...] = ()
    seen: Seen | None = None


@dataclass(frozen=True, slots=True)
class Column:
    """The verdicts of a column, or why there are none."""

    verdicts: tuple[Verdict, ...] = ()
    not_tried: str = ""


@dataclass(frozen=True, slots=True)
class Trial:
    read: Column
    own: Column
    ours: Column
    foreign: Column
    samples: Column = Column(not_tried="only of libraries")
    repaired: Column = Column(not_tried="not tried")

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.read, self.own, self.ours, self.foreign, self.samples, self.repaired

    @property
    def failed(self) -> tuple[Verdict, ...]:
        return tuple(verdict for column in self.columns for verdict in column.verdicts if verdict.difference)


def scene(read: Callable[[str], Call]) -> tuple[str, ...]:
    """What the person asks for in a session that a tool makes: calls alone and side by side, a long result and one with
    odd characters, reasoning, plain answers."""
    notes, odd, long, weir = map(read, ("notes.md", "odd.txt", "long.txt", "weir.cfg"))
    return (
        f"Count the sacks. [[say First the list.]] {long} [[then]] {notes} [[then]] [[say There are 399 sacks.]]",
        f"Never touch weir.cfg, whatever happens. {odd} [[then]] [[say It holds odd characters: é, 漢字, 🌾.]]",
        f"Look at notes and weir, please. {notes}{weir} [[then]] [[say The mill listens on port 8443.]]",
        "And the price?\n\nIn “crowns”, <please> & thanks. [[think The price is not in the notes.]] [[say Unknown.]]",
        f"Read the notes again. {notes} [[then]] [[say The port is still 8443.]]",
    )


def try_out(tool: Tool, home: Home) -> Trial:
    """Everything of one tool, one column after the other; what went wrong is a verdict, too."""
    try:
        path = tool.make(home, scene(tool.read))
    except Failed as error:
        none = Column(not_tried="there is no session")
        return Trial(Column((Verdict("a session", str(error)),)), none, none, none)
    read = Column((_goes_on(tool, home, path, "a session it made"),))
    try:
        session = workbench.load(path)
    except BadInput:
        ours = Column(not_tried="its file is not read")
    else:
        if registry.by_id(session.format).codec.write is None:
            only = Column(not_tried="read only")
            return Trial(read, _own(tool, home, path), only, only)
        ours = Column(tuple(_ours(tool, home, session)))
    foreign = Column(tuple(_foreign(tool, home)))
    return Trial(read, _own(tool, home, path), ours, foreign)


def prepared(tool: Tool, server: Server) -> Home:
    """A fresh home with the tool's settings and the stand-in for its command; the workbench takes it for its own, and
    so finds what the tool says there of its folders."""
    home = fresh(tool.id, server)
    os.environ["HOME"] = str(home.home)
    home = Home(home.root, server, tool.env(home))
    tool.configure(home)
    if tool.command:
        home.launch(tool.command, tool.launcher)
    return home


def _own(tool: Tool, home: Home, path: Path) -> Column:
    """Each of its compactions on what the one before left; the first that goes wrong is the last. What is never
    written is held against what the workbench foretells."""
    if not tool.compactions:
        return Column(not_tried="not driven" if tool.command else "none tried")
    verdicts: list[Verdict] = []
    for name, compact in tool.compactions.items():
        try:
            before, path = workbench.load(path), compact(home, path)
            after = workbench.load(path)
            seen = len(after.epochs) > len(before.epochs) or len(after.context()) < len(before.context())
            if seen or tool.foretold:
                told = f", as the preset {tool.foretold.by} predicts it" if tool.foretold else ""
                verdict = replace(_goes_on(tool, home, path, name, tool.foretold), of=name + told)
            else:
                verdict = Verdict(name, "no compaction is seen in its file")
        except (BadInput, Failed) as error:
            verdict = Verdict(name, str(error))
        verdicts.append(verdict)
        if verdict.difference:
            break
    return Column(tuple(verdicts))


def _goes_on(tool: Tool, home: Home, path: Path, what: str, foretold: Plan | None = None) -> Verdict:
    """Whether the tool sends, with the next prompt, the context of the file that it wrote, or what the plan makes of
    that."""
    prompt = f"Go on after {what}."
    try:
        session = workbench.load(path)
        file = (path.name, path.read_bytes()) if path.is_file() else (f"{path.name}.json", session.records.data)
        also = tool.beside(path) if tool.beside else None
        beside = also.read_bytes() if also and also.is_file() else b""
        validate = registry.by_id(session.format).codec.validate
        if validate and (problems := validate(file[1])):
            return Verdict(what, f"our rules object to a file of its own: {problems[0]}")
        context = compacted(session, foretold, home.server.summary).messages if foretold else session.context()
        with home.server.mark() as requests:
            tool.again(home, path, prompt)
        verdict = next(verdicts(tool, what, file, requests, context, (prompt,)))
        return replace(verdict, seen=replace(verdict.seen, beside=beside)) if verdict.seen else verdict
    except (BadInput, Failed) as error:
        return Verdict(what, str(error))


def _ours(tool: Tool, home: Home, session: Session) -> Iterator[Verdict]:
    """By each plan in the tool's form; by the first in every way of it, too. The tool's own preset is as it comes where
    no plan says otherwise."""
    own, codec = agent_preset_id(session), registry.by_id(session.format).codec
    plans = tool.plans if any(plan.by == own for plan in tool.plans) or not own else (*tool.plans, Plan(own))
    for plan in plans:
        try:
            promised = compacted(session, plan)
        except BadInput as error:
            yield Verdict(str(plan), str(error))
            continue
        ways = [f"{tool.format}:{form.id}" for form in codec.forms] if plan == PLANS[0] else []
        for format in (tool.format, *ways):
            what = str(plan) if format == tool.format else f"{plan} as {format}"
            yield _exported(tool, home, what, session, promised, format)


def compacted(session: Session, plan: Plan, summary: str = "") -> Context:
    """What the workbench promises; a `summary` stands for the model's. Raises BadInput where it made nothing of it."""
    asked = [message.id for message in session.context() if message.starts_round]
    pins = asked[1:2] if plan.pin else ()
    chosen = {"preset": plan.by} if plan.by in preset_names() else {"strategy": plan.by}
    model = {"summarize": lambda prompt: summary} if summary else {}
    made = workbench.compact(session, pins=pins, **{**chosen, **model, **plan.fields})  # type: ignore[arg-type]
    if made.report.failed or made.report.status not in ("compacted", "fallback"):
        raise BadInput(next((check.detail for check in made.report.failed), made.report.reason))
    return made.context.from_outcome(made.outcome)


def _foreign(tool: Tool, home: Home) -> Iterator[Verdict]:
    others = [session for name in FOREIGN if (session := workbench.load(SAMPLES / name)).format != tool.format]
    for session in others[:2]:
        yield _exported(tool, home, session.format, replace(session, cwd=str(home.project)), workbench.context(session))


def _exported(tool: Tool, home: Home, what: str, session: Session, promised: Context, format: str = "") -> Verdict:
    """Export, follow the printed steps, go on twice: the first difference, or what had to be allowed."""
    prompts = (f"Go on with {what}, for the first time.", f"Go on with {what}, for the second time.")
    try:
        made = exporting.export(session, promised.messages, format or tool.format, export_note=promised.export_note)
        if made.problems:
            return Verdict(what, f"its own rules refuse the export: {made.verdict}")
        folder = home.exports / str(len(list(home.exports.iterdir())))
        folder.mkdir()
        where = exporting.save(made, folder).where
        found = workbench.context(workbench.load(where)).total.tokens
        same_format = made.format.id == session.format  # between formats the notes tell of what has no place
        if same_format and abs(found - promised.total.tokens) * 100 > promised.total.tokens * TOLERATED_PERCENT:
            return Verdict(what, f"{promised.total.tokens} tokens were promised, and {found} are shown of the export")
        with home.server.mark() as requests:
            lines = steps(made.written, where)
            tool.resume(home, where, lines, prompts) if tool.resume else home.follow(lines, prompts)
        file = (where.name if where.is_file() else f"{where.name}.json", made.written.data)
        judged = list(verdicts(tool, what, file, requests, promised.messages, prompts, allowed_by(made)))
        return next((one for one in judged if one.difference), replace(judged[-1], seen=judged[0].seen))
    except (BadInput, Failed) as error:
        return Verdict(what, str(error))


def verdicts(
    tool: Tool,
    what: str,
    file: tuple[str, bytes],
    requests: Sequence[Request],
    context: Sequence[Message],
    prompts: Sequence[str],
    told: Sequence[Allowance] = (),
) -> Iterator[Verdict]:
    """For each prompt the first request that has it, beside the context, the prompts and what was answered to them."""
    expected = list(shown(context))
    for prompt in prompts:
        found = next((request for request in requests if tool.turn(request) and _asks(request, prompt)), None)
        if found is None:
            yield Verdict(what, f"no request has the prompt “{prompt}”")
            return
        expected.append(Unit("user", "text", prompt))
        sent = of_request(found.protocol, found.body)
        compared = compare(sent, tuple(expected), (*told, *tool.allowances))
        expected.append(Unit("assistant", "text", found.answer.text))
        yield Verdict(what, compared.difference, compared.allowed, Seen(*file, prompt, found))


def _asks(request: Request, prompt: str) -> bool:
    return any(prompt in unit.text for unit in of_request(request.protocol, request.body) if unit.role == "user")
