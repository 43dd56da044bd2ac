"""What commands print in the stories: test runs, logs, builds. Worked out from the story's files where they matter."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from random import Random

from samples.repo import Repo
from samples.text import Ids

_TEST = re.compile(r"^(?:async )?def (test_\w+)", re.M)
_WEB_TEST = re.compile(r"\b(?:it|test)\(\"([^\"]+)\"", re.M)


def pytest_run(repo: Repo, *paths: str, failing: Mapping[str, str] | None = None, seconds: float = 3.4) -> str:
    """`pytest -v` over test files; `failing` maps the name of a test to its traceback."""
    failing = failing or {}
    cases = [(path, name) for path in paths for name in _TEST.findall(repo.files[path])]
    lines = [
        "============================= test session starts ==============================",
        "platform linux -- Python 3.12.3, pytest-8.3.2, pluggy-1.5.0 -- /home/dana/harbour/.venv/bin/python",
        "rootdir: /home/dana/harbour",
        "configfile: pyproject.toml",
        "plugins: asyncio-0.24.0, anyio-4.4.0",
        f"collecting ... collected {len(cases)} items",
        "",
    ]
    for number, (path, name) in enumerate(cases, 1):
        verdict = "FAILED" if name in failing else "PASSED"
        share = f"[{number * 100 // len(cases):>3}%]"
        lines.append(f"{path}::{name} {verdict}".ljust(100) + share)
    lines.append("")
    if failing:
        lines.append("=================================== FAILURES ===================================")
        for name, trace in failing.items():
            lines += [f"{' ' + name + ' ':_^80}", "", trace, ""]
        lines.append("=========================== short test summary info ============================")
        where = {name: path for path, name in cases}
        for name, trace in failing.items():
            lines.append(f"FAILED {where[name]}::{name} - {_last_error(trace)}")
    passed = len(cases) - len(failing)
    total = f"{len(failing)} failed, {passed} passed" if failing else f"{passed} passed"
    lines.append(f"{' ' + total + f' in {seconds:.2f}s ':=^80}")
    return "\n".join(lines)


def _last_error(trace: str) -> str:
    errors = [line[1:].strip() for line in trace.splitlines() if line.startswith("E ")]
    return errors[0] if errors else "error"


def quiet_pytest(repo: Repo, under: str, seconds: float) -> str:
    """`pytest -q` over a folder: dots per file."""
    lines, total = [], 0
    for path in sorted(p for p in repo.files if p.startswith(under) and "/test_" in p):
        count = len(_TEST.findall(repo.files[path]))
        total += count
        lines.append(f"{path} {'.' * count}")
    return "\n".join([*lines, "", f"{total} passed in {seconds:.2f}s"])


def vitest_run(files: Mapping[str, int], failed: str = "") -> str:
    """A Vitest run: tests per file, and the text of a failure."""
    lines = [" RUN  v2.0.5 /home/dana/harbour/web", ""]
    for name, count in files.items():
        lines.append(f" ✓ {name} ({count} tests) {7 * count + len(name)}ms")
    total = sum(files.values())
    if failed:
        lines += ["", "⎯⎯⎯⎯⎯⎯⎯ Failed Tests 1 ⎯⎯⎯⎯⎯⎯⎯", "", failed, "", f" Test Files  1 failed | {len(files)} passed"]
        lines.append(f"      Tests  1 failed | {total} passed ({total + 1})")
    else:
        lines += ["", f" Test Files  {len(files)} passed ({len(files)})", f"      Tests  {total} passed ({total})"]
    return "\n".join([*lines, "   Duration  2.41s"])


def auth_log(seed: int, start: str, *, pace: float, reuse: bool) -> Iterator[str]:
    """The auth service's log without an end, a line each `pace` seconds or so.

    With `reuse`, sessions end because two tabs refresh at once.
    """
    random, ids = Random(seed), Ids(seed)
    moment = datetime.fromisoformat(start).replace(tzinfo=UTC)
    sessions = [(ids.uuid(), ids.uuid(), random.choice(_BROWSERS)) for _ in range(40)]
    while True:
        moment += timedelta(milliseconds=random.randrange(15, round(2000 * pace)))
        stamp = moment.strftime("%Y-%m-%d %H:%M:%S,") + f"{moment.microsecond // 1000:03d}"
        session, account, browser = random.choice(sessions)
        dice = random.random()
        if dice < 0.42:
            took = random.randrange(3, 41)
            generation = random.randrange(1, 190)
            yield (
                f"{stamp} INFO harbour.auth.rotation session {session} refreshed, generation {generation}, "
                f"account {account}, {took} ms"
            )
        elif dice < 0.55:
            yield f"{stamp} INFO harbour.auth.sessions session {session} started for account {account} ({browser})"
        elif dice < 0.68:
            late = random.randrange(1, 600)
            yield f"{stamp} INFO harbour.auth.sessions no session: access token expired {late} s ago"
        elif dice < 0.80:
            yield f"{stamp} DEBUG harbour.auth.store pool size=10 in_use={random.randrange(1, 10)} waited_ms=0"
        elif dice < 0.87:
            yield f"{stamp} INFO uvicorn.health GET /healthz 200 {random.randrange(1, 4)} ms"
        elif dice < 0.92:
            yield f"{stamp} WARNING harbour.auth.routes sign-in refused for account {account}: wrong password"
        elif reuse:
            gap = random.randrange(8, 900)
            yield (
                f"{stamp} INFO harbour.auth.rotation session {session} refreshed, generation 7, account {account}, 9 ms"
            )
            moment += timedelta(milliseconds=gap)
            again = moment.strftime("%Y-%m-%d %H:%M:%S,") + f"{moment.microsecond // 1000:03d}"
            yield (
                f"{again} WARNING harbour.auth.rotation refresh token reused, session {session} revoked "
                f"(previous use {gap} ms ago, same address, {browser})"
            )
            yield f"{again} INFO harbour.gateway POST /api/auth/refresh 401 reason=reused session={session}"
        else:
            yield (
                f"{stamp} INFO harbour.gateway POST /api/auth/refresh 204 {random.randrange(6, 60)} ms "
                f"session={session} upstream=auth:8081"
            )


_BROWSERS = ("Firefox on Linux", "Firefox on Windows", "Safari on a phone", "Chrome on Windows", "warehouse terminal")


def take(lines: Iterator[str], count: int) -> str:
    return "\n".join(next(lines) for _ in range(count))


def npm_ci() -> str:
    return (
        "npm warn deprecated inflight@1.0.6: This module is not supported, and leaks memory.\n"
        "npm warn deprecated glob@7.2.3: Glob versions prior to v9 are no longer supported\n\n"
        "added 412 packages, and audited 413 packages in 9s\n\n"
        "98 packages are looking for funding\n  run `npm fund` for details\n\nfound 0 vulnerabilities"
    )


def compose_up(*services: str) -> str:
    lines = [f"[+] Building 14.2s ({len(services) * 9}/{len(services) * 9}) FINISHED"]
    steps = (
        "load build definition from Dockerfile",
        "load metadata for python:3.12-slim",
        "COPY pyproject.toml uv.lock ./",
        "RUN uv sync --frozen --no-dev",
        "COPY services services",
        "COPY legacy legacy",
        "exporting to image",
    )
    for service in services:
        for number, step in enumerate(steps, 1):
            state = "CACHED" if number in (3, 4) else f"{number * 0.3:.1f}s"
            lines.append(f" => [{service} {number}/{len(steps)}] {step}".ljust(78) + state)
    lines.append(f"[+] Running {len(services)}/{len(services)}")
    lines += [f" ✔ Container harbour-{service}-1  Started".ljust(78) + "0.8s" for service in services]
    return "\n".join(lines)
