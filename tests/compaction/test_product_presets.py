"""Presets of products: each one loads, states its sources, and compacts as its product does."""

from __future__ import annotations

import re
import tomllib
from datetime import date

import pytest

from workbench.compaction.context import Context, Gauge
from workbench.compaction.outcome import Fate
from workbench.compaction.preset import BUNDLED, load_preset
from workbench.compaction.strategies import strategy
from workbench.compaction.summary_request import MessagesBody
from workbench.conformance.building import agent, call, context_of, loop, result, summary, user
from workbench.conformance.strategies import assert_holds, assert_lives_on, run
from workbench.session import Message, Text
from workbench.tokens.window import Window

PRODUCTS = (
    "adk", "aider", "claude-code", "clear-tool-results", "cline", "codex", "cody", "context-reset", "copilot", "crush",
    "cursor", "gemini-cli", "goose", "kimi-cli", "langchain", "letta", "message-window", "openhands", "opencode", "pi",
    "qwen-code", "roo", "roo-truncation", "trim",
)  # fmt: skip


def work() -> list[Message]:
    """A session of some 60 000 tokens: rounds that read, run and answer."""
    out: list[Message] = []
    for n in range(30):
        out += loop(f"{n}-", 6, "output " * 150)
        out += [
            user(f"{n}-q", f"And what does {n}.py say? " + "please " * 20),
            agent(f"{n}-c", "", call(f"{n}-read", "Read", file_path=f"/src/{n}.py")),
            result(f"{n}-r", (f"{n}-read", f"content of {n}.py\n" + "x = 1\n" * 100)),
            agent(f"{n}-done", "It says x = 1."),
        ]
    return out


@pytest.fixture(scope="module")
def context() -> Context:
    return context_of(work(), window=64_000)


@pytest.mark.parametrize("name", PRODUCTS)
def test_every_number_says_what_it_stands_on(name: str) -> None:
    table = tomllib.loads((BUNDLED / f"{name}.toml").read_text("utf-8"))
    assert set(table["policy"]) == set(table["basis"])
    assert table["source"]


@pytest.mark.parametrize("name", PRODUCTS)
def test_every_preset_runs_and_makes_it_smaller(context: Context, name: str) -> None:
    preset = load_preset(name)
    outcome = assert_holds(strategy(preset.strategy), context, preset.policy, "They read files, and x = 1. " * 20)
    assert outcome.status == "compacted"


@pytest.mark.parametrize("name", PRODUCTS)
def test_every_preset_lives_on(name: str) -> None:
    preset = load_preset(name)
    messages = [summary("s", "an older summary"), *loop("1", 8), *loop("2", 3), user("now", "next, please")]
    pins = frozenset({"1r2", "2u"})
    assert_lives_on(strategy(preset.strategy), context_of(messages, pins=pins, window=500), preset.policy)


def shape(name: str, context: Context) -> list[Message]:
    preset = load_preset(name)
    outcome, _ = run(strategy(preset.strategy), context, preset.policy, "S")
    return list(outcome.messages)


def test_claude_code_leaves_a_summary_and_files(context: Context) -> None:
    """The newest answer stays behind them, where no unanswered messages."""
    node, *files, answer = shape("claude-code", context)
    assert node.text.startswith("This session is being continued")
    assert "\n\nTools used before this summary: Bash, Read\n\nSummary:\nS\n\nGo on" in node.text
    assert "Behind this summary stand the newest messages" in node.text
    assert answer is context.messages[-1]
    assert [m.text.split("\n")[0] for m in files] == [f"[Restored file] /src/{n}.py" for n in range(29, 24, -1)]


