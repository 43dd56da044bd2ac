# ruff: noqa: E501 (sentences of the story stay whole)
"""Chapter five of the overflowing session: the release, and the question that is too much."""

from __future__ import annotations

from samples.claude_code import ClaudeCode
from samples.outputs import auth_log, pytest_run, take


def tell(s: ClaudeCode) -> None:
    commit_and_rebase(s)
    slow_refresh(s)
    review(s)
    second_log(s)
    too_much(s)


def commit_and_rebase(s: ClaudeCode) -> None:
    s.user("Commit it in sensible pieces and rebase on main. HARB-2203 separately.")
    s.act(s.bash("git diff --stat", s.repo.diff_stat(), "What is there to commit"))
    subjects = (
        ("4be19c2", "Add sessions with rotating refresh tokens", "HARB-2187"),
        ("a02d7f1", "Hash passwords with argon2id", "HARB-2187"),
        ("c7710de", "Ask require_session in all services", "HARB-2187"),
        ("19fe0a8", "Refund opened parcels as the terms of sale say", "HARB-2203"),
        ("d35b9c4", "Refresh in one tab at a time", "HARB-2187"),
        ("77ac210", "Move auth to port 8081", "HARB-2187"),
    )
    log = "\n".join(
        f"[harb-2187-rotate-sessions {sha}] {subject}\n Ticket: {ticket}" for sha, subject, ticket in subjects
    )
    s.act(s.bash("tools/commit-in-pieces", log, "Six commits, each with its ticket"))
    s.act(
        s.bash(
            "git fetch && git rebase origin/main",
            "Exit code 1\nAuto-merging services/auth/settings.py\nAuto-merging docker-compose.yml\n"
            "CONFLICT (content): Merge conflict in docker-compose.yml\nerror: could not apply 77ac210... Move auth to port 8081\n"
            'hint: Resolve all conflicts manually, mark them as resolved with\nhint: "git add/rm <conflicted_files>", then run '
            '"git rebase --continue".\nCould not apply 77ac210... Move auth to port 8081',
            "Rebase",
            error=True,
        )
    )
    s.act(
        s.bash(
            "git diff docker-compose.yml",
            "diff --cc docker-compose.yml\n@@@ -5,9 -5,9 +5,15 @@@\n      environment:\n++<<<<<<< HEAD\n +      AUTH_URL: http://auth:8080\n"
            " +      SHOP_URL: http://shop:8091\n++=======\n+       AUTH_URL: http://auth:8081\n+       SHOP_URL: http://shop:8090\n"
            "++>>>>>>> 77ac210 (Move auth to port 8081)",
            "Look at the conflict",
        ),
        think="main moved shop to 8091; ours moves auth to 8081. Keep both: auth 8081, shop 8091.",
    )
    s.act(
        s.edit("docker-compose.yml", "SHOP_URL: http://shop:8090", "SHOP_URL: http://shop:8091"),
        s.bash(
            "git add docker-compose.yml && GIT_EDITOR=true git rebase --continue",
            "Successfully rebased and updated refs/heads/harb-2187-rotate-sessions.",
            "Continue",
        ),
    )
    s.repo.commit()
    s.reply(
        "Six commits on top of main; HARB-2203 is `19fe0a8` alone. The conflict was in the ports: main moved shop to 8091, we move auth to 8081, both hold."
    )


