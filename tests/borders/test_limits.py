"""Effect of every number in every policy just below, at and just above a limit, as the help of its setting states it.

The policies name the numbers: one without a row fails. A row has the value at which a limit is just met in a small
context, and what is observed at one step less, at the value, and at one step more.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from pydantic import ValidationError

from workbench.compaction.assembled.tool_result_rules import RULES, CallFacts, ToolKind
from workbench.compaction.context import Context
from workbench.compaction.exchange.abridge import abridge
from workbench.compaction.outcome import Outcome
from workbench.compaction.progressive import rungs
from workbench.compaction.progressive.importance import SIGNALS, scores
from workbench.compaction.progressive.task_type import task_type
from workbench.compaction.settings import Setting, settings_of
from workbench.compaction.strategies import OWN as IDS
from workbench.compaction.strategies import strategy
from workbench.compaction.strategy import NOT_DUE
from workbench.compaction.summary_request import SummaryFailed, SummaryRequest
from workbench.conformance.building import agent, call, chat, context_of, loop, result, summary, user
from workbench.conformance.strategies import FAILED, run
from workbench.session import Message, Text, Thinking
from workbench.tokens.window import Window

ANSWER = "Done. Next"
BASE: dict[str, dict[str, Any]] = {
    "exchange-summary": {"prompt": "Sum up.", "min_version": "3"},
    "layered": {"min_tail_rounds": 1},
    "message-window": {"window_messages": 6, "min_tail_messages": 0, "safe_end": "whole_pairs", "language": "en"},
    "context-reset": {"estimate_from": "counted"},
    "ledger": {"budget_tokens": 400, "narrative_percent": 20.0},
}
"""Settings with which a strategy changes ten short messages."""

SIXTY = Window(60, "given")
TEN = context_of(chat(5))
"""Five rounds, ten messages of 3 tokens."""
LONG = context_of([one for n in range(4) for one in (user(f"u{n}", "x" * (500 + 90 * n)), agent(f"a{n}", "y" * 500))])
"""Long enough for the smallest request; the middle of what is shown does not lie between two messages."""
SAID = context_of(
    [
        one
        for n in range(40)
        for one in (user(f"u{n}", f"Pond {n} {'is wide ' * 8}."), agent(f"a{n}", f"Weir {n} holds."))
    ]
)
"""Long sentences of the user between short ones of the agent."""
MANY = context_of(chat(200))
"""1 200 tokens: more than a ledger's frame."""


@dataclass(frozen=True)
class Case:
    """A strategy on a context under a policy; the outcome is computed on demand."""

    id: str
    context: Context
    policy: Any
    answer: str | SummaryFailed = ANSWER

    def run(self) -> tuple[Outcome, list[SummaryRequest]]:
        return run(strategy(self.id), self.context, self.policy, self.answer)

    @property
    def outcome(self) -> Outcome:
        return self.run()[0]

    @property
    def request(self) -> SummaryRequest:
        return self.run()[1][0]


Look = Callable[[Case], object]


@dataclass(frozen=True)
class Row:
    """`at` is the limit, or tells it of a case in which it does not matter; `seen` is what `look` gives below, at and
    above. `settings` are the other fields, where they differ from `BASE`."""

    look: Look
    at: float | Callable[[Case], float]
    seen: tuple[object, object, object]
    context: Context = TEN
    settings: dict[str, Any] = field(default_factory=dict)
    step: float = 1
    answer: str | SummaryFailed = ANSWER

    def case(self, id: str, path: str, value: float | None) -> Case:
        policy_type = strategy(id).policy_type
        given = {name: one for name, one in BASE.get(id, {}).items() if name in policy_type.model_fields}
        given |= self.settings
        if value is not None:
            group, _, name = path.rpartition(".")
            given |= {group: {**given.get(group, {}), name: value}} if group else {name: value}
        return Case(id, self.context, policy_type.model_validate(given), self.answer)


def fires(case: Case) -> bool:
    return Case(case.id, case.context.with_(manual=False), case.policy).outcome.reason != NOT_DUE


def left(case: Case) -> int:
    """How many of the messages are left."""
    ids = {id(message) for message in case.context.messages}
    return sum(id(message) in ids for message in case.outcome.messages)


