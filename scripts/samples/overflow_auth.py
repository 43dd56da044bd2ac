# ruff: noqa: E501 (sentences of the story stay whole)
"""Chapter one of the overflowing session: the rules, the plan, the migration, tokens and passwords."""

from __future__ import annotations

from collections.abc import Mapping

from samples.claude_code import ClaudeCode
from samples.outputs import pytest_run

Texts = Mapping[str, str]


def tell(s: ClaudeCode, written: Texts) -> None:
    opening(s)
    migration(s, written)
    tokens(s, written)
    passwords(s, written)


def opening(s: ClaudeCode) -> None:
    s.session_start()
    s.meta(
        "<local-command-caveat>Caveat: the lines below come from a command that the user ran in the terminal. "
        "Do not answer them.</local-command-caveat>",
        is_meta=True,
    )
    s.meta("<command-name>/status</command-name>\n<command-message>status</command-message>", is_meta=False)
    s.meta(
        "<local-command-stdout>harbour · branch harb-2187-rotate-sessions · clean</local-command-stdout>", is_meta=False
    )
    s.user(
        "This is about HARB-2187. Our sessions still live in the signed cookie of the first shop, so nobody can be signed "
        "out for real. I want sessions as rows, a short access token and a refresh token that rotates, and all services "
        "moved over to it.\n\n"
        "Three rules for the whole of this work, please keep them in mind until the end:\n"
        "1. Never log the refresh token. Not shortened, not hashed, not in a debug line, not in a test's output.\n"
        "2. Don't touch the legacy/ folder. The warehouse terminals pin it by checksum.\n"
        "3. Always run `make check` before you say that something is done.\n\n"
        "Start by reading CLAUDE.md and the auth service, then give me a plan.",
        hook=True,
    )
    s.act(
        s.read("CLAUDE.md"),
        s.read("Makefile"),
        s.read("docker-compose.yml"),
        say="I'll read the conventions first, then the auth service.",
        think="The user gave three standing rules: never log the refresh token in any form, leave legacy/ alone, run make "
        "check before saying done. I should carry them through the whole task. First the conventions.",
    )
    s.act(
        s.read("services/auth/sessions.py"),
        s.read("services/auth/routes.py"),
        s.read("services/auth/passwords.py"),
        s.read("services/auth/models.py"),
        s.read("services/auth/settings.py"),
    )
    s.act(s.read("legacy/cookie_session.py"), s.read("tests/auth/test_sessions.py"), s.read("services/auth/app.py"))
    s.act(
        s.grep(r"cookie_session", suffix=".py"),
        s.read("docs/adr/0007-password-hash.md"),
        say="Now who else uses the cookie.",
    )
    s.act(
        s.todos(
            (">", "Migration: sessions and refresh_tokens"),
            (" ", "tokens.py, store.py, rotation.py with tests"),
            (" ", "passwords.py: bcrypt as ADR 7 says"),
            (" ", "sessions.py: require_session instead of the cookie"),
            (" ", "Move the twelve services over"),
            (" ", "Front end: refresh before a 401 reaches the customer"),
            (" ", "make check, commit, notes for the release"),
        )
    )
    s.reply(
        "Here is the plan for HARB-2187.\n\n"
        "**What is there.** `services/auth/sessions.py` is a thin layer over `legacy/cookie_session.py`; twelve services "
        "import the legacy function directly in their routes. There is no server-side session, so sign-out only forgets "
        "the cookie (the strict xfail in `tests/auth/test_sessions.py` says so).\n\n"
        "**Steps**\n"
        "1. Migration: `sessions` and `refresh_tokens` (digest only, with a generation number).\n"
        "2. `tokens.py` (access token, ten minutes; refresh token, opaque), `store.py`, `rotation.py`.\n"
        "3. `passwords.py`: ADR 7 asks for bcrypt, the code still makes PBKDF2-SHA1 hashes.\n"
        "4. `sessions.py`: `require_session` as a FastAPI dependency.\n"
        "5. The twelve services, one commit each or in small groups.\n"
        "6. `web/src/auth`: refresh once, in one tab at a time.\n\n"
        "**Your rules**, so that we agree: the refresh token is never logged in any form; `legacy/` stays byte for byte as "
        "it is (I will only stop importing it); `make check` runs before I call anything done.\n\n"
        "Two questions: what should the migration be called, and bcrypt with which cost?"
    )


