# ruff: noqa: E501 (sentences of the story stay whole)
"""Chapter three of the overflowing session: twelve services leave the cookie, the first by hand, the rest by a script."""

from __future__ import annotations

from samples.claude_code import Call, ClaudeCode
from samples.domains import DOMAINS
from samples.outputs import pytest_run, quiet_pytest
from samples.repo import Repo
from samples.shop import NEW_IMPORT, OLD_IMPORT, Domain

BY_PACKAGE = {domain.package: domain for domain in DOMAINS}

OLD_CHECK = (
    "    user = current_user_from_cookie(request)\n"
    "    if user is None:\n"
    '        raise HTTPException(status_code=401, detail="not signed in")\n'
)
OLD_STAFF = '    if "staff" not in user["roles"]:\n'
NEW_STAFF = '    if not user.has("staff"):\n'
OLD_PARAMETER = "    request: Request,\n"
NEW_PARAMETER = "    user: Annotated[SessionUser, Depends(require_session)],\n"

SCRIPT = "tools/port_routes.py"
SCRIPT_TEXT = '''\
"""Move a service's routes from the signed cookie to `require_session`. Run once per service, then read the diff."""

from __future__ import annotations

import sys
from pathlib import Path

STEPS = (
    ("from legacy.cookie_session import current_user_from_cookie\\n", "from services.auth.sessions import SessionUser, require_session\\n"),
    ("    user = current_user_from_cookie(request)\\n    if user is None:\\n"
     "        raise HTTPException(status_code=401, detail=\\"not signed in\\")\\n", ""),
    ("    request: Request,\\n", "    user: Annotated[SessionUser, Depends(require_session)],\\n"),
    ("HTTPException, Query, Request", "HTTPException, Query"),
    (\'UUID(user["id"])\', "user.id"),
    (\'user["id"]\', "user.id"),
    (\'if "staff" not in user["roles"]:\', \'if not user.has("staff"):\'),
)


def port(path: Path) -> int:
    """Replace in place; returns how many places changed. Refuses anything under legacy/."""
    if "legacy" in path.parts:
        raise SystemExit(f"{path}: legacy/ is frozen")
    text = path.read_text()
    changed = 0
    for old, new in STEPS:
        changed += text.count(old)
        text = text.replace(old, new)
    path.write_text(text)
    return changed


if __name__ == "__main__":
    for name in sys.argv[1:]:
        path = Path("services", name, "routes.py")
        print(f"{path}: {port(path)} places")
        tests = Path("tests", name, "test_routes.py")
        tests.write_text(tests.read_text().replace("cookie_for", "session_for"))
'''


def routes(package: str) -> str:
    return f"services/{package}/routes.py"


def tests(package: str) -> str:
    return f"tests/{package}/test_routes.py"


def tell(s: ClaudeCode) -> None:
    first_service(s)
    interrupted(s)
    by_hand(s, "orders", "Next: orders. Careful with the staff listing, the office looks at it all day.")
    by_hand(s, "payments", "payments now. Same care, and leave the retry times as they are.")
    returns_with_a_bug(s)
    write_the_script(s)
    by_script(
        s, ("vouchers", "reviews"), "Let it do vouchers and reviews, and show me the whole diff before you go on."
    )
    by_script(s, ("subscriptions", "stock"), "Looks right. subscriptions and stock.")
    by_script(s, ("shipments", "messages", "addresses"), "And the last three: shipments, messages, addresses.")
    leftovers(s)
    rate_limit(s)