def changed(case: Case) -> int:
    return len(case.context) - left(case)


def whole_answer(case: Case) -> bool:
    return any(ANSWER in message.text for message in case.outcome.messages)


def request_has(words: str) -> Look:
    """True if the request contains these words."""
    return lambda case: words in case.request.text


def messages_with(words: str) -> Look:
    """Number of messages in the outcome with these words."""
    return lambda case: sum(words in message.text for message in case.outcome.messages)


def user_sentences(case: Case) -> int:
    """Number of the user's sentences in the ledger."""
    return sum(message.text.count("Pond ") for message in case.outcome.messages)


def unchanged(case: Case) -> bool:
    return case.outcome.status == "unchanged"


def trace_number(pattern: str) -> Look:
    """Number in the trace that this pattern captures, None without a match."""
    return lambda case: next((int(m[1]) for line in case.outcome.trace if (m := re.search(pattern, line))), None)


def is_cut(case: Case) -> bool:
    """True if the request shows a message incompletely."""
    request = case.request
    assert request.seen is not None
    return any(seen < of for seen, of in map(request.seen, range(len(request.messages))))


def length(case: Case) -> int:
    return len(case.request.text)


def shown(case: Case) -> int:
    """Length of the messages in the request, without the prompt and the lines around it."""
    return len(case.request.text.partition("---\n")[2].removesuffix("\n---\n"))


TOOL = context_of([*loop("1", 1, "0123456789"), *chat(3)])
THOUGHT = context_of([user("u", "q"), Message("a", "assistant", (Thinking("hm, three"), Text("3"))), *chat(4)])
FILES = ("Read", "Edit", "Write", "delete_file")


def entry(case: Case) -> str:
    return abridge(case.context, len(case.context), case.policy.abridged_history_params).entries[-1].text


def abridged(words: str) -> Look:
    return lambda case: words in entry(case)


def targets(case: Case) -> int:
    """Paths and commands in the newest entry."""
    return len(re.findall(r"^ {8}\S", entry(case), re.MULTILINE))


def working(name: str, count: int = 3) -> Context:
    calls = [call(f"c{n}", name, path=f"/p/{n}.py", content="x", command=f"ls {n}") for n in range(count)]
    if name != "Bash":
        calls = [call(one.id, name, path=one.input["path"], content="x") for one in calls]  # type: ignore[index]
    return context_of([user("u", "0123456789"), agent("a", "", *calls), result("r", *((c.id, "x") for c in calls))])


def entries(case: Case) -> int:
    return len(abridge(case.context, len(case.context), case.policy.abridged_history_params).entries)


def rule_cuts(kind: ToolKind, text: str, *, failed: bool = False) -> Look:
    """True if the rule of a tool kind cuts the result."""
    return lambda case: "truncated" in RULES[kind](CallFacts(None, {}, failed, case.policy.tool_results), text)


def fragment_lines(case: Case) -> int:
    fields = RULES["write"](CallFacts(None, {}, False, case.policy.tool_results), "written\n" + LINES)
    return len(fields["fragment"].split("\n"))


LINES = "\n".join(f"file{n}" for n in range(5))
HITS = "\n".join(f"a.py:{n}:x" for n in range(1, 6))
INPUT = context_of([*chat(5), user("now", "x" * 30)])
"""30 tokens and a new input of 30 characters, a third of which count as 10 more."""

SIGNALLED = context_of(
    [
        user("u", "Never log tokens. See a_b c_d e_f g_h i_j k_l."),
        agent("a", "I decided to use a mutex because two refreshes race: a_b c_d e_f g_h i_j k_l."),
        agent("t", "", call("c1", "Bash", command="pytest -q")),
        result("tr", ("c1", "E   boom"), error=True),
        agent("e", "", call("c2", "Edit", file_path="/p/a.py", old_string="a", new_string="b")),
        result("er", ("c2", "ok")),
        agent("t2", "", call("c3", "Bash", command="pytest -q")),
        result("t2r", ("c3", "1 passed")),
        agent("z", "z" * 1_200),
    ]
)


def best(name: str) -> Look:
    """The best score of a message where one signal alone counts."""

    def look(case: Case) -> object:
        weights = case.policy.importance_weights
        alone = type(weights)(**dict.fromkeys(SIGNALS, 0.0) | {name: getattr(weights, name)})
        return max(scores(case.context.shape, alone))

    return look