def migration(s: ClaudeCode, written: Texts) -> None:
    s.user(
        "Good. The migration id is 0042_rotate_sessions, that name is reserved with the data team and their jobs look for "
        "it, so exactly that. bcrypt with cost 12 as the ADR says. Do the migration first."
    )
    name = "migrations/versions/0042_rotate_sessions.py"
    s.act(
        s.glob("migrations/versions/004*.py", "migrations/versions/", ".py"),
        s.read("migrations/versions/0041_voucher_campaigns.py"),
    )
    s.act(s.write(name, written[name]), say="I'll write it on top of 0041.")
    s.act(
        s.bash(
            "alembic upgrade head",
            "Exit code 255\nINFO  [alembic.runtime.migration] Context impl PostgresqlImpl.\n"
            "INFO  [alembic.runtime.migration] Will assume transactional DDL.\n"
            "ERROR [alembic.util.messaging] Multiple head revisions are present for given argument 'head'; please specify a "
            "specific target revision, '<branchname>@head' to narrow to a specific head, or 'heads' for all heads\n"
            "  FAILED: Multiple head revisions are present for given argument 'head'",
            "Run the migration",
            error=True,
        )
    )
    s.act(
        s.bash(
            "alembic heads",
            "0041_price_history (head)\n0042_rotate_sessions (head)",
            "List heads",
        ),
        s.read("migrations/versions/0041_price_history.py"),
        say="Two revisions 0041 exist side by side. Mine follows only one of them.",
        think="0041_price_history and 0041_voucher_campaigns both revise 0040. 0042 should merge: down_revision a tuple.",
    )
    s.act(
        s.edit(
            name,
            'down_revision = "0041_voucher_campaigns"',
            'down_revision = ("0041_voucher_campaigns", "0041_price_history")',
        ),
        s.edit(name, "Revises: 0041_voucher_campaigns", "Revises: 0041_voucher_campaigns, 0041_price_history"),
    )
    s.act(
        s.bash(
            "alembic upgrade head && alembic downgrade -1 && alembic upgrade head && alembic current",
            "INFO  [alembic.runtime.migration] Running upgrade 0041_voucher_campaigns, 0041_price_history -> "
            "0042_rotate_sessions, sessions with rotating refresh tokens\n"
            "INFO  [alembic.runtime.migration] Running downgrade 0042_rotate_sessions -> 0041_voucher_campaigns, "
            "0041_price_history\n"
            "INFO  [alembic.runtime.migration] Running upgrade 0041_voucher_campaigns, 0041_price_history -> "
            "0042_rotate_sessions\n0042_rotate_sessions (head) (mergepoint)",
            "Up, down and up again",
            ticks=2,
        )
    )
    s.reply(
        "`0042_rotate_sessions` runs up and down. There were two heads (`0041_voucher_campaigns` and `0041_price_history`, "
        "both on 0040), so 0042 now merges them; without that `alembic upgrade head` refused to run. The id is exactly the "
        "reserved one."
    )