def first_service(s: ClaudeCode) -> None:
    s.user("Now the services. Start with carts, by hand, so that we see what a port needs.", after=300)
    s.act(
        s.todos(
            ("x", "Migration: 0042_rotate_sessions"),
            ("x", "tokens.py, store.py, rotation.py with tests"),
            ("x", "passwords.py: argon2id (was: bcrypt)"),
            ("x", "sessions.py: require_session instead of the cookie"),
            (">", "Move the twelve services over"),
            (" ", "Front end: refresh before a 401 reaches the customer"),
            (" ", "make check, commit, notes for the release"),
        )
    )
    s.act(
        s.read(routes("carts")),
        s.read("services/carts/repository.py"),
        s.read(tests("carts")),
        s.read("services/carts/rules.py"),
    )
    port_by_hand(s, BY_PACKAGE["carts"])
    trace = (
        "    async def test_carts_needs_a_session(client: AsyncClient) -> None:\n"
        '>       assert (await client.get("/carts")).status_code == 401\n\n'
        "tests/carts/test_routes.py:16:\n"
        "services/auth/sessions.py:74: in optional_session\n"
        "    claims = read_access(token, settings.secret(), datetime.now(UTC))\n"
        "services/auth/settings.py:26: in secret\n"
        "    return self.secret_file.read_bytes().strip()\n"
        "E   FileNotFoundError: [Errno 2] No such file or directory: '/run/secrets/session_secret'\n\n"
        "tests/carts/test_routes.py:16: FileNotFoundError"
    )
    s.act(
        s.bash(
            "pytest -v tests/carts",
            "Exit code 1\n" + pytest_run(s.repo, tests("carts"), failing={"test_carts_needs_a_session": trace}),
            "Run the cart tests",
            error=True,
        )
    )
    s.act(
        s.write(
            "tests/conftest.py",
            '"""Settings that need nothing from the machine."""\n\nfrom __future__ import annotations\n\n'
            "from pathlib import Path\n\nimport pytest\n\nfrom services.auth.settings import Settings, get_settings\n"
            "from tests.app import app\n\n\n@pytest.fixture(autouse=True)\n"
            "def test_settings(tmp_path: Path) -> Settings:\n"
            '    secret = tmp_path / "session_secret"\n    secret.write_bytes(b"only for tests, and short lived")\n'
            '    settings = Settings("postgresql://harbour@db/test", 8080, secret, secure_cookies=False)\n'
            "    app.dependency_overrides[get_settings] = lambda: settings\n    return settings\n",
        ),
        say="The shop's tests have no secret file yet. A fixture for all tests.",
    )
    s.act(s.bash("pytest -v tests/carts", pytest_run(s.repo, tests("carts"), seconds=2.8), "Run the cart tests"))
    s.reply(
        "carts is moved: five edits in the routes, one in the tests. All tests of the package pass. The rest will be the same shape."
    )


def interrupted(s: ClaudeCode) -> None:
    s.user("wishlists.")
    s.act(s.read(routes("wishlists")), s.read(tests("wishlists")), s.read("services/wishlists/rules.py"))
    rename = Call(
        "Bash",
        {
            "command": "git mv services/wishlists services/wishes && git mv tests/wishlists tests/wishes && "
            "grep -rl wishlists services tests web | xargs sed -i 's/wishlists/wishes/g'",
            "description": "Rename the package to match its model",
        },
        "",
        "",
    )
    s.act(
        s.refused(rename),
        say="While I am here I will rename the package: the model is called Wish, so `wishes` would be the consistent name.",
    )
    s.interrupt(in_tool=True)
    s.user(
        "Stop. Don't rename anything, the URLs are printed on the paper catalogue. Only change how the user is found.",
        after=15,
    )
    port_by_hand(s, BY_PACKAGE["wishlists"])
    s.act(
        s.bash(
            "pytest -v tests/wishlists && git status --short",
            pytest_run(s.repo, tests("wishlists")) + "\n" + "\n".join(f" M {path}" for path in s.repo.changed()),
            "Test, and look at what changed",
        )
    )
    s.reply("Understood: no renames, the URLs stay. wishlists is moved and nothing else in it changed.")


def port_by_hand(s: ClaudeCode, domain: Domain) -> None:
    """The edits one service needs. The repository refuses an edit whose text is not there as often as expected."""
    path, text = routes(domain.package), s.repo.files[routes(domain.package)]
    handlers = text.count(OLD_CHECK)
    calls = [
        s.edit(path, OLD_IMPORT, NEW_IMPORT),
        s.edit(path, OLD_CHECK, "", handlers),
        s.edit(path, OLD_PARAMETER, NEW_PARAMETER, handlers),
        s.edit(path, 'UUID(user["id"])', "user.id", s.repo.files[path].count('UUID(user["id"])')),
    ]
    s.act(*calls)
    more = [
        s.edit(path, 'user["id"]', "user.id", s.repo.files[path].count('user["id"]')),
        s.edit(path, "HTTPException, Query, Request", "HTTPException, Query"),
    ]
    if domain.staff_only:
        more.append(s.edit(path, OLD_STAFF, NEW_STAFF))
    name = tests(domain.package)
    s.act(*more, s.edit(name, "cookie_for", "session_for", s.repo.files[name].count("cookie_for")))