def slow_refresh(s: ClaudeCode) -> None:
    s.user("The load test says that refresh went from a p95 of 41 ms to 58 ms with 2 000 sessions. Why?", after=6_000)
    s.forget_cache()
    plan = (
        " Limit  (cost=0.56..16.61 rows=1 width=73) (actual time=11.902..11.904 rows=1 loops=1)\n"
        "   ->  LockRows  (cost=0.56..16.61 rows=1 width=73) (actual time=11.901..11.902 rows=1 loops=1)\n"
        "         ->  Nested Loop  (cost=0.56..16.60 rows=1 width=73) (actual time=11.880..11.881 rows=1 loops=1)\n"
        "               ->  Seq Scan on refresh_tokens t  (actual time=11.848..11.849 rows=1 loops=1)\n"
        "                     Filter: (digest = '\\x…'::bytea)\n                     Rows Removed by Filter: 214 310\n"
        "               ->  Index Scan using sessions_pkey on sessions s  (actual time=0.028..0.028 rows=1 loops=1)\n"
        " Planning Time: 0.311 ms\n Execution Time: 11.961 ms"
    )
    s.act(
        s.read("services/auth/store.py"),
        s.bash("psql harbour -f tools/explain-refresh.sql", plan, "The plan of the refresh query"),
    )
    s.act(
        s.bash(
            "psql harbour -c '\\d refresh_tokens'",
            '                 Table "public.refresh_tokens"\n   Column   |           Type           | Nullable\n'
            "------------+--------------------------+----------\n digest     | bytea                    | not null\n session_id | uuid                     | not null\n"
            ' generation | integer                  | not null\nIndexes:\n    "refresh_tokens_pkey" PRIMARY KEY, btree (digest) INVALID\n'
            '    "uq_refresh_generation" UNIQUE CONSTRAINT, btree (session_id, generation)',
            "What indexes are there?",
        ),
        s.read("migrations/versions/0042_rotate_sessions.py"),
    )
    s.act(
        s.bash(
            "psql harbour -c 'REINDEX INDEX CONCURRENTLY refresh_tokens_pkey' && tools/load-test refresh --sessions 2000",
            "REINDEX\nrefresh  n=20000  p50=11 ms  p95=39 ms  p99=63 ms  errors=0",
            "Rebuild the index, test again",
            ticks=3,
        )
    )
    s.reply(
        "Not our query: the primary key of `refresh_tokens` on the load-test database was marked INVALID after an interrupted restore, "
        "so each refresh read 214 310 rows. After `REINDEX … CONCURRENTLY` p95 is 39 ms. The migration needs no change. I did use "
        "old digests as a filter in that plan, and cut them out of the output: rule 1 is about logs, but a digest in a ticket is as bad."
    )

    s.user("Good. Put that into docs/runbook.md so that the next person looks at the index first.")
    s.act(
        s.read("docs/runbook.md"),
        s.read("docs/adr/0007-password-hash.md", 1, 8),
        say="I'll see whether there is a runbook.",
    )
    s.act(
        s.write(
            "docs/runbook.md",
            "# Runbook\n\n## Refresh is slow\n1. `\\d refresh_tokens` in psql: is the primary key marked INVALID?\n"
            "2. If so: `REINDEX INDEX CONCURRENTLY refresh_tokens_pkey`. It takes about a minute per million rows.\n"
            "3. Else: `tools/load-test refresh --sessions 2000` and compare with p95 = 39 ms (January 2026).\n",
        )
    )
    s.reply(
        "There was no runbook; `docs/runbook.md` now has its first entry, with the figures of today to compare with."
    )


