"""Traces: OpenTelemetry by each convention, Langfuse, LangSmith."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.paths import SAMPLES
from workbench.base.errors import BadInput
from workbench.formats import langfuse, langsmith, otel
from workbench.formats.files import load, parts_of
from workbench.formats.format import Format, no_progress
from workbench.formats.kit.trace_messages import message_of, messages_of
from workbench.formats.look import Look
from workbench.formats.otel.read import tree
from workbench.session import Block, Media, Message, Session, Text, Thinking, ToolResult, ToolUse, Usage

HERE = Path("trace.json")
IMAGE = {"type": "blob", "mime_type": "image/png", "content": "abc"}
CALL = ToolUse("c1", "look", {"at": "tide"})


def read(known: Format, value: Any, part: str = "") -> Session:
    data = json.dumps(value).encode() if not isinstance(value, bytes) else value
    assert known.recognise(Look.of(data))
    if part:
        assert known.codec.read_part
        return known.codec.read_part(HERE, data, part, no_progress)
    return known.codec.read(HERE, data, no_progress)


def told(session: Session, epoch: int | None = None) -> list[tuple[str, str]]:
    return [
        (m.role, m.text or "+".join([*(c.name for c in m.calls), *(r.text for r in m.results)]))
        for m in session.context(epoch)
    ]


def test_a_summary_that_was_asked_for_is_a_compaction_and_a_title_another_conversation() -> None:
    session = load(SAMPLES / "otel-ferry.json")
    assert [words[:24] for _, words in told(session, 1)] == [
        "You plan the crossings o",
        "Plan Tuesday. Never let ",
        "read_log",
        "Monday: 14 people at nin",
        "Three crossings, at nine",
    ]
    assert [words[:24] for _, words in told(session)] == [
        "You plan the crossings o",
        "From the keeper before y",
        "How many may board at fi",
        "Sixteen, as on Monday.",
    ]
    ended = session.epochs[0].ended_by
    assert ended is not None
    assert (ended.way, ended.summary) == ("summary", session.context()[1].id)
    bills = [m.usage for m in session.messages if m.usage]
    assert bills == [Usage(61, 18), Usage(112, 24), Usage(64, 34, 96), Usage(74, 9)]
    assert (session.id, session.model, [str(w) for w in session.warnings]) == (
        "ferry-7",
        "gpt-4.1-mini",
        ["holds 2 conversations; this is the one with the most calls"],
    )
    codec = otel.FORMAT.codec
    assert codec.sessions_in
    assert codec.requests
    parts = codec.sessions_in(HERE, (SAMPLES / "otel-ferry.json").read_bytes())
    assert [(part.id, part.messages) for part in parts] == [("ferry-7", 10), ("ferry-7-2", 3)]
    title = load(SAMPLES / "otel-ferry.json", part="ferry-7-2")
    assert told(title)[-1] == ("assistant", "Tuesday's ferry plan")
    sent = [*codec.requests(session)]
    assert [(one.answer, len(one.messages)) for one in sent] == [("m3", 2), ("m5", 4), ("m7", 6), ("m10", 3)]


def test_costs_and_cleared_results() -> None:
    bought = load(SAMPLES / "langfuse-loaf.json")
    assert [m.usage for m in bought.messages if m.usage] == [
        Usage(74, 21, cost=6.32e-05),
        Usage(44, 7, 64, cost=3.52e-05),
        Usage(52, 14, cost=4.32e-05),
    ]
    assert [epoch.ended_by and epoch.ended_by.way for epoch in bought.epochs] == ["removal", None]
    assert [role for role, _ in told(bought)] == ["system", "assistant", "user", "assistant"]
    assert [tool.name for tool in bought.tools] == ["price"]
    frost = load(SAMPLES / "langsmith-frost.jsonl")
    assert [epoch.ended_by and epoch.ended_by.way for epoch in frost.epochs] == ["clearing", None]
    assert told(frost)[3] == ("tool", "[cleared to save room]")
    assert (frost.id, [m.usage.cost for m in frost.messages if m.usage]) == (
        "station-4",
        [4.16e-05, 9.44e-05, 5.44e-05],
    )


def attributes(flat: dict[str, Any]) -> list[Any]:
    return [
        {"key": key, "value": {"stringValue": value} if isinstance(value, str) else {"intValue": str(value)}}
        for key, value in flat.items()
    ]


OPENLLMETRY = {
    "gen_ai.prompt.0.role": "system",
    "gen_ai.prompt.0.content": "You keep the lighthouse.",
    "gen_ai.prompt.1.role": "user",
    "gen_ai.prompt.1.content": "When does the tide turn?",
    "gen_ai.prompt.2.role": "assistant",
    "gen_ai.prompt.2.tool_calls.0.id": "c1",
    "gen_ai.prompt.2.tool_calls.0.name": "look",
    "gen_ai.prompt.2.tool_calls.0.arguments": '{"at": "tide"}',
    "gen_ai.prompt.3.role": "tool",
    "gen_ai.prompt.3.tool_call_id": "c1",
    "gen_ai.prompt.3.content": "nine",
    "gen_ai.completion.0.role": "assistant",
    "gen_ai.completion.0.content": "At nine.",
    "gen_ai.system": "openai",
    "gen_ai.usage.prompt_tokens": 40,
    "gen_ai.usage.completion_tokens": 5,
    "llm.request.functions.0.name": "look",
    "llm.request.functions.0.parameters": '{"type": "object"}',
}
OPENINFERENCE = {
    "llm.input_messages.0.message.role": "system",
    "llm.input_messages.0.message.content": "You keep the lighthouse.",
    "llm.input_messages.1.message.role": "user",
    "llm.input_messages.1.message.contents.0.message_content.type": "text",
    "llm.input_messages.1.message.contents.0.message_content.text": "When does the tide turn?",
    "llm.input_messages.2.message.role": "assistant",
    "llm.input_messages.2.message.tool_calls.0.tool_call.id": "c1",
    "llm.input_messages.2.message.tool_calls.0.tool_call.function.name": "look",
    "llm.input_messages.2.message.tool_calls.0.tool_call.function.arguments": '{"at": "tide"}',
    "llm.input_messages.3.message.role": "tool",
    "llm.input_messages.3.message.tool_call_id": "c1",
    "llm.input_messages.3.message.content": "nine",
    "llm.output_messages.0.message.role": "assistant",
    "llm.output_messages.0.message.content": "At nine.",
    "llm.token_count.prompt": 40,
    "llm.token_count.completion": 5,
    "llm.tools.0.tool.json_schema": '{"type": "function", "function": {"name": "look"}}',
    "openinference.span.kind": "LLM",
}
NEW = {
    "gen_ai.system_instructions": '[{"type": "text", "content": "You keep the lighthouse."}]',
    "gen_ai.input.messages": json.dumps(
        [
            {"role": "user", "parts": [{"type": "text", "content": "When does the tide turn?"}]},
            {
                "role": "assistant",
                "parts": [{"type": "tool_call", "id": "c1", "name": "look", "arguments": {"at": "tide"}}],
            },
            {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "result": "nine"}]},
        ]
    ),
    "gen_ai.output.messages": '[{"role": "assistant", "parts": [{"type": "text", "content": "At nine."}]}]',
    "gen_ai.usage.input_tokens": 40,
    "gen_ai.usage.output_tokens": 5,
    "gen_ai.tool.definitions": '[{"type": "function", "name": "look"}]',
}


@pytest.mark.parametrize("flat", [OPENLLMETRY, OPENINFERENCE, NEW], ids=["openllmetry", "openinference", "gen_ai"])
@pytest.mark.parametrize("form", ["otlp", "lines", "console", "tree"])
def test_each_convention_in_each_form(flat: dict[str, Any], form: str) -> None:
    span: dict[str, Any] = {
        "traceId": "t",
        "spanId": "s",
        "attributes": attributes(flat),
        "startTimeUnixNano": "1767603600000000000",
    }
    whole: Any = {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}
    if form == "lines":
        whole = json.dumps(whole).encode() + b"\n" + json.dumps({"resourceSpans": []}).encode() + b"\n"
    elif form in ("console", "tree"):
        kept = tree(flat) if form == "tree" else flat
        whole = {
            "data": [
                {
                    "context": {"trace_id": "t", "span_id": "s"},
                    "start_time": "2026-01-05T09:00:00+00:00",
                    "attributes": kept,
                }
            ]
        }
    session = read(otel.FORMAT, whole)
    assert [(m.role, m.blocks) for m in session.messages] == [
        ("system", (Text("You keep the lighthouse."),)),
        ("user", (Text("When does the tide turn?"),)),
        ("assistant", (CALL,)),
        ("tool", (ToolResult("c1", (Text("nine"),)),)),
        ("assistant", (Text("At nine."),)),
    ]
    last = session.messages[-1]
    assert (session.id, last.usage, last.time) == ("t", Usage(40, 5), 1_767_603_600.0)
    assert [tool.name for tool in session.tools] == ["look"]


@pytest.mark.parametrize(("sent", "fresh"), [(99, 99), (100, 0), (101, 1)])
def test_a_prompts_tokens_are_told_with_those_of_the_cache(sent: int, fresh: int) -> None:
    told = {"gen_ai.usage.cache_read.input_tokens": 60, "gen_ai.usage.cache_creation.input_tokens": 40}
    flat = {**NEW, **told, "gen_ai.usage.input_tokens": sent}
    session = read(otel.FORMAT, {"resourceSpans": [{"scopeSpans": [{"spans": [{"attributes": attributes(flat)}]}]}]})
    assert session.messages[-1].usage == Usage(fresh, 5, 60, 40)


def test_what_stands_in_events() -> None:
    events = [
        {"name": "gen_ai.user.message", "attributes": attributes({"content": "When?"})},
        {
            "name": "gen_ai.choice",
            "attributes": attributes({"message": '{"role": "assistant", "content": "At nine."}'}),
        },
    ]
    span = {"traceId": "t", "spanId": "s", "attributes": attributes({"gen_ai.system": "x"}), "events": events}
    session = read(otel.FORMAT, {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]})
    assert told(session) == [("user", "When?"), ("assistant", "At nine.")]


def test_a_step_round_a_call_is_not_a_second_call() -> None:
    outer = {**NEW, "gen_ai.operation.name": "invoke_agent"}
    spans = [
        {"traceId": "t", "spanId": "1", "attributes": attributes(outer)},
        {"traceId": "t", "spanId": "2", "parentSpanId": "1", "attributes": attributes(NEW)},
        {"traceId": "t", "spanId": "3", "parentSpanId": "2", "attributes": attributes(NEW)},
    ]
    session = read(otel.FORMAT, {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]})
    requests = otel.FORMAT.codec.requests
    assert requests
    assert (len(session.messages), len([*requests(session)])) == (5, 1)


def test_a_trace_without_prompts_is_refused_with_a_remedy() -> None:
    span = {"traceId": "t", "spanId": "s", "attributes": attributes({"gen_ai.request.model": "x"})}
    with pytest.raises(BadInput, match="make the trace record prompts and responses"):
        read(otel.FORMAT, {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]})
    with pytest.raises(BadInput, match="has no conversation 'nobody'"):
        load(SAMPLES / "otel-ferry.json", part="nobody")


GENERATION = {"id": "o", "traceId": "t", "type": "GENERATION", "input": "Hi", "output": "Hello"}


@pytest.mark.parametrize(
    ("value", "id"),
    [
        ({"trace": {"id": "t", "sessionId": "s"}, "observations": [GENERATION]}, "s"),
        ([{"id": "t", "observations": [{**GENERATION, "traceId": None}]}], "t"),
        ({"data": [{"id": "t", "observations": [GENERATION, {"type": "SPAN", "input": "x"}]}]}, "t"),
        ([GENERATION], "t"),
        (json.dumps(GENERATION).encode() + b"\n" + json.dumps({**GENERATION, "type": "EVENT"}).encode(), "t"),
        ({"id": "t", "session_id": "s", "observations": [{**GENERATION, "trace_id": "t"}]}, "s"),
    ],
)
def test_langfuse_gives_traces_out_in_many_forms(value: Any, id: str) -> None:
    session = read(langfuse.FORMAT, value)
    assert (session.id, told(session)) == (id, [("user", "Hi"), ("assistant", "Hello")])


@pytest.mark.parametrize(
    ("usage", "billed"),
    [
        ({"usageDetails": {"input": 100, "output": 5, "total": 105, "input_cached_tokens": 60}}, Usage(40, 5, 60)),
        ({"usageDetails": {"input": 40, "output": 5, "total": 105, "input_cache_read": 60}}, Usage(40, 5, 60)),
        ({"usageDetails": {"input": 100, "output": 5, "total": 165, "cache_read_input_tokens": 60}}, Usage(100, 5, 60)),
        ({"usage": {"input": 10, "output": 4}, "calculatedTotalCost": 0.5}, Usage(10, 4, cost=0.5)),
        ({"usage": {"promptTokens": 10, "completionTokens": 4}}, Usage(10, 4)),
        ({"usage": None}, None),
    ],
)
def test_what_langfuse_says_was_billed(usage: dict[str, Any], billed: Usage | None) -> None:
    session = read(langfuse.FORMAT, [{**GENERATION, **usage}])
    assert session.messages[-1].usage == billed


def generation(number: int, asked: Any, came: Any, **more: Any) -> dict[str, Any]:
    times = {"startTime": f"2026-01-02T03:04:0{number}Z"}
    said = came if isinstance(came, str) else json.dumps(came)
    return {**GENERATION, **times, "id": f"o{number}", "input": json.dumps(asked), "output": said, **more}


def parts_told(session: Session) -> list[tuple[str, list[str]]]:
    """The role of each message, and its blocks in short."""

    def short(block: Block) -> str:
        match block:
            case ToolUse(id, name, given):
                return f"{name}({json.dumps(given)}) {id}"
            case ToolResult(id):
                return f"{id}: {block.text}"
            case Thinking(text):
                return f"<{text}>"
        return block.text if isinstance(block, Text) else repr(block)

    return [(message.role, [*map(short, message.blocks)]) for message in session.context()]


REQUEST = {"role": "user", "content": "Tides?"}
CALLED = {"type": "function_call", "call_id": "c1", "name": "look", "arguments": '{"at": "Rye"}', "id": "fc_1"}
CAME = {"type": "function_call_output", "call_id": "c1", "output": "nine"}
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Hm."}]}
SAYS = {"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": "At nine."}]}
SAYS_FIRST = {**SAYS, "id": "msg_0", "content": [{"type": "output_text", "text": "I look."}]}


def response(*output: Any) -> dict[str, Any]:
    tool = {"type": "function", "name": "look", "parameters": {"type": "object"}}
    return {"object": "response", "instructions": "Be brief.", "output": list(output), "tools": [tool]}


def test_a19_items_of_the_responses_api_are_calls_results_and_answers() -> None:
    """As the OpenAI Agents SDK is traced: of three items in which an answer is told, one message is made."""
    asked = [REQUEST, THOUGHT, SAYS_FIRST, CALLED, CAME]
    session = read(
        langfuse.FORMAT,
        [
            generation(1, [REQUEST], response(THOUGHT, SAYS_FIRST, CALLED), usage={"input": 55, "output": 15}),
            generation(2, asked, response(SAYS), usage={"input": 85, "output": 29}),
        ],
    )
    assert parts_told(session) == [
        ("system", ["Be brief."]),
        ("user", ["Tides?"]),
        ("assistant", ["<Hm.>", "I look.", 'look({"at": "Rye"}) c1']),
        ("tool", ["c1: nine"]),
        ("assistant", ["At nine."]),
    ]
    assert [message.bill for message in session.messages if message.usage] == [55, 85]
    assert ([tool.name for tool in session.tools], len(session.epochs)) == (["look"], 1)


def test_a19_calls_of_the_ai_sdk_are_calls() -> None:
    other = {"toolCallId": "c2", "toolName": "look", "args": {}}
    called = [{"toolCallId": "c1", "toolName": "look", "input": '{"at": "Rye"}'}, other]
    use = {"type": "tool-call", "toolCallId": "c1", "toolName": "look", "input": {"at": "Rye"}}
    came = {"type": "tool-result", "toolCallId": "c1", "toolName": "look", "output": {"type": "text", "value": "nine"}}
    first = read(langfuse.FORMAT, [generation(1, [REQUEST], called)])
    assert parts_told(first) == [("user", ["Tides?"]), ("assistant", ['look({"at": "Rye"}) c1', "look({}) c2"])]
    asked = [REQUEST, {"role": "assistant", "content": [use]}, {"role": "tool", "content": [came]}]
    assert parts_told(read(langfuse.FORMAT, [generation(1, asked, "At nine.")])) == [
        ("user", ["Tides?"]),
        ("assistant", ['look({"at": "Rye"}) c1']),
        ("tool", ["c1: nine"]),
        ("assistant", ["At nine."]),
    ]


@pytest.mark.parametrize("role", ["look", "tool"])
def test_a19_a_result_that_only_its_role_names_is_bound_to_its_call(role: str) -> None:
    """LangGraph's JavaScript library gives the tool's name as the role; koog says tool, and writes calls as texts."""
    function = {"function": {"name": "look", "arguments": '{"at": "Rye"}'}, "id": "c1", "type": "function"}
    call = {"role": "assistant", "content": "", "tool_calls": [function]}
    call = call if role == "look" else {"role": "tool", "content": json.dumps([function])}
    asked = [REQUEST, call, {"role": role, "content": "nine"}]
    session = read(langfuse.FORMAT, [generation(1, asked, {"role": "assistant", "content": "At nine."})])
    assert parts_told(session) == [
        ("user", ["Tides?"]),
        ("assistant", ['look({"at": "Rye"}) c1']),
        ("tool", ["c1: nine"]),
        ("assistant", ["At nine."]),
    ]


@pytest.mark.parametrize(
    ("prompt", "parts"), [("You write jokes. One at a time.", 1), ("", 2), ("You judge jokes, and say why.", 2)]
)
def test_a19_what_another_agent_is_asked_is_another_conversation(prompt: str, parts: int) -> None:
    """Its request holds the answer before it, as one behind a summary does, but under a prompt of its own."""
    joke = "Why do programmers hate nature? It has too many bugs!"
    first = [{"role": "system", "content": "You write jokes. One at a time."}, {"role": "user", "content": "A joke."}]
    second = [{"role": "system", "content": prompt}, {"role": "user", "content": f"Rate this:\n{joke}"}]
    calls = [generation(1, first, joke), generation(2, second, "Good.")]
    codec = langfuse.FORMAT.codec
    assert codec.sessions_in
    assert len(codec.sessions_in(HERE, json.dumps(calls).encode())) == parts
    assert len(read(langfuse.FORMAT, calls).epochs) == 3 - parts


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("openai-agents-2025-09-30", ["system", "user", "assistant", "tool", "assistant"]),
        ("vercel-aisdk-2025-11-17", ["user", "assistant"]),
        ("langgraph-js-2025-10-30", ["user", "assistant", "tool", "assistant"]),
        ("pydantic-ai-tools-2025-12-04", ["system", "user", "assistant", "tool", "assistant", "user", "assistant"]),
        ("koog-2025-08-26", ["system", "user", "assistant", "tool", "assistant", "tool", "assistant"]),
    ],
)
def test_a19_of_the_traces_of_frameworks(shared: Path, name: str, told: list[str]) -> None:
    path = shared / "sessions-new" / "langfuse" / f"{name}.json"
    session = load(path)
    assert ([message.role for message in session.context()], len(session.epochs)) == (told, 1)
    asked = {call.id for message in session.messages for call in message.calls}
    assert all(result.call_id in asked for message in session.messages for result in message.results)
    assert len(parts_of(path)) == (2 if name.startswith("pydantic") else 1)


def run(**more: Any) -> dict[str, Any]:
    return {"id": "r", "run_type": "llm", "inputs": {"messages": [{"role": "user", "content": "Hi"}]}, **more}


@pytest.mark.parametrize(
    "outputs",
    [
        {"generations": [[{"text": "Hello", "message": None}]]},
        {"generations": [{"text": "", "message": {"type": "ai", "data": {"content": "Hello"}, "role": ""}}]},
        {"choices": [{"message": {"role": "assistant", "content": "Hello"}}]},
        {"message": {"role": "assistant", "content": [{"type": "text", "text": "Hello"}]}},
        {"messages": [{"role": "assistant", "content": "Hello"}]},
        {"role": "assistant", "content": "Hello"},
    ],
)
def test_langsmith_keeps_answers_as_their_client_gives_them(outputs: dict[str, Any]) -> None:
    chain = {"id": "root", "run_type": "chain", "inputs": {}, "child_runs": [run(outputs=outputs)]}
    session = read(langsmith.FORMAT, chain)
    assert (session.id, told(session)) == ("root", [("user", "Hi"), ("assistant", "Hello")])


@pytest.mark.parametrize(("kind", "calls"), [("llm", 1), ("chat_model", 1), ("chain", 0), ("tool", 0)])
def test_which_runs_are_of_a_model(kind: str, calls: int) -> None:
    runs = [run(outputs={}), {**run(outputs={}), "id": "r2", "run_type": kind, "trace_id": "other"}]
    codec = langsmith.FORMAT.codec
    assert codec.sessions_in
    assert len(codec.sessions_in(HERE, json.dumps(runs).encode())) == 1 + calls


def test_what_langsmith_says_was_billed() -> None:
    usage = {"input_tokens": 100, "output_tokens": 5, "input_token_details": {"cache_read": 60}}
    answer = {"kwargs": {"type": "ai", "content": "Hello", "usage_metadata": usage}}
    session = read(langsmith.FORMAT, run(outputs={"generations": [[{"message": answer}]]}, total_cost="0.25"))
    assert session.messages[-1].usage == Usage(40, 5, 60, cost=0.25)


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ("Hi", Message("", "user", (Text("Hi"),))),
        ("", None),
        (7, None),
        ({"no": "message"}, None),
        ({"role": "model", "parts": [{"functionCall": {"name": "look", "args": {"at": "tide"}}}]},
         Message("", "assistant", (ToolUse("look", "look", {"at": "tide"}),))),
        ({"role": "user", "parts": [{"functionResponse": {"name": "look", "response": {"a": 1}}}]},
         Message("", "tool", (ToolResult("look", (Text('{"a":1}'),)),))),
        ({"role": "assistant", "parts": [{"type": "reasoning", "content": "hm"}, IMAGE]},
         Message("", "assistant", (Thinking("hm"), Media("image/png", 3)))),
        ({"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "look", "input": {"at": "tide"}}],
          "tool_calls": [{"id": "c1", "name": "look", "args": {"at": "tide"}}]}, Message("", "assistant", (CALL,))),
        ({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "nine"}]},
         Message("", "tool", (ToolResult("c1", (Text("nine"),)),))),
    ],
)  # fmt: skip
def test_a_message_in_whatever_form(item: Any, message: Message | None) -> None:
    assert message_of(item) == message


def test_a_body_is_its_messages_behind_its_system_prompt() -> None:
    body = {"system": [{"type": "text", "text": "Short."}], "messages": [{"role": "user", "content": "Hi"}]}
    assert [(m.role, m.text) for m in messages_of(json.dumps(body))] == [("system", "Short."), ("user", "Hi")]
    assert messages_of({"query": "Hi"}) == ()