def by_hand(s: ClaudeCode, package: str, request: str) -> None:
    s.user(request)
    s.act(
        s.read(routes(package)),
        s.read(f"services/{package}/repository.py"),
        s.read(tests(package)),
        s.read(f"services/{package}/rules.py"),
    )
    port_by_hand(s, BY_PACKAGE[package])
    s.act(
        s.bash(
            f"pytest -v tests/{package}",
            pytest_run(s.repo, tests(package), seconds=3.1),
            f"Run the tests of {package}",
            ticks=1,
        ),
        s.bash(f"git diff services/{package} tests/{package}", s.repo.diff(f"services/{package}"), "Read the diff"),
    )
    s.reply(
        f'{package} is moved; its tests pass. The staff listing asks `user.has("staff")`, which also lets admins in, as before.'
    )


def returns_with_a_bug(s: ClaudeCode) -> None:
    s.user(
        "returns, please. HARB-2203 is about the same file: the office says the refund of opened parcels is wrong after 30 days."
    )
    s.act(
        s.read(routes("returns")),
        s.read("services/returns/rules.py"),
        s.read(tests("returns")),
        s.read("services/returns/repository.py"),
    )
    port_by_hand(s, BY_PACKAGE["returns"])
    s.act(
        s.failed_edit(
            "services/returns/rules.py",
            "    return 50 if days_since_delivery < 60 and not opened else 0\n",
            "    return 50 if days_since_delivery < 60 else 0\n",
        )
    )
    s.act(
        s.grep("days_since_delivery", "services/returns/"), say="That was from memory. Let me look at the exact line."
    )
    s.act(
        s.bash(
            "grep -rn 'opened' docs/ --include=*.md",
            "docs/terms-of-sale.md:41:Opened packing: 90 per cent within 30 days, 40 per cent within 60 days.",
            "What do the terms of sale promise?",
        )
    )
    s.act(
        s.edit(
            "services/returns/rules.py",
            "    return 50 if days_since_delivery <= 60 and not opened else 0\n",
            "    if days_since_delivery <= 60:\n        return 40 if opened else 50\n    return 0\n",
        ),
        s.edit(tests("returns"), "(45, True, False, 0)", "(45, True, False, 40), (61, True, False, 0)"),
    )
    s.act(s.bash("pytest -v tests/returns", pytest_run(s.repo, tests("returns")), "Run the return tests"))
    s.reply(
        "returns is moved. HARB-2203: the terms of sale promise 40 per cent for opened parcels between 31 and 60 days, the code "
        "gave nothing. Fixed with a test at 45 and 61 days. It should be a commit of its own, with that ticket in the footer."
    )


def write_the_script(s: ClaudeCode) -> None:
    s.user("This is the fifth time the same edits. Write a small script for the rest, but one that I can read.")
    s.act(
        s.write(SCRIPT, SCRIPT_TEXT), think="The script must not be able to touch legacy/ (rule 2): refuse such a path."
    )
    s.act(
        s.bash(
            "python tools/port_routes.py carts && git diff --stat services/carts tools",
            "services/carts/routes.py: 0 places\n tools/port_routes.py | 44 +++++++++++",
            "On a service that is done it must change nothing",
        )
    )
    s.reply(
        "`tools/port_routes.py`: seven replacements, in place, with a count per service. On carts, which is already moved, it "
        "changes nothing. It refuses any path under `legacy/`."
    )


def by_script(s: ClaudeCode, packages: tuple[str, ...], request: str) -> None:
    s.user(request)
    s.act(
        *(s.read(routes(package)) for package in packages),
        *(s.read(f"services/{package}/rules.py") for package in packages),
    )
    counts = [f"services/{package}/routes.py: {_port(s.repo, package)} places" for package in packages]
    s.act(s.bash(f"python tools/port_routes.py {' '.join(packages)}", "\n".join(counts), "Run the script"))
    diff = "\n".join(s.repo.diff(f"services/{package}/") for package in packages)
    s.act(
        s.bash("git diff " + " ".join(f"services/{package}" for package in packages), diff, "Read the whole diff"),
        s.bash(
            "pytest -v " + " ".join(f"tests/{package}" for package in packages),
            pytest_run(s.repo, *(tests(package) for package in packages), seconds=5.5),
            "Run their tests",
            ticks=1,
        ),
    )
    s.reply(f"{', '.join(packages)}: moved, tests pass, and the diff holds only the seven replacements.")