def tokens(s: ClaudeCode, written: Texts) -> None:
    s.user("Right, the merge was overdue anyway. Now tokens, store and rotation, with tests.")
    s.act(
        s.write("services/auth/tokens.py", written["services/auth/tokens.py"]),
        s.write("services/auth/store.py", written["services/auth/store.py"]),
        say="Tokens and the store first.",
        think="Rule 1: make it hard to log the refresh token by accident. A wrapper type whose repr and str show nothing.",
    )
    s.act(
        s.write("services/auth/rotation.py", written["services/auth/rotation.py"]),
        s.write("tests/auth/memory_store.py", written["tests/auth/memory_store.py"]),
        s.write("tests/auth/test_rotation.py", written["tests/auth/test_rotation.py"]),
    )
    trace = (
        "    @pytest.mark.asyncio\n    async def test_reuse_ends_the_session_for_both() -> None:\n"
        "        store, token = session_with_token()\n        rotated = await rotate(store, token, NOW)\n"
        '        with pytest.raises(RefreshRefused, match="reused"):\n'
        "            await rotate(store, token, NOW + timedelta(minutes=1))\n"
        '        with pytest.raises(RefreshRefused, match="revoked"):\n'
        ">           await rotate(store, rotated.token, NOW + timedelta(minutes=1))\n"
        "E           Failed: DID NOT RAISE <class 'services.auth.rotation.RefreshRefused'>\n\n"
        "tests/auth/test_rotation.py:38: Failed"
    )
    tests = "tests/auth/test_rotation.py"
    s.act(
        s.bash(
            "pytest -v tests/auth/test_rotation.py",
            "Exit code 1\n" + pytest_run(s.repo, tests, failing={"test_reuse_ends_the_session_for_both": trace}),
            "Run the new tests",
            error=True,
            ticks=1,
        )
    )
    s.act(
        s.read("tests/auth/memory_store.py", 36, 30),
        say="The session is revoked in the middle of a block that rolls back when it raises. Let me look at both stores.",
        think="In PostgreSQL `revoke` happens inside the transaction of `locked`, and RefreshRefused rolls it back: the "
        "same mistake would exist in production. The revocation has to survive the exception.",
    )
    s.act(
        s.edit(
            "services/auth/rotation.py",
            '            await store.revoke(session.id, because="reuse", at=now)\n'
            '            log.warning("refresh token reused, session %s revoked", session.id)\n'
            '            raise RefreshRefused("reused", session.id)\n'
            "        token = RefreshToken.new()\n"
            "        await store.mark_used(presented.digest, at=now)\n"
            "        await store.add_token(session.id, token.digest, generation=found.generation + 1, at=now)\n"
            "        await store.touch(session.id, at=now)\n"
            "    return Rotated(session, token)\n",
            "            reused = True\n"
            "        else:\n"
            "            reused = False\n"
            "            token = RefreshToken.new()\n"
            "            await store.mark_used(presented.digest, at=now)\n"
            "            await store.add_token(session.id, token.digest, generation=found.generation + 1, at=now)\n"
            "            await store.touch(session.id, at=now)\n"
            "    if reused:\n"
            "        # Outside the block: the exception must not roll the revocation back.\n"
            '        await store.revoke(session.id, because="reuse", at=now)\n'
            '        log.warning("refresh token reused, session %s revoked", session.id)\n'
            '        raise RefreshRefused("reused", session.id)\n'
            "    return Rotated(session, token)\n",
        )
    )
    s.act(
        s.bash("pytest -v tests/auth/test_rotation.py", pytest_run(s.repo, tests, seconds=0.61), "Run the tests again")
    )
    s.reply(
        "Tokens, store and rotation are written; 6 of 6 tests pass. One real mistake turned up on the way: the revocation "
        "after a reuse ran inside the transaction that the exception rolls back, so that a stolen token would have been "
        "noticed and then forgotten. It now happens after the block. `RefreshToken` has no repr, so it cannot slip into a "
        "log line by accident (rule 1)."
    )