def kind(case: Case) -> str:
    return task_type(case.context.shape, case.policy.task_cutoffs).kind


def called(*names: str) -> Context:
    calls = [call(f"c{n}", name, file_path=f"/p/{n}.py") for n, name in enumerate(names)]
    return context_of(
        [
            user("u", "0123456789"),
            *(message for c in calls for message in (agent(f"a{c.id}", "", c), result(f"r{c.id}", (c.id, "ok")))),
            user("v", "0123456789"),
        ]
    )


def summarized(case: Case) -> int:
    """Messages that the rung by importance would have summarized."""
    policy = case.policy
    threshold, newest = policy.importance_score_threshold, policy.importance_newest
    found = rungs.importance(case.context, frozenset(), policy.importance_weights, threshold, newest)
    return sum(len(group.indexes) for group in found.groups)


def not_events(case: Case) -> int:
    found = rungs.key_events(case.context, frozenset(), case.policy.key_events_newest)
    return sum(len(group.indexes) for group in found.groups)


def chunks(case: Case) -> int:
    return len(rungs.incremental(case.context, frozenset(), case.policy.incremental_summary_chunk_size).groups)


ONLY_REQUESTS = {"importance_weights": dict.fromkeys(SIGNALS, 0.0) | {"request": 3.0}}
READ = context_of(
    [
        user("u", "look"),
        *(
            message
            for n in range(3)
            for message in (
                agent(f"a{n}", "", call(f"c{n}", "Read", path=f"{n}.py")),
                result(f"r{n}", (f"c{n}", "x" * 99)),
            )
        ),
        agent("z", "seen"),
    ]
)
"""Three files; given back, each is 30 tokens: the 99 characters and 21 that name it."""
NO_WORDS = {"user_message_tokens": 0}
RESTORED = "[Restored file]"


def requested_chars(case: Case) -> int:
    """Limit that the model is asked to keep."""
    return case.request.max_chars


def memory_lines(case: Case) -> int:
    """Number of memories that were there before or that the model wrote. AT_LEAST,ABOVE,BELOW: Observations below, at
    and above a value that must be reached, exceeded, or kept under."""
    return sum(line.startswith("memory") for line in (case.outcome.memories or "").split("\n"))


MEMORIES = context_of([], memories="\n".join(f"memory {n}" for n in range(10)))
SIZE = TEN.gauge().chars
CACHE = {
    "simulate_cache_expiry": True,
    "trigger_on_history_size_chars_when_cache_expiring": 1,
    "cache_ttl_ms": 1_000,
    "buffer_time_before_cache_expiration_ms": 100,
    "cache_age_ms": 900,
}
VERSIONED = context_of([summary("s", "OLD WORDS"), *chat(3)], summary_versions={"s": 3})
EQUAL = context_of([user(str(n), "0123456789") for n in range(10)])

AT_LEAST, ABOVE, BELOW = (True, True, False), (True, False, False), (False, True, True)
"""Where the number is what something must reach, where it must be more, and where it may be at most."""

COMMON: dict[str, Row] = {
    "trigger_tokens": Row(fires, 30, AT_LEAST),
    "trigger_window_percent": Row(fires, 50, AT_LEAST, TEN.with_(limit=SIXTY)),
    "trigger_reserve_tokens": Row(fires, 30, BELOW, TEN.with_(limit=SIXTY)),
    "trigger_answer_tokens": Row(fires, 30, BELOW, TEN.with_(limit=SIXTY)),
    "trigger_messages": Row(fires, 10, AT_LEAST),
    "trigger_events": Row(fires, 10, AT_LEAST),
    "summary_char_limit": Row(whole_answer, len(ANSWER), BELOW),
    "request_char_limit": Row(is_cut, length, ABOVE, LONG),
    "result_char_limit": Row(request_has("0123456789"), 10, BELOW, TOOL),
}
"""Numbers that mean the same wherever they are."""