def _port(repo: Repo, package: str) -> int:
    """What the script of the story does, on the story's repository."""
    path, changed = routes(package), 0
    for old, new in (
        (OLD_IMPORT, NEW_IMPORT),
        (OLD_CHECK, ""),
        (OLD_PARAMETER, NEW_PARAMETER),
        ("HTTPException, Query, Request", "HTTPException, Query"),
        ('UUID(user["id"])', "user.id"),
        ('user["id"]', "user.id"),
        (OLD_STAFF, NEW_STAFF),
    ):
        changed += repo.files[path].count(old)
        repo.files[path] = repo.files[path].replace(old, new)
    repo.files[tests(package)] = repo.files[tests(package)].replace("cookie_for", "session_for")
    return changed


def leftovers(s: ClaudeCode) -> None:
    s.user("Is anything left that imports the legacy cookie?")
    s.act(
        s.grep(r"legacy|current_user_from_cookie", suffix=".py"),
        s.bash("git status --short legacy/ && git diff --stat origin/main -- legacy/", "", "legacy/ must be untouched"),
    )
    s.act(s.bash("pytest -q tests", quiet_pytest(s.repo, "tests/", 41.8), "Run all Python tests", ticks=3))
    s.reply(
        "No service imports it any more. `legacy/` itself is byte for byte what it was (rule 2): its module stays for the "
        "warehouse terminals, only our imports of it are gone. All Python tests pass. I have not run `make check` yet, so I "
        "do not call the step done: the front end still speaks to the old cookie."
    )


def rate_limit(s: ClaudeCode) -> None:
    s.user(
        "Is /auth/refresh rate limited? It should be, per session and not per address: whole boarding houses share one."
    )
    s.act(s.grep("limiter", "services/auth/"), s.read("services/auth/rotation.py"))
    s.act(
        s.edit(
            "services/auth/routes.py",
            "    try:\n        rotated = await rotate(store, RefreshToken(presented))\n",
            "    token = RefreshToken(presented)\n"
            '    await limiter.hit(f"refresh:{await store.session_of(token.digest)}", per_minute=30)\n'
            "    try:\n        rotated = await rotate(store, token)\n",
        ),
        s.edit(
            "services/auth/routes.py",
            "    store: Annotated[Store, Depends(get_store)],\n"
            "    accounts: Annotated[Accounts, Depends(get_accounts)],\n"
            "    settings: Annotated[Settings, Depends(get_settings)],\n"
            ") -> None:\n"
            '    """The next',
            "    store: Annotated[Store, Depends(get_store)],\n"
            "    accounts: Annotated[Accounts, Depends(get_accounts)],\n"
            "    limiter: Annotated[Limiter, Depends(get_limiter)],\n"
            "    settings: Annotated[Settings, Depends(get_settings)],\n"
            ") -> None:\n"
            '    """The next',
        ),
        s.edit(
            "services/auth/store.py",
            "    async def mark_used(",
            "    async def session_of(self, digest: bytes) -> UUID | None:\n"
            "        found = await self._db.execute(\n"
            '            text("SELECT session_id FROM refresh_tokens WHERE digest = :digest LIMIT 1"), {"digest": digest}\n'
            "        )\n"
            "        return found.scalar()\n\n"
            "    async def mark_used(",
        ),
        think="The limiter writes its key to the log when it refuses. The key must not be the token or its digest (rule 1), so the session id.",
    )
    s.act(s.bash("pytest -q tests/auth", quiet_pytest(s.repo, "tests/auth/", 8.3), "Run the auth tests"))
    s.reply(
        "It was not. Now 30 a minute per session. The key of the limiter is the session id, because the limiter logs its key when it refuses."
    )

    s.user("And what did we say about the grace window, 5 or 10 seconds? I have to put it into the audit sheet.")
    s.reply(
        "5 seconds. I had proposed 10, you said that is too generous for the auditors; `GRACE` in `services/auth/rotation.py` is 5 s, with a test on the edge."
    )

    s.user("Does anything else still say bcrypt? The sheet wants that too.")
    s.act(
        s.grep("bcrypt|argon2"),
        s.bash(
            "git log --oneline -3",
            "f0c1d9a Merge campaign vouchers\n2b7aa01 Price history\n8d114e0 Stock: confirm a count",
            "Where are we on the branch",
        ),
    )
    s.reply("Only ADR 7, which you will supersede. The code has argon2id alone: 64 MiB, 3 passes, 1 lane.")