def test_claude_code_keeps_the_newest_round_and_asks_with_the_conversation(context: Context) -> None:
    """At 167 000 of 200 000 tokens; the request is all that comes before the round, and then the prompt."""
    preset = load_preset("claude-code")
    newest = [agent("x", "", call("cx"), call("cy")), result("rx", ("cx", "1")), result("ry", ("cy", "2"))]
    whole = context_of([*context.messages, *newest])
    outcome, (request,) = run(strategy(preset.strategy), whole, preset.policy, "S")
    assert list(outcome.messages[-3:]) == newest
    assert isinstance(request.body, MessagesBody)
    assert (request.body.shape, list(request.body.messages)) == ("messages", list(context.messages))
    for tokens, fires in ((166_999, False), (167_000, True), (167_001, True)):
        now = Gauge(tokens=tokens, limit=Window(200_000, "given"))
        assert [one.fires for one in strategy(preset.strategy).triggers(now, preset.policy)] == [fires]


@pytest.mark.parametrize(
    ("version", "reserve", "unread", "name"),
    [
        ("", 33_000, "answer", "claude-code"),
        ("2.1.330", 33_000, "answer", "claude-code"),
        ("2.1.200", 33_000, "answer", "claude-code"),
        ("2.1.199", 33_000, "summarize", "claude-code as of 2.1.199"),
        ("2.1.30", 33_000, "summarize", "claude-code as of 2.1.30"),
        ("2.1.29", 45_000, "summarize", "claude-code as of 2.1.29"),
        ("2.1.7", 45_000, "summarize", "claude-code as of 2.1.7"),
    ],
)
def test_claude_code_as_its_versions_did_it(version: str, reserve: int, unread: str, name: str) -> None:
    preset = load_preset("claude-code").of_version(version)
    policy = preset.policy
    assert preset.name == name
    (trigger,) = strategy(preset.strategy).triggers(Gauge(tokens=0, limit=Window(200_000, "given")), policy)
    assert (200_000 - trigger.limit, policy.unread) == (reserve, unread)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("preset", "longest", "limit"),
    [
        ("claude-code", None, 167_000),
        ("claude-code", 64_000, 167_000),
        ("claude-code", 20_001, 167_000),
        ("claude-code", 20_000, 167_000),
        ("claude-code", 19_999, 167_001),
        ("claude-code", 4_096, 182_904),
        ("opencode", None, 168_000),
        ("opencode", 32_000, 168_000),
        ("opencode", 8_000, 192_000),
    ],
)
def test_a_model_of_short_answers_leaves_more_room(preset: str, longest: int | None, limit: int) -> None:
    """opencode was seen to compact from 192 000 on where answers have 8 000 tokens, from 168 000 where 32 000."""
    chosen = load_preset(preset)
    now = Gauge(tokens=limit - 1, limit=Window(200_000, "given", answer=longest))
    for tokens, fires in ((limit - 1, False), (limit, True)):
        (trigger,) = strategy(chosen.strategy).triggers(now._replace(tokens=tokens), chosen.policy)
        assert (trigger.limit, trigger.fires) == (limit, fires)


@pytest.mark.parametrize(
    ("version", "day", "keep_at", "name"),
    [
        ("", date(2025, 12, 8), "most", "pi as of 2025-12-08"),
        ("", date(2025, 12, 9), "least", "pi"),
        ("", None, "least", "pi"),
        ("0.73.1", date(2025, 12, 8), "least", "pi"),
    ],
)
def test_a_tool_that_names_no_version_is_judged_by_the_day(
    version: str, day: date | None, keep_at: str, name: str
) -> None:
    preset = load_preset("pi").of_version(version, day)
    assert (preset.policy.keep_at, preset.name) == (keep_at, name)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("version", "percent"), [("0.40.0", 90.0), ("0.41.0", 94.736842), ("0.104.0-alpha.1", 94.736842)]
)
def test_codex_as_its_versions_recorded_the_window(version: str, percent: float) -> None:
    policy = load_preset("codex").of_version(version).policy
    assert policy.trigger_window_percent == percent  # type: ignore[attr-defined]


def test_what_was_set_by_hand_is_of_no_version() -> None:
    preset = load_preset("claude-code")
    chosen = preset.with_values(preset.policy.with_(unread="keep"), {"unread": "--set"})
    assert chosen.of_version("2.1.7").policy.unread == "keep"  # type: ignore[attr-defined]