def review(s: ClaudeCode) -> None:
    s.user(
        "Mira reviewed. Her points: (a) settings still has unused things, (b) sessions.py: say why samesite is strict, (c) a test that sign-out ends only this session."
    )
    s.act(
        s.read("services/auth/settings.py"),
        s.read("services/auth/sessions.py"),
        s.read("tests/auth/test_sessions.py"),
        s.read("tests/auth/test_rotation.py"),
    )
    s.act(
        s.edit(
            "services/auth/sessions.py",
            '    common = {"httponly": True',
            "    # Strict: both cookies are read by our own pages only; a link from a mail starts on a public page.\n"
            '    common = {"httponly": True',
        ),
        s.edit(
            "tests/auth/test_sessions.py",
            "@pytest.mark.asyncio\nasync def test_me_needs_a_session",
            "@pytest.mark.asyncio\nasync def test_sign_out_ends_only_this_session(client: AsyncClient) -> None:\n"
            '    who = await account(client, password="a long sea shanty")\n'
            '    body = {"email": who.email, "password": "a long sea shanty"}\n'
            '    other = (await client.post("/auth/sign-in", json=body)).cookies\n'
            '    await client.post("/auth/sign-in", json=body)\n'
            '    await client.post("/auth/sign-out")\n'
            '    assert (await client.post("/auth/refresh", cookies=other)).status_code == 204\n\n\n'
            "@pytest.mark.asyncio\nasync def test_me_needs_a_session",
        ),
    )
    s.queued("also (d): Mira wants the ADR number in passwords.py, it is ADR 19")
    s.act(
        s.edit(
            "services/auth/passwords.py",
            "# Security review of 2026-01-19:",
            "# ADR 19, after the security review of 2026-01-19:",
        ),
        s.bash(
            "pytest -v tests/auth",
            pytest_run(
                s.repo,
                "tests/auth/test_passwords.py",
                "tests/auth/test_rotation.py",
                "tests/auth/test_sessions.py",
                seconds=7.7,
            ),
            "Run the auth tests",
        ),
    )
    s.act(
        s.bash(
            "make check 2>&1 | tail -5",
            "mypy services\nSuccess: no issues found in 94 source files\n131 passed in 44.60s\n"
            "      Tests  57 passed (57)\n✓ built in 3.05s",
            "The full check",
            ticks=2,
        )
    )
    s.reply(
        "All four points are in, `make check` passes. On (a): `settings.py` was clean already, `bcrypt_cost` went with the change to argon2id."
    )

    s.user("What's the exact migration id again? The data team asks.")
    s.reply(
        "`0042_rotate_sessions` (file `migrations/versions/0042_rotate_sessions.py`). It merges `0041_voucher_campaigns` and `0041_price_history`."
    )

    s.user("thanks. write the release notes into docs/releases/2026-02.md, half a page")
    s.act(
        s.write(
            "docs/releases/2026-02.md",
            "# February 2026\n\n## For customers\n- 'Where you are signed in' lists every device, and signing one out works at once.\n"
            "- Opened parcels: 40 per cent back between 31 and 60 days (HARB-2203).\n\n## For operations\n"
            "- Migration `0042_rotate_sessions`: two new tables, merges the two heads on 0041. Runs in 2 s, can be rolled back.\n"
            "- auth listens on **8081**. 8080 is the metrics sidecar. shop is on 8091.\n- Everybody is signed out once.\n"
            "- Refresh tokens rotate; a token that comes back after more than 5 s ends its session (`reason=reused` in the log).\n"
            "- `legacy/` is unchanged. The warehouse terminals keep their cookie until HARB-2240.\n\n"
            "## For support\n- A session is traced by its *session id*. Tokens are never in a log.\n",
        )
    )
    s.start_reply("The notes are written. While I am at it I could also draft the mail to the warehouse, which")
    s.interrupt(in_tool=False)
    s.user("no mail please, just the notes", after=8)
    s.reply("Only the notes: `docs/releases/2026-02.md`.")


def second_log(s: ClaudeCode) -> None:
    s.user("It has been on staging since this morning. Look through the auth log, anything strange?", after=86_000)
    s.forget_cache()
    lines = auth_log(21, "2026-01-22T06:00:00", pace=30, reuse=False)
    s.act(s.bash("make logs SVC=auth | head -160", take(lines, 160), "The log of this morning"))
    s.reply(
        "Nothing strange in the first 160 lines: refreshes between 3 and 40 ms, no `reused`, expired access tokens are followed by a "
        "refresh. Only wrong passwords make warnings. I would look at the rest before the release."
    )
    s.user("Do that, the whole morning please.")
    room = s.room_below(197_400)
    rest: list[str] = []
    while room > 0:
        rest.append(next(lines))
        room -= s.cost_of(rest[-1] + "\n")
    s.act(s.bash("make logs SVC=auth | tail -n +161", "\n".join(rest), "The rest of the log"))
    s.reply(
        "I went through the rest: no `reused`, no error, the pool never waited. The wrong passwords come from one tester. From the "
        "log's side the release can go."
    )


def too_much(s: ClaudeCode) -> None:
    s.user(
        "One last thing before the release (HARB-2231): support cannot trace a failed refresh. Log in services/auth/rotation.py "
        "whatever identifies the attempt, so that they find the customer's case, and then tell me whether we are done."
    )
    s.too_long()