GUARD = {"request_char_limit": 100}
LEDGER = {"budget_tokens": 400, "narrative_percent": 20.0}
OWN: dict[str, Row] = {
    "exchange-summary.trigger_on_history_size_chars": Row(fires, SIZE, AT_LEAST),
    "exchange-summary.history_tail_size_chars_to_exclude": Row(
        left, TEN.shape.exchange_sizes[-1], (0, 0, 2), settings={"min_tail_exchanges": 0}
    ),
    "exchange-summary.min_tail_exchanges": Row(left, 2, (2, 4, 6)),
    "exchange-summary.trigger_on_history_size_chars_when_cache_expiring": Row(fires, SIZE, AT_LEAST, settings=CACHE),
    "exchange-summary.cache_ttl_ms": Row(fires, 1_000, AT_LEAST, settings=CACHE),
    "exchange-summary.buffer_time_before_cache_expiration_ms": Row(fires, 100, BELOW, settings=CACHE),
    "exchange-summary.cache_age_ms": Row(fires, 900, BELOW, settings=CACHE),
    "exchange-summary.history_summary_version": Row(
        request_has("OLD WORDS"), 3, (False, True, False), VERSIONED, {"earlier_summary": "nest"}
    ),
    "exchange-summary.guard_total_chars": Row(
        trace_number(r"the oldest (\d+) of"), 6 * TEN.shape.exchange_sizes[0], (6, 4, 4), context_of(chat(9))
    ),
    "exchange-summary.abridged_history_params.total_chars_limit": Row(
        entries,
        lambda case: sum(len(one.text) for one in abridge(TEN, 10, case.policy.abridged_history_params).entries),
        (4, 5, 5),
    ),
    "exchange-summary.abridged_history_params.user_message_chars_limit": Row(
        abridged("0123456789"), 10, BELOW, working("Read")
    ),
    "exchange-summary.abridged_history_params.agent_response_chars_limit": Row(abridged("answer 4"), 8, BELOW),
    "exchange-summary.abridged_history_params.action_chars_limit": Row(abridged("/p/2.py"), 7, BELOW, working("Read")),
    **{
        f"exchange-summary.abridged_history_params.num_{what}_limit": Row(targets, 3, (2, 3, 3), working(name))
        for what, name in (
            ("files_viewed", "Read"),
            ("files_modified", "Edit"),
            ("files_created", "Write"),
            ("files_deleted", "delete_file"),
            ("terminal_commands", "Bash"),
        )
    },
    "progressive.summary_remaining_token_threshold": Row(fires, 50, (False, False, True), TEN.with_(limit=SIXTY)),
    "progressive.conversation_turn_threshold": Row(fires, 5, AT_LEAST),
    "progressive.sliding_window_size": Row(left, 3, (1, 3, 5), LONG, step=2),
    "progressive.importance_score_threshold": Row(
        summarized, 3.0, (6, 6, 10), settings=ONLY_REQUESTS | {"importance_newest": 0}, step=0.1
    ),
    "progressive.importance_newest": Row(summarized, 2, (5, 4, 3), settings=ONLY_REQUESTS),
    "progressive.key_events_newest": Row(not_events, 2, (5, 4, 3)),
    "progressive.incremental_summary_chunk_size": Row(chunks, 5, (1, 0, 0)),
    "progressive.recent_memories": Row(
        lambda case: sum(message.text.count("memory ") for message in case.outcome.messages),
        10,
        (9, 10, 10),
        context_of(chat(5), memories=MEMORIES.memories),
    ),
    **{f"progressive.importance_weights.{name}": Row(best(name), 3, (2, 3, 4), SIGNALLED) for name in SIGNALS},
    "progressive.task_cutoffs.code_share": Row(
        kind, 0.2, ("code", "code", "mixed"), called("Edit", "Read", "Read", "Read", "Read"), step=0.01
    ),
    "progressive.task_cutoffs.analysis_share": Row(
        kind, 0.5, ("analysis", "analysis", "mixed"), called("Read", "Read", "Task", "Task"), step=0.01
    ),
    "progressive.task_cutoffs.conversation_calls_per_round": Row(
        kind, 2, ("analysis", "conversation", "conversation"), called("Read", "Read"), step=0.01
    ),
    "progressive.task_cutoffs.conversation_mean_chars": Row(
        kind, 10, ("unknown", "conversation", "conversation"), EQUAL
    ),
    "layered.context_window": Row(fires, 50, AT_LEAST, INPUT),
    "layered.trigger_window_percent": Row(fires, 80, AT_LEAST, INPUT, {"context_window": 50}),
    "layered.min_messages": Row(fires, 11, AT_LEAST, INPUT, {"context_window": 50}),
    "layered.min_tail_rounds": Row(left, 2, (3, 5, 7), INPUT),
    "layered.timeout_s": Row(lambda case: case.request.timeout_s, 5, (4, 5, 6)),
    "layered.tool_results.ls_entries": Row(rule_cuts("ls", LINES), 5, ABOVE),
    "layered.tool_results.glob_paths": Row(rule_cuts("glob", LINES), 5, ABOVE),
    "layered.tool_results.grep_lines": Row(rule_cuts("grep", HITS), 5, ABOVE),
    "layered.tool_results.read_lines": Row(rule_cuts("read", LINES), 5, ABOVE),
    "layered.tool_results.fragment_lines": Row(rule_cuts("edit", "edited\n" + LINES), 5, ABOVE),
    "layered.tool_results.long_fragment_lines": Row(
        fragment_lines, 3, (2, 3, 4), settings={"tool_results": {"fragment_lines": 2}}
    ),
    "layered.tool_results.stdout_lines": Row(rule_cuts("bash", LINES), 5, ABOVE),
    "layered.tool_results.stderr_lines": Row(rule_cuts("bash", LINES, failed=True), 5, ABOVE),
    "layered.tool_results.other_chars": Row(rule_cuts("other", "0123456789"), 10, ABOVE),
    "layered.tool_results.line_chars": Row(rule_cuts("ls", "0123456789"), 10, ABOVE),
    "message-window.window_messages": Row(left, 4, (7, 6, 5)),
    "message-window.keep_messages": Row(left, 4, (3, 4, 5), settings={"cut": "newest_messages"}),
    "message-window.keep_tokens": Row(left, 9, (2, 3, 3), settings={"cut": "newest_tokens"}),
    "message-window.head_percent": Row(left, 40, (6, 6, 5), EQUAL, {"cut": "head_percent"}, step=0.1),
    "message-window.min_tail_messages": Row(left, 3, (2, 3, 4), settings={"window_messages": 10}),
    "message-window.min_window_messages": Row(left, 4, (6, 0, 0), settings={"window_messages": 4}),
    "message-window.keep_first": Row(left, 2, (5, 6, 7)),
    "message-window.text_char_limit": Row(request_has("request 0"), 9, BELOW, settings={"prompt": "p"}),
    "message-window.thinking_char_limit": Row(request_has("hm, three"), 9, BELOW, THOUGHT),
    "message-window.call_char_limit": Row(request_has('"command":"ls","file_path":"10.py"}'), 36, BELOW, TOOL),
    "message-window.request_char_limit": Row(request_has("...[cut]"), shown, ABOVE),
    "message-window.temperature": Row(lambda case: case.request.temperature, 1.0, (0.5, 1.0, 1.5), step=0.5),
    "message-window.fallback_messages": Row(lambda case: len(case.outcome.messages), 4, (2, 4, 4), answer=FAILED),
    "context-reset.chars_per_token": Row(
        fires, SIZE / 8, AT_LEAST, settings={"estimate_from": "characters", "trigger_tokens": 8}, step=0.01
    ),
    "context-reset.request_char_limit": Row(is_cut, shown, ABOVE, LONG),
    "context-reset.guard_first_percent": Row(trace_number(r"the first (\d+)"), 20, (19, 20, 21), LONG, GUARD),
    "context-reset.guard_last_percent": Row(trace_number(r"(?:the|and) last (\d+)"), 20, (19, 20, 21), LONG, GUARD),
    "user-messages.user_message_tokens": Row(left, 6, (1, 2, 2)),
    "user-messages.keep_first": Row(left, 2, (1, 2, 3), settings=NO_WORDS),
    "user-messages.restore_files": Row(messages_with(RESTORED), 3, (2, 3, 3), READ, NO_WORDS),
    "user-messages.restore_tokens_each": Row(
        messages_with(RESTORED), 30, (0, 3, 3), READ, NO_WORDS | {"restore_files": 3}
    ),
    "user-messages.restore_tokens": Row(messages_with(RESTORED), 90, (2, 3, 3), READ, NO_WORDS | {"restore_files": 3}),
    "clear-tool-results.trigger_value": Row(fires, 30, AT_LEAST),
    "clear-tool-results.keep_tool_uses": Row(changed, 2, (3, 2, 1), context_of(loop("1", 4))),
    "clear-tool-results.clear_at_least_tokens": Row(
        unchanged,
        lambda case: case.context.total.tokens - case.context.outcome_size(case.outcome).tokens,
        (False, False, True),
        context_of(loop("1", 6)),
    ),
    "trim.target_messages": Row(left, 4, (2, 4, 4), settings={"target": "messages", "keep_first_request": False}),
    "trim.target_tokens": Row(left, 12, (2, 4, 4), settings={"target": "tokens", "keep_first_request": False}),
    "trim.target_percent": Row(left, 40, (2, 4, 4), settings={"keep_first_request": False}),
    "memories-rewrite.max_lines": Row(fires, 10, ABOVE, MEMORIES),
    "memories-rewrite.compression_target": Row(
        memory_lines, 3, (2, 3, 3), MEMORIES, {"num_recent_memories_to_keep": 0}, answer="memory a\nmemory b\nmemory c"
    ),
    "memories-rewrite.num_recent_memories_to_keep": Row(memory_lines, 3, (2, 3, 4), MEMORIES),
    "ledger.budget_tokens": Row(unchanged, 1_200, BELOW, MANY),
    "ledger.budget_chars": Row(unchanged, MANY.shape.chars[-1], BELOW, MANY),
    "ledger.budget_window_percent": Row(
        unchanged, 50, BELOW, MANY.with_(limit=Window(2_400, "given")), {"budget_tokens": 0}, step=0.1
    ),
    "ledger.user_percent": Row(
        user_sentences,
        50,
        (2, 8, 12),
        SAID,
        {"budget_tokens": 300, "narrative_percent": 0},
        step=50,
    ),
    "ledger.narrative_percent": Row(requested_chars, 15, (168, 180, 192), MANY),
    "ledger.summary_char_limit": Row(whole_answer, len(ANSWER), BELOW, MANY, LEDGER),
    "ledger.request_char_limit": Row(is_cut, length, ABOVE, LONG, LEDGER),
    "ledger.result_char_limit": Row(
        request_has("0123456789"), 10, BELOW, context_of([*TOOL.messages, *chat(200)]), LEDGER
    ),
}
"""Numbers of one strategy, or that need another context there."""