def test_copilot_repeats_the_users_words_in_its_frame() -> None:
    """Texts that an earlier frame repeats come first; the next compaction repeats all of them."""
    preset = load_preset("copilot")
    first, _ = run(strategy(preset.strategy), context_of([*loop("1", 2), *loop("2", 2)]), preset.policy, "S")
    (node,) = first.messages
    frame = "".join(f"<user_message>\nrequest {n}\n</user_message>\n" for n in (1, 2))
    assert node.text == (
        "Some of the conversation history has been summarized to free up context.\n\n"
        "You were originally given instructions from a user over one or more turns. Here were the user messages:\n"
        f"{frame}\nHere is a summary of the prior context:\n<summary>\nS\n</summary>"
    )
    again, (request,) = run(strategy(preset.strategy), context_of([node, *loop("3", 2)]), preset.policy, "T")
    more = f"{frame}<user_message>\nrequest 3\n</user_message>\n"
    assert again.messages[0].text == node.text.replace(frame, more).replace("\nS\n", "\nT\n")
    assert request.previous == "S"


def test_codex_puts_what_it_injects_anew_before_the_newest_request() -> None:
    preset = load_preset("codex")
    rules = Message("dev", "system", (Text("permissions"),))
    env = user("env", "<environment_context/>", kind="meta")
    for messages in ([rules, env, *loop("1", 2), *loop("2", 2)], [*loop("1", 0)[:1], rules, env, *loop("2", 2)]):
        outcome, (request,) = run(
            strategy(preset.strategy), context_of(messages, api="openai-responses"), preset.policy, "S"
        )
        assert [m.id for m in outcome.messages[:-1]] == ["1u", "dev", "env", "2u"]
        assert isinstance(request.body, MessagesBody)
        assert request.body.shape == "messages_without_tools"
    outcome, _ = run(
        strategy(preset.strategy), context_of([rules, env, *loop("1", 2)], api="openai-responses"), preset.policy, "S"
    )
    assert [m.id for m in outcome.messages[:-1]] == ["dev", "env", "1u"]
    for tokens, earlier, fires in (
        (244_799, 0, False),
        (244_800, 0, True),
        (244_000, 799, False),
        (244_000, 800, True),
    ):
        now = Gauge(tokens=tokens, limit=Window(258_400, "recorded"), meters={"reasoning": earlier})
        assert [one.fires for one in strategy(preset.strategy).triggers(now, preset.policy)] == [fires]


def test_codex_leaves_the_users_words_and_a_summary_last(context: Context) -> None:
    *words, node = shape("codex", context)
    assert words == [m for m in context.messages if m.starts_round]
    assert node.kind == "summary"


def test_gemini_cuts_at_seventy_percent_before_a_user_message(context: Context) -> None:
    node, reply, first, *_ = after = shape("gemini-cli", context)
    assert node.text == "<state_snapshot>\nS\n</state_snapshot>"
    assert reply.text.startswith("Got it.")
    assert first.starts_round
    assert 0.2 < (len(after) - 2) / len(context) <= 0.3


def test_gemini_asks_under_its_prompt_and_looks_again(context: Context) -> None:
    """The preamble stays before everything else."""
    preset = load_preset("gemini-cli")
    injected = user("env", "<session_context>\nToday is Sunday.\n</session_context>", kind="meta")
    outcome, requests = run(strategy(preset.strategy), context_of([injected, *context.messages]), preset.policy, "S")
    assert outcome.messages[0] is injected
    assert [request.purpose for request in requests] == [
        "summary of the window",
        "summary of the window, second check",
    ]
    bodies = [request.body for request in requests]
    assert [isinstance(body, MessagesBody) and body.shape for body in bodies] == ["messages_under_prompt"] * 2


