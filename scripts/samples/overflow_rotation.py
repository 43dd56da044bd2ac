# ruff: noqa: E501 (sentences of the story stay whole)
"""Chapter two of the overflowing session: rotation, a huge log, a few odd names."""

from __future__ import annotations

from collections.abc import Mapping

from samples.claude_code import ClaudeCode
from samples.outputs import auth_log, pytest_run, take

BIG_LOG = "logs/auth-staging-2026-01-20.log"
BIG_LOG_LINES = 330


def tell(s: ClaudeCode, written: Mapping[str, str]) -> None:
    rotation(s, written)
    logged_out_at_random(s)
    odd_names(s)


def rotation(s: ClaudeCode, written: Mapping[str, str]) -> None:
    path = "services/auth/sessions.py"
    s.user("Now sessions.py and the routes: sign-in, refresh, sign-out that really ends the session.")
    s.act(s.read(path), s.read("services/auth/routes.py"))
    s.act(s.write(path, written[path]))
    s.act(
        s.edit(
            "services/auth/settings.py",
            "    secure_cookies: bool = True\n",
            "    secure_cookies: bool = True\n\n"
            "    def secret(self) -> bytes:\n"
            "        return self.secret_file.read_bytes().strip()\n",
        ),
        s.edit(
            "services/auth/routes.py",
            '@router.post("/sign-out", status_code=204)\n'
            "async def sign_out(response: Response) -> None:\n"
            "    sessions.end_session(response)\n",
            '@router.post("/sign-out", status_code=204)\n'
            "async def sign_out(\n"
            "    response: Response,\n"
            "    user: Annotated[sessions.SessionUser, Depends(sessions.require_session)],\n"
            "    store: Annotated[Store, Depends(get_store)],\n"
            ") -> None:\n"
            '    await store.revoke(user.session_id, because="sign-out", at=datetime.now(UTC))\n'
            "    sessions.forget_tokens(response)\n\n\n"
            '@router.post("/refresh", status_code=204)\n'
            "async def refresh(\n"
            "    request: Request,\n"
            "    response: Response,\n"
            "    store: Annotated[Store, Depends(get_store)],\n"
            "    accounts: Annotated[Accounts, Depends(get_accounts)],\n"
            "    settings: Annotated[Settings, Depends(get_settings)],\n"
            ") -> None:\n"
            '    """The next refresh token and a new access token, or 401 with a reason for the front end."""\n'
            "    presented = request.cookies.get(sessions.REFRESH_COOKIE)\n"
            "    if not presented:\n"
            '        raise HTTPException(status_code=401, detail="You are not signed in.")\n'
            "    try:\n"
            "        rotated = await rotate(store, RefreshToken(presented))\n"
            "    except RefreshRefused as refused:\n"
            "        sessions.forget_tokens(response)\n"
            '        raise HTTPException(status_code=401, detail="Please sign in again.", headers={"x-reason": refused.reason})\n'
            "    account = await accounts.by_id(rotated.session.account_id)\n"
            "    sessions.put_tokens(response, rotated.session, account, rotated.token, settings, datetime.now(UTC))\n",
        ),
        say="Refresh and sign-out.",
    )
    s.act(
        s.edit(
            "services/auth/routes.py",
            "    sessions.start_session(response, account, settings)\n",
            '    label = request.headers.get("user-agent", "")[:80]\n'
            "    await sessions.start_session(response, account, store, settings, label)\n",
        ),
        s.edit(
            "services/auth/routes.py",
            "    user = sessions.user_of(request)\n    if user is None:\n"
            '        raise HTTPException(status_code=401, detail="You are not signed in.")\n',
            "",
        ),
        s.edit(
            "services/auth/routes.py",
            "async def me(request: Request) -> Me:",
            "async def me(user: Annotated[sessions.SessionUser, Depends(sessions.require_session)]) -> Me:",
        ),
        s.edit(
            "services/auth/routes.py",
            "from services.auth.settings import Settings, get_settings\n",
            "from services.auth.rotation import RefreshRefused, rotate\n"
            "from services.auth.settings import Settings, get_settings\n"
            "from services.auth.store import Store, get_store\n"
            "from services.auth.tokens import RefreshToken\n",
        ),
    )
    s.act(
        s.bash(
            "mypy services/auth",
            'Exit code 1\nservices/auth/routes.py:67: error: Name "store" is not defined  [name-defined]\n'
            'services/auth/routes.py:83: error: Name "datetime" is not defined  [name-defined]\n'
            'services/auth/routes.py:83: error: Name "UTC" is not defined  [name-defined]\n'
            'services/auth/routes.py:106: error: Within an except clause, raise exceptions with "from"  [raise-missing-from]\n'
            "Found 4 errors in 1 file (checked 11 source files)",
            "Check types",
            error=True,
        )
    )
    s.act(
        s.edit(
            "services/auth/routes.py",
            "    limiter: Annotated[Limiter, Depends(get_limiter)],\n",
            "    limiter: Annotated[Limiter, Depends(get_limiter)],\n    store: Annotated[Store, Depends(get_store)],\n",
        ),
        s.edit(
            "services/auth/routes.py",
            "import logging\nfrom typing",
            "import logging\nfrom datetime import UTC, datetime\nfrom typing",
        ),
        s.edit(
            "services/auth/routes.py",
            'headers={"x-reason": refused.reason})\n',
            'headers={"x-reason": refused.reason}) from None\n',
        ),
        s.edit(
            "services/auth/store.py",
            "class Store:\n",
            "async def get_store() -> Store:\n"
            '    """For FastAPI\'s `Depends`."""\n'
            "    return Store(await connection())\n\n\n"
            "class Store:\n",
        ),
    )
    s.act(s.bash("mypy services/auth", "Success: no issues found in 11 source files", "Check types"))
    s.act(
        s.edit(
            "tests/auth/test_sessions.py",
            '@pytest.mark.xfail(reason="a copied cookie cannot be revoked: HARB-2187", strict=True)\n',
            "",
        ),
        s.edit(
            "tests/auth/test_sessions.py",
            'assert list(answer.cookies) == ["harbour_session"]',
            'assert sorted(answer.cookies) == ["harbour_access", "harbour_refresh"]',
        ),
        s.edit("tests/auth/test_sessions.py", "stolen = answer.cookies", "copied = answer.cookies"),
        s.edit("tests/auth/test_sessions.py", '{"harbour_session": stolen}', '{"harbour_refresh": copied}'),
    )
    s.act(
        s.edit("tests/auth/test_sessions.py", 'answer.cookies["harbour_session"]', 'answer.cookies["harbour_refresh"]'),
        s.edit("tests/auth/test_sessions.py", 'client.get("/auth/me", cookies', 'client.post("/auth/refresh", cookies'),
    )
    s.act(
        s.bash(
            "pytest -v tests/auth",
            pytest_run(
                s.repo,
                "tests/auth/test_passwords.py",
                "tests/auth/test_rotation.py",
                "tests/auth/test_sessions.py",
                seconds=6.2,
            ),
            "Run all auth tests",
            ticks=2,
        ),
        s.read("services/auth/routes.py"),
    )
    s.reply(
        "Auth is on rotating sessions. The strict xfail is gone: a copied refresh token dies with sign-out. The front end "
        "can read `x-reason` on a 401 from `/auth/refresh` (`unknown`, `expired`, `revoked`, `reused`)."
    )