def numbers(id: str) -> list[Setting]:
    return [one for one in settings_of(strategy(id).policy_type) if one.kind in ("whole", "real")]


FIELDS = [(id, one.key) for id in IDS for one in numbers(id)]


def test_every_number_has_a_row_and_every_row_a_number() -> None:
    names = {f"{id}.{path}" for id, path in FIELDS}
    assert [name for name in names if name not in OWN and name.partition(".")[2] not in COMMON] == []
    assert [name for name in OWN if name not in names] == []
    assert [name for name in COMMON if name not in {path for _, path in FIELDS}] == []


@pytest.mark.parametrize(("id", "path"), FIELDS, ids=[".".join(one) for one in FIELDS])
def test_what_is_seen_below_at_and_above(id: str, path: str) -> None:
    row = OWN.get(f"{id}.{path}") or COMMON[path]
    at = row.at(row.case(id, path, None)) if callable(row.at) else row.at
    values = (round(at - row.step, 9), at, round(at + row.step, 9))
    assert tuple(row.look(row.case(id, path, value)) for value in values) == row.seen
    assert len(set(row.seen)) > 1


@pytest.mark.parametrize("id", IDS)
def test_a_range_takes_its_ends_and_nothing_beyond(id: str) -> None:
    for one in numbers(id):
        step, ends = 1 if one.kind == "whole" else 0.001, one.range
        for end, taken, refused in (
            (ends.low, 0, -step),
            (ends.above, step, 0),
            (ends.high, 0, step),
            (ends.below, -step, 0),
        ):
            if end is not None:
                Row(left, 0, (0, 0, 0)).case(id, one.key, end + taken)
                with pytest.raises(ValidationError):
                    Row(left, 0, (0, 0, 0)).case(id, one.key, end + refused)
