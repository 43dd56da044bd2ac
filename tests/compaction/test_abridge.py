"""The abridged history: its exact layout, its limits, what becomes of unfinished requests."""

from workbench.compaction.exchange.abridge import AbridgedHistoryParams, abridge, abridged_text
from workbench.conformance.building import agent, call, context_of, result, summary, user

PARAMS = AbridgedHistoryParams()


def test_the_layout_is_the_documents() -> None:
    context = context_of(
        [
            user("u1", "Fix the authentication bug in login.js"),
            agent(
                "a1", "", call("c1", "view", path="/src/auth/login.js"), call("c2", "view", path="/src/utils/jwt.js")
            ),
            result("r1", ("c1", "…"), ("c2", "…")),
            agent("a2", "", call("c3", "str-replace-editor", path="/src/auth/login.js", command="str_replace")),
            result("r2", ("c3", "ok")),
            agent("a3", "", call("c4", "launch-process", command="npm test auth")),
            result("r3", ("c4", "12 passed")),
            agent("a4", "Fixed the token validation logic."),
        ]
    )
    assert abridged_text(abridge(context, 8, PARAMS)) == (
        "<user>\nFix the authentication bug in login.js\n</user>\n<agent_actions>\n"
        "    <files_modified>\n        /src/auth/login.js\n    </files_modified>\n"
        "    <files_viewed>\n        /src/auth/login.js\n        /src/utils/jwt.js\n    </files_viewed>\n"
        "    <terminal_commands>\n        npm test auth\n    </terminal_commands>\n</agent_actions>\n"
        "<agent_response>\nFixed the token validation logic.\n</agent_response>"
    )


def test_continues_only_when_the_tail_answers_its_calls() -> None:
    messages = [
        user("u1", "go on"),
        agent("a1", "", call("c1", command="ls")),
        result("r1", ("c1", "x")),
        agent("a2", "done"),
    ]
    context = context_of(messages)
    assert abridge(context, 2, PARAMS)[0].text.endswith("<agent_continues/>")
    interrupted = context_of([*messages[:2], user("u2", "stop"), agent("a3", "ok")])
    assert abridge(interrupted, 2, PARAMS)[0].text.endswith("<agent_was_interrupted/>")
    assert "<agent_response>\ndone" in abridge(context, 4, PARAMS)[0].text


def test_the_walk_stops_at_the_first_entry_that_does_not_fit() -> None:
    asked = enumerate(("short", "x" * 400, "new"))
    context = context_of([one for n, text in asked for one in (user(f"u{n}", text), agent(f"a{n}", "ok"))])
    limited = PARAMS.model_copy(update={"total_chars_limit": 200})
    entries = abridge(context, 6, limited)
    assert [entry.text.split("\n")[1] for entry in entries] == ["new"]
    assert len(abridge(context, 6, PARAMS)) == 3


def test_summaries_are_skipped_and_what_they_replaced_is_not() -> None:
    context = context_of(
        [user("u1", "old"), agent("a1", "ok"), summary("s1", "SUM"), user("u2", "new"), agent("a2", "ok")]
    )
    text = abridged_text(abridge(context, 5, PARAMS))
    assert "SUM" not in text
    assert text.index("old") < text.index("new")


def test_lists_are_cut_to_their_count_without_repetition() -> None:
    calls = [call(f"c{n}", "Read", file_path=f"/f{n // 2}.py") for n in range(10)]
    context = context_of([user("u1", "read"), agent("a1", "", *calls), result("r1", *((c.id, "x") for c in calls))])
    limited = PARAMS.model_copy(update={"num_files_viewed_limit": 2, "action_chars_limit": 4})
    text = abridge(context, 2, limited)[0].text
    assert text.count("/") == 2 + 3  # two paths; three closing tags
    assert "/f…y" in text


def test_markup_in_session_text_is_left_alone() -> None:
    context = context_of([user("u1", "{{ 7 * 7 }} {% raw %} <b>&amp;"), agent("a1", "{summary}")])
    text = abridge(context, 2, PARAMS)[0].text
    assert "{{ 7 * 7 }} {% raw %} <b>&amp;" in text
    assert "{summary}" in text