def logged_out_at_random(s: ClaudeCode) -> None:
    s.repo.files[BIG_LOG] = take(auth_log(20, "2026-01-20T12:10:00", pace=9, reuse=True), BIG_LOG_LINES)
    s.user(
        f"I deployed the branch to staging over lunch. The testers are signed out at random, about once an hour each. I saved "
        f"the log under {BIG_LOG}. What is going on?",
        after=9000,
    )
    s.forget_cache()
    s.act(s.read(BIG_LOG), say="Let me read the whole log.")
    s.act(
        s.bash(
            f"grep -c 'refreshed, generation' {BIG_LOG}; grep -c 'token reused' {BIG_LOG}; "
            f"grep -o 'previous use [0-9]* ms' {BIG_LOG} | sort | uniq -c | sort -rn | head -20",
            _reuse_counts(s.repo.files[BIG_LOG]),
            "Count refreshes and reuses, and the gap between two uses",
        ),
        think="Every reuse is within a second of the first use, same address, same browser. That is not theft: two tabs, or "
        "a retry by the browser, send the same refresh token at the same time.",
    )
    s.reply(
        "Nobody steals tokens here. Every single `refresh token reused` comes less than one second after the first use, from "
        "the same address and the same browser: two tabs wake up, both send the same refresh token, the second one looks "
        "like a thief and the session is ended for both.\n\n"
        "Two halves of a cure:\n"
        "- **Server**: a grace window of 10 s. A token that was used less than 10 s ago is refused with `busy` (409) but the "
        "session lives; the tab simply asks again and gets in with the new cookie.\n"
        "- **Front end**: one refresh at a time over all tabs (`navigator.locks`).\n\n"
        "I would do both, the server first."
    )

    s.user("Agreed, but make it 5 seconds, not 10. Ten is too generous for the auditors.")
    s.act(s.read("services/auth/rotation.py"))
    s.act(
        s.edit(
            "services/auth/rotation.py",
            'log = logging.getLogger("harbour.auth.rotation")\n',
            'log = logging.getLogger("harbour.auth.rotation")\n\n'
            "GRACE = timedelta(seconds=5)\n"
            '"""Two tabs that wake up together send the same token: within this time it is no theft."""\n',
        ),
        s.edit(
            "services/auth/rotation.py",
            "        if found.used_at is not None:\n",
            "        if found.used_at is not None and now - found.used_at <= GRACE:\n"
            '            raise RefreshRefused("busy", session.id)\n'
            "        if found.used_at is not None:\n",
        ),
        s.edit(
            "tests/auth/test_rotation.py",
            "def test_a_token_never_shows_itself",
            "@pytest.mark.asyncio\n"
            "async def test_within_the_grace_window_the_session_lives() -> None:\n"
            "    store, token = session_with_token()\n"
            "    rotated = await rotate(store, token, NOW)\n"
            '    with pytest.raises(RefreshRefused, match="busy"):\n'
            "        await rotate(store, token, NOW + timedelta(seconds=5))\n"
            "    assert (await rotate(store, rotated.token, NOW + timedelta(seconds=6))).session.revoked_at is None\n\n\n"
            "def test_a_token_never_shows_itself",
        ),
        say="Five seconds.",
    )
    s.act(
        s.bash(
            "pytest -v tests/auth/test_rotation.py",
            pytest_run(s.repo, "tests/auth/test_rotation.py", seconds=0.7),
            "Run the rotation tests",
        )
    )
    s.reply(
        "The grace window is 5 s (`GRACE` in `services/auth/rotation.py`), with a test on its edge. A busy answer keeps the session."
    )


