"""Texts of the run screen: cost estimates, progress, failures, sections, lost and unsupported facts. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from rich.text import Text

from workbench.analysis.grounding import Grounding, UnsupportedClaim
from workbench.analysis.retention import TrackedFact
from workbench.base import paths
from workbench.base.errors import BadInput
from workbench.base.text import counted, plural
from workbench.bench import Bench
from workbench.bench.assessment import Assessment
from workbench.compaction.outcome import verdict
from workbench.compaction.summary_request import SummaryFailed
from workbench.runs.cost_estimate import RequestCost
from workbench.runs.drafts import Draft, requests_without_draft
from workbench.session import Usage
from workbench.summarizers.by_name import SummarizerName, parse_name, request_as_sent
from workbench.summarizers.sections import SummarySection, bare_title
from workbench.tokens.cost import actual, added, money
from workbench.tui.middle.tabs import checks_title
from workbench.tui.plain import change, figure, one_line
from workbench.tui.screens.run_progress import RunLine, RunProgress
from workbench.tui.widgets.text_view import TextPart

BY_HAND = SummarizerName("typed")
"""Name of the summarizer for a summary that the user types."""

SHOWN = 30
"""Maximum number of lost facts listed per kind."""

PATH_CHARS = 28
"""Characters listed of a long path, counted from its end. The complete path is shown below the list when its line is
selected."""

NOUNS = {"instruction": "standing instruction", "stated": "statement", "error": "error message"}
"""Texts for kinds of facts whose name alone is unclear."""

BIG = 2_000_000
"""Characters shown of a request. A longer one is shown without its middle, but sent completely."""


def saved_summarizer(bench: Bench) -> SummarizerName:
    """Summarizer of this session; extractive if the saved one does not exist any more."""
    if bench.summarizer == BY_HAND.kind:
        return BY_HAND
    try:
        return parse_name(bench.summarizer)
    except BadInput:
        return SummarizerName("extractive")


def who(name: SummarizerName) -> str:
    """Summarizer in words, with the address of a model."""
    if name.is_live:
        return f"{name.model} at {_address(name)}"
    match name.kind:
        case "extractive":
            return "extractive (offline, no model)"
        case "typed":
            return "you, by hand"
        case "server":
            return f"{name.model}, by compaction on the server ({name.detail.partition(':')[0]}) at {_address(name)}"
        case "command":
            return f"the program {name.detail}"
        case "recording":
            return "a prepared answer (nothing is sent)"
        case "recorded":
            return f"the recorded run {name.detail}"
        case "rehearse":
            return f"nobody: the failure “{name.detail}” is rehearsed"
    return str(name)


def _address(name: SummarizerName) -> str:
    try:
        return name.connection.address
    except BadInput as broken:
        return str(broken)


def estimate_parts(estimates: Sequence[RequestCost], name: SummarizerName, bench: Bench) -> tuple[TextPart, ...]:
    """Requests to be sent, their cost estimate, and their exact texts."""
    if not estimates:
        nothing = "No request: this compaction needs no summary."
        return TextPart(nothing, "title"), TextPart(bench.plan.outcome.reason)
    parts = [
        TextPart(f"{sending(estimates, name)}", "title"),
        *(TextPart(line, "dim") for line in price_lines(estimates, name)),
    ]
    for number, estimate in enumerate(estimates, 1):
        request = estimate.request
        text = request_as_sent(request, name, bench.session)
        exact = "exactly as it would be sent" if request.exact else "≈ depends on an earlier answer"
        size = f"{figure(estimate.chars)} characters, ~{figure(estimate.tokens)} tokens"
        parts += [
            TextPart(""),
            TextPart(f"request {number} of {len(estimates)} · {request.purpose} · {size}", "title"),
            TextPart(f"{exact}; answer: {_limits(estimate)}", "dim"),
        ]
        if len(text) > BIG:
            left_out = f"[… {figure(len(text) - BIG)} characters are not shown here; all of it is sent …]"
            parts += [TextPart(text[: BIG // 2]), TextPart(left_out, "warning"), TextPart(text[-BIG // 2 :])]
        else:
            parts.append(TextPart(text))
    return tuple(parts)


def sending(estimates: Sequence[RequestCost], name: SummarizerName) -> str:
    many = counted(len(estimates), "request")
    tokens = figure(sum(estimate.tokens for estimate in estimates))
    if name.model:
        return f"{many} of ~{tokens} tokens to {who(name)}: nothing is sent before you press enter"
    leaves = "" if name.kind == "command" else "; nothing leaves this machine"
    return f"{many} of ~{tokens} tokens, answered by {who(name)}{leaves}"


def price_lines(estimates: Sequence[RequestCost], name: SummarizerName) -> list[str]:
    if not name.model:
        return []
    tokens, expected, most = (
        sum(getattr(estimate, field) for estimate in estimates) for field in ("tokens", "expected", "most")
    )
    notes = dict.fromkeys(estimate.cost.note for estimate in estimates if estimate.cost.note)
    about, at_most = added(q.cost.dollars for q in estimates), added(q.at_most.dollars for q in estimates)
    price = "price unknown" if about is None else f"about {money(about)}, at most {money(at_most)}"
    answer = f"~{figure(expected)} tokens of answer, at most {figure(most)}"
    where = f"prices: the dated table of models; {paths.models()} corrects it"
    continues = any(estimate.cost.cache_write for estimate in estimates)
    cached = ["it continues the agent's own conversation, which costs less as far as the server still has it cached"]
    return [f"{price}: ~{figure(tokens)} tokens in, {answer}", *notes, *(cached if continues else []), where]


def _limits(estimate: RequestCost) -> str:
    request = estimate.request
    most = f"at most {figure(request.max_chars)} characters, " if request.max_chars else ""
    within = f", within {request.timeout_s:g} s" if request.timeout_s else ""
    return f"{request.form}, {request.language}, {most}at most {figure(estimate.most)} tokens{within}"


def phase_words(phase: str, progress: RunProgress) -> str:
    """Phase of the run screen (ready, running, draft) in words."""
    match phase:
        case "ready":
            return "not committed" if progress.calls else "nothing sent yet"
        case "running":
            return "running, esc cancels"
    return "draft, ctrl+s commits"


def progress_words(progress: RunProgress, name: SummarizerName, usage: Usage) -> str:
    """Tokens, seconds and cost so far."""
    written = max(usage.output, sum(line.written for line in progress.calls))
    facts = [f"{progress.seconds:.1f} s"]
    if usage.context:
        cached = f" ({figure(usage.cache_read)} from the cache)" if usage.cache_read else ""
        facts.append(f"{figure(usage.context)} tokens in{cached}")
    if written:
        facts.append(f"~{figure(written)} tokens out")
    if name.model:
        cost = actual(Usage(usage.input, written, usage.cache_read, usage.cache_write), name.model)
        facts.append(f"{cost} so far")
    return " · ".join(facts)


def stream_parts(calls: list[RunLine], rows: int) -> tuple[TextPart, ...]:
    """Text of running calls: of one call all of it, of several the last `rows` lines of each."""
    parts: list[TextPart] = []
    for line in calls:
        if len(calls) == 1:
            parts.append(TextPart(line.text or "waiting for the first words …", "" if line.text else "dim"))
            continue
        number = (line.number or 0) + 1
        parts.append(TextPart(f"{number} · {line.what} · {line.state}", "title"))
        parts.append(TextPart("\n".join(line.text[-4_000:].splitlines()[-rows:]) or "…"))
    return tuple(parts)


def spent_words(usage: Usage, name: SummarizerName) -> str:
    """Cost of all calls of this screen, "" for none."""
    return f" · {actual(usage, name.model)} spent" if name.model and usage.output else ""


def assessment_words(bench: Bench, assessment: Assessment | None, draft: Draft | None, tokens: int) -> str:
    """Size of the draft, size of its outcome, checks, and number of requests still to be sent. `tokens` is the size of
    the draft."""
    facts = []
    if draft is not None:
        facts.append(f"draft {figure(len(draft.text))} characters, ~{figure(tokens)} tokens")
    if assessment is None:
        return " · ".join([*facts, "checking …"])
    before, after = bench.context.total, assessment.after
    by = f" ({change(before.tokens, after.tokens)})" if before.tokens else ""
    facts.append(f"{before} → {after} tokens{by}")
    facts.append(checks_title(assessment.checks).text)
    if to_send := requests_without_draft(assessment.run):
        facts.append(f"{len(to_send)} more to send (ctrl+s)")
    elif assessment.outcome.status != "compacted":
        facts.append(verdict(assessment.outcome.status, assessment.outcome.reason))
    return " · ".join(facts)


def failure_words(failure: SummaryFailed) -> str:
    """Meaning of a failure, and the ways to continue."""
    meaning = {
        "timeout": "no answer came in time",
        "overflow": "the prompt is too long for the model",
        "empty": "the answer has no text",
        "truncated": "the answer was cut off; its beginning is below",
        "refused": "the model refused",
        "inflated": "the answer is longer than the messages it replaces",
        "error": "the call failed",
    }[failure.kind]
    detail = f" ({failure.detail})" if failure.detail else ""
    return f"{failure.kind}: {meaning}{detail}. ctrl+r asks again; f8 uses this text; or write it yourself."


# --- sections -------------------------------------------------------------------------------------------------------

SECTION_SIGNS = {"as written": "·", "edited": "✎", "written again": "↻", "accepted": "✔"}


def section_line(section: SummarySection, text: str, state: str, missing: int) -> Text:
    size = figure(section.end - section.body)
    title = one_line(section.title or ("beginning" if section.stop < len(text) else "the whole draft"), 60)
    line = Text(f"{SECTION_SIGNS[state]} {title}", no_wrap=True, overflow="ellipsis")
    found = f" · {missing} not found" if missing else ""
    edited = "" if state == "as written" else f" · {state}"
    return line.append(f"{found}{edited} · {size}", "dim")


def same_section(sections: Sequence[SummarySection], title: str) -> SummarySection | None:
    return next((section for section in sections if bare_title(section.title) == bare_title(title)), None)


# --- grounding ------------------------------------------------------------------------------------------------------

Found = UnsupportedClaim | TrackedFact


@dataclass(frozen=True)
class FactLine:
    """Line of the list of facts: a heading (`fact` None), an unsupported claim, or a lost fact."""

    text: Text
    fact: Found | None = None


def fact_lines(found: Grounding | None, lost: Sequence[TrackedFact] | None) -> list[FactLine]:
    """Unsupported claims of a draft, and lost facts of its outcome by kind; nothing for None."""
    return [*(unsupported_lines(found) if found else ()), *(lost_lines(lost) if lost is not None else ())]


def unsupported_lines(found: Grounding) -> list[FactLine]:
    lines = [_heading(f"not in the head: {len(found.unsupported)} of {found.claims}", not found.unsupported)]
    for one in found.unsupported:
        words = Text(f"✘ {one_line(one.text, 200)} ", "underline", no_wrap=True, overflow="ellipsis")
        lines.append(FactLine(words.append(one.kind, "not underline dim"), one))
    return lines


def lost_lines(lost: Sequence[TrackedFact]) -> list[FactLine]:
    lines = [] if lost else [_heading("lost: none of the facts looked for", good=True)]
    kinds = Counter(loss.kind for loss in lost)  # ordered by the gravest fact of each
    for kind, number in kinds.items():
        lines.append(_heading(f"lost: {number} {plural(number, NOUNS.get(kind, kind))}", good=False))
        for loss in [loss for loss in lost if loss.kind == kind][:SHOWN]:
            words = Text(f"− {_short(loss)} ", no_wrap=True, overflow="ellipsis")
            lines.append(FactLine(words.append(loss.why, "dim"), loss))
        if number > SHOWN:
            lines.append(_heading(f"  … and {number - SHOWN} more", good=True))
    return lines


def _short(loss: TrackedFact) -> str:
    """Short form of a fact: the end of a long path, else the beginning."""
    words = one_line(loss.text, 4_000 if loss.kind == "path" else 200)
    return "…" + words[-PATH_CHARS:] if loss.kind == "path" and len(words) > PATH_CHARS else words


def _heading(words: str, good: bool) -> FactLine:
    return FactLine(Text(words, "dim" if good else "bold", no_wrap=True, overflow="ellipsis"))


def line_for(loss: TrackedFact) -> str:
    """Lost fact as a line of a summary."""
    words = " ".join(loss.text.split())
    match loss.kind:
        case "path":
            changed = f" ({loss.why})" if loss.why in ("created", "modified", "deleted") else ""
            return f"- `{words}`{changed}"
        case "command" | "identifier":
            return f"- `{words}`"
        case "error":
            return f"- {words}" + (" (not fixed)" if loss.why == "not fixed" else "")
    return f"- {words}"