def test_langchain_shows_its_model_only_the_end_of_the_head(context: Context) -> None:
    preset = load_preset("langchain")
    outcome, (request,) = run(strategy(preset.strategy), context, preset.policy, "S")
    assert "request 0-" not in request.text
    assert outcome.fate_at(0).fate is Fate.DROPPED
    assert len(outcome.messages) == 1 + 21, "the twentieth from the end is a result, and its call comes along"
    assert run(strategy(preset.strategy), context.with_(manual=False), preset.policy)[0].status == "unchanged"


def test_openhands_keeps_the_first_four_and_half_of_its_limit(context: Context) -> None:
    after = shape("openhands", context)
    assert [m.id for m in after[:3]] == [m.id for m in context.messages[:3]], (
        "the fourth is a call, its result the fifth"
    )
    assert 36 <= len(after) <= 41


def test_goose_repeats_the_last_request_and_roo_keeps_nothing(context: Context) -> None:
    assert [m.role for m in shape("goose", context)] == ["user", "assistant", "user"]
    assert shape("goose", context)[-1] is context.messages[-4]
    assert len(shape("roo", context)) == 1


def test_pi_and_kimi_keep_their_tails(context: Context) -> None:
    kept = context_of(shape("pi", context)[1:]).total.tokens
    assert 19_000 < kept <= 21_000
    assert [m.id for m in shape("kimi-cli", context)[1:]] == ["29-c", "29-r", "29-done"]


def test_cursor_needs_no_model(context: Context) -> None:
    preset = load_preset("cursor")
    outcome, requests = run(strategy(preset.strategy), context, preset.policy)
    assert requests == []
    assert context.outcome_size(outcome).tokens <= 64_000 * 0.7


@pytest.mark.parametrize(
    ("preset", "limit"),
    [
        ("claude-code", 167_000),
        ("pi", 183_617),
        ("opencode", 168_000),
        ("copilot", 160_000),
        ("cline", 180_000),
        ("cody", 160_000),
        ("gemini-cli", 100_000),
        ("kimi-cli", 150_000),
        ("letta", 180_000),
        ("openhands", 200_000),
        ("aider", 8_193),
        ("adk", 100_000),
    ],
)
def test_from_how_many_tokens_on_of_200_000_each_product_compacts(preset: str, limit: int) -> None:
    chosen = load_preset(preset)
    now = Gauge(limit=Window(200_000, "given"), meters={"events": 0, "reasoning": 0})
    for tokens, fires in ((limit - 1, False), (limit, True)):
        found = strategy(chosen.strategy).triggers(now._replace(tokens=tokens), chosen.policy)
        assert any(trigger.fires for trigger in found) is fires


@pytest.mark.parametrize(
    ("preset", "version", "setting", "value"),
    [
        ("opencode", "", "keep_tokens", 15_000),
        ("opencode", "1.4.3", "keep_tokens", 0),
        ("opencode", "1.4.4", "keep_tokens", 15_000),
        ("openhands", "", "trigger_messages", 81),
        ("aider", "", "keep_tokens", 4_095),
        ("letta", "", "head_percent", 40.0),
        ("gemini-cli", "", "head_percent", 70.0),
        ("kimi-cli", "", "keep_messages", 2),
        ("langchain", "", "request_char_limit", 16_000),
        ("codex", "", "user_message_tokens", 20_000),
        ("adk", "", "result_char_limit", 2_000),
    ],
)
def test_what_each_product_keeps_and_shows(preset: str, version: str, setting: str, value: float) -> None:
    assert getattr(load_preset(preset).of_version(version).policy, setting) == value


@pytest.mark.parametrize(
    "version",
    ["1.0\x1b]0;x\x07.98", "1.0 DB_PASSWORD=brass-Heron-77", f"1.0.{'9' * 5_000}"],
    ids=["control characters", "a secret", "digits"],
)
def test_of_a_version_in_a_file_only_numbers_are_shown(version: str) -> None:
    preset = load_preset("claude-code").of_version(version)
    assert re.fullmatch(r"claude-code as of [\d.]{1,40}", preset.name)


def test_a_version_without_a_number_is_none() -> None:
    preset = load_preset("claude-code")
    assert preset.of_version("unknown") == preset