def _reuse_counts(log: str) -> str:
    gaps = [line.split("previous use ")[1].split(",")[0] for line in log.splitlines() if "previous use" in line]
    refreshed = sum("refreshed, generation" in line for line in log.splitlines())
    return "\n".join([str(refreshed), str(len(gaps)), *(f"      1 previous use {gap}" for gap in gaps[:20])]).replace(
        " ago", ""
    )


def odd_names(s: ClaudeCode) -> None:
    s.user(
        "Something else while you are in there: the page 'where you are signed in' breaks for customers with odd names. "
        "fixtures/hostile_names.json has the worst ones, have a look at what the terminal does with them."
    )
    s.act(
        s.read("fixtures/hostile_names.json"),
        s.bash(
            "python - <<'PY'\nimport json\nfor row in json.load(open('fixtures/hostile_names.json')):\n"
            "    print(row['id'], row['display_name'])\nPY",
            "1 [/red]Rope & Tackle[bold\n2 \x1b[31mred by escape\x1b[0m\n3 مينا البحر\n4 \u202eesreveR eht\n"
            "5 Zoë ⚓️👩‍🚀🏴‍☠️\n6 海の道具屋\n7 a\x00b\x07c\n8 <script>alert('ahoy')</script>\n"
            "9 [@click=app.quit]click me[/]\n10 e\u0301\u0302\u0303\u0304 combining\n11 \x1b]0;own your title\x07window title\n"
            "12 \x1b[2J\x1b[Hcleared?",
            "Print the names as they are",
        ),
    )
    s.act(
        s.write(
            "services/auth/labels.py",
            '"""Device labels and names that come from outside: shown as text, whatever they hold."""\n\n'
            "from __future__ import annotations\n\nimport unicodedata\n\n"
            'BIDI_CONTROLS = set("\\u202a\\u202b\\u202c\\u202d\\u202e\\u2066\\u2067\\u2068\\u2069")\n\n\n'
            "def plain(label: str, limit: int = 80) -> str:\n"
            '    """The label without control characters and direction overrides, at most `limit` characters long."""\n'
            "    kept = (\n"
            "        character\n"
            "        for character in label\n"
            '        if character not in BIDI_CONTROLS and unicodedata.category(character) != "Cc"\n'
            "    )\n"
            '    return "".join(kept).strip()[:limit]\n',
        )
    )
    s.reply(
        "The page breaks on two kinds: control characters (rows 2, 7, 11, 12: an escape sequence can clear the screen of whoever "
        "tails a log) and the direction override in row 4. `services/auth/labels.py` strips both and leaves Arabic, Japanese, "
        "emoji and square brackets alone: `[/red]` is a legal, if unusual, name."
    )

    s.user("另外问一下:如果用户在两台设备上登录,其中一台退出,会影响另一台吗?请用中文简短回答,并补一个测试。")
    s.act(
        s.edit(
            "tests/auth/test_rotation.py",
            "def test_a_token_never_shows_itself",
            "@pytest.mark.asyncio\n"
            "async def test_two_devices_are_two_sessions() -> None:\n"
            "    store, phone = session_with_token()\n"
            "    _, laptop = session_with_token(store=store)\n"
            '    await store.revoke(store.session_of(phone.digest), because="sign-out", at=NOW)\n'
            "    assert (await rotate(store, laptop, NOW)).session.revoked_at is None\n\n\n"
            "def test_a_token_never_shows_itself",
        ),
        s.edit(
            "tests/auth/memory_store.py",
            "    def generation_of(",
            "    def session_of(self, digest: bytes) -> UUID:\n        return self.tokens[digest][0]\n\n    def generation_of(",
        ),
    )
    s.act(
        s.bash(
            "pytest -q tests/auth/test_rotation.py",
            "........                                        [100%]\n8 passed in 0.74s",
            "Run the rotation tests",
        )
    )
    s.reply(
        "不会。每台设备登录时都会新建一行 `sessions` 记录,各自有自己的刷新令牌;退出只撤销当前这一行,另一台设备不受影响。"
        "已补测试 `test_two_devices_are_two_sessions`,全部 8 个用例通过。若以后需要“退出所有设备”,按 `account_id` 一次撤销即可。"
    )