def passwords(s: ClaudeCode, written: Texts) -> None:
    path = "services/auth/passwords.py"
    s.user(
        "Good catch. Passwords next: bcrypt, cost 12, and keep the old PBKDF2 hashes working until people sign in.",
        hook=True,
    )
    s.act(
        s.write(path, written[path]), s.write("tests/auth/test_passwords.py", written["tests/auth/test_passwords.py"])
    )
    trace = (
        "    def test_verify_never_raises_for_a_long_guess() -> None:\n"
        '        encoded = passwords.hash_password("a long sea shanty")\n'
        '>       assert passwords.verify_password("x" * 500, encoded) is False\n\n'
        "services/auth/passwords.py:28: in verify_password\n"
        "    return bcrypt.checkpw(password.encode(), encoded.encode())\n"
        "E   ValueError: password cannot be longer than 72 bytes, truncate manually if necessary (e.g. my_password[:72])\n\n"
        "tests/auth/test_passwords.py:35: ValueError"
    )
    s.act(
        s.bash(
            "pytest -v tests/auth/test_passwords.py",
            "Exit code 1\n"
            + pytest_run(
                s.repo, "tests/auth/test_passwords.py", failing={"test_verify_never_raises_for_a_long_guess": trace}
            ),
            "Run the password tests",
            error=True,
        )
    )
    s.act(
        s.edit(
            path,
            "    return bcrypt.checkpw(password.encode(), encoded.encode())\n",
            "    raw = password.encode()\n"
            "    return len(raw) <= BCRYPT_MAX_BYTES and bcrypt.checkpw(raw, encoded.encode())\n",
        ),
        say="bcrypt 5 raises for more than 72 bytes. A guess that is too long is simply wrong.",
    )
    s.act(
        s.bash(
            "pytest -v tests/auth",
            pytest_run(s.repo, "tests/auth/test_passwords.py", "tests/auth/test_sessions.py"),
            "Run auth tests",
        )
    )
    s.reply(
        "bcrypt with cost 12 is in, old hashes are verified and marked for replacement. A guess over 72 bytes no longer raises."
    )

    s.user(
        "Change of plan, sorry: the security review came back. Use argon2id instead of bcrypt after all: 64 MiB, 3 passes, "
        "1 lane. ADR 7 will be superseded, I write the new ADR myself. Old PBKDF2 hashes still have to work; there are no "
        "bcrypt hashes in production, so forget bcrypt completely.",
        after=900,
    )
    s.forget_cache()
    s.act(
        s.bash(
            "uv add 'argon2-cffi>=23.1' && uv remove bcrypt",
            "Resolved 71 packages in 412ms\n + argon2-cffi==23.1.0\n + argon2-cffi-bindings==21.2.0\n - bcrypt==5.0.0",
            "Swap the dependency",
        ),
        s.write(path, written["services/auth/passwords_argon2.py"]),
        say="argon2id it is. I'll swap the dependency and the module.",
    )
    s.act(
        s.edit(
            "tests/auth/test_passwords.py",
            "def test_a_password_over_72_bytes_is_refused() -> None:\n"
            "    with pytest.raises(passwords.PasswordTooLong):\n"
            '        passwords.hash_password("ü" * 40)\n',
            "def test_a_password_of_500_characters_is_fine() -> None:\n"
            '    encoded = passwords.hash_password("ü" * 500)\n'
            '    assert passwords.verify_password("ü" * 500, encoded)\n\n\n'
            "def test_the_parameters_are_those_of_the_review() -> None:\n"
            '    assert "$argon2id$v=19$m=65536,t=3,p=1$" in passwords.hash_password("a long sea shanty")\n',
        ),
        s.edit("tests/auth/test_passwords.py", "import pytest\n\n", ""),
        s.edit("services/auth/settings.py", "    bcrypt_cost: int = 12\n", ""),
    )
    s.act(
        s.bash(
            "pytest -v tests/auth/test_passwords.py",
            pytest_run(s.repo, "tests/auth/test_passwords.py", seconds=1.9),
            "Run the password tests",
        )
    )
    s.act(s.grep("bcrypt", suffix=".py"), s.read("services/auth/routes.py", 38, 24))
    s.act(
        s.edit(
            "services/auth/routes.py",
            "    sessions.start_session(response, account, settings)\n",
            "    if passwords.needs_rehash(encoded):\n"
            "        await accounts.replace_hash(account.id, passwords.hash_password(body.password))\n"
            "    sessions.start_session(response, account, settings)\n",
        )
    )
    s.reply(
        "argon2id (m=65536, t=3, p=1) replaces bcrypt everywhere; no mention of bcrypt is left in the code. Sign-in now "
        "replaces an old hash as soon as it has seen the password. The 72-byte limit is gone with bcrypt."
    )
