# ruff: noqa: E501 (sentences of the story stay whole)
"""Chapter four of the overflowing session: the front end, a changed port, and the first `make check`."""

from __future__ import annotations

from collections.abc import Mapping

from samples.claude_code import ClaudeCode
from samples.domains import DOMAINS
from samples.outputs import compose_up, npm_ci, pytest_run, vitest_run

CALLS_API = ("carts", "orders", "returns", "payments", "vouchers", "messages", "shipments", "subscriptions")


def tell(s: ClaudeCode, written: Mapping[str, str]) -> None:
    front_end(s, written)
    other_port(s)
    make_check(s)


def front_end(s: ClaudeCode, written: Mapping[str, str]) -> None:
    s.user(
        "On to the front end. A customer must never see the sign-in page because an access token ran out.", after=64_000
    )
    s.forget_cache()
    s.act(
        s.read("web/src/auth/session.ts"),
        s.read("web/src/auth/useSession.tsx"),
        s.read("web/src/auth/http.ts"),
        s.read("web/package.json"),
    )
    s.act(
        s.task(
            "Find direct fetch calls",
            "List every place in web/src that calls fetch() itself instead of going through auth/http.ts. Only report, change nothing.",
            "Two places call fetch themselves, both in `web/src/auth/session.ts` (`load`, `signIn`, `signOut`), which is right: they "
            "must not retry. All clients under `web/src/api/` go through `http()`. `web/src/api/carts.ts` is the only one that is "
            "called before the session is known.",
        ),
        say="I'll have the direct calls of fetch looked up while I write the refresh.",
    )
    s.act(s.write("web/src/auth/refresh.ts", written["web/src/auth/refresh.ts"]))
    s.act(
        s.edit(
            "web/src/auth/http.ts",
            "/** The one place where the front end talks HTTP. */\n",
            '/** The one place where the front end talks HTTP. */\n\nimport { refresh } from "./refresh";\n',
        ),
        s.edit(
            "web/src/auth/http.ts",
            "export async function http<T>(path: string, call: Call = {}): Promise<T> {\n  const answer = await fetch(",
            "async function send(path: string, call: Call): Promise<Response> {\n  return fetch(",
        ),
        s.edit(
            "web/src/auth/http.ts",
            "    signal: call.signal,\n  });\n  if (answer.status === 401) {\n",
            "    signal: call.signal,\n  });\n}\n\n"
            "export async function http<T>(path: string, call: Call = {}): Promise<T> {\n"
            "  let answer = await send(path, call);\n"
            "  if (answer.status === 401 && (await refresh())) {\n"
            "    answer = await send(path, call);\n  }\n"
            "  if (answer.status === 401) {\n",
        ),
    )
    failure = (
        ' FAIL  src/auth/refresh.test.ts > refresh > asks once for ten callers\nAssertionError: expected "spy" to be called 1 times, '
        "but got 10 times\n ❯ src/auth/refresh.test.ts:14:22\n     12|   const all = await Promise.all(Array.from({ length: 10 }, refresh));\n"
        "     13|   expect(all.every(Boolean)).toBe(true);\n     14|   expect(fetchSpy).toHaveBeenCalledTimes(1);\n       |                      ^"
    )
    counts = {f"src/api/{d.package}.test.ts": 4 for d in DOMAINS} | {"src/auth/session.test.ts": 7}
    s.act(s.bash("cd web && npm ci", npm_ci(), "Install the web dependencies"))
    s.act(
        s.write(
            "web/src/auth/refresh.test.ts",
            'import { afterEach, expect, it, vi } from "vitest";\nimport { refresh } from "./refresh";\n\n'
            "afterEach(() => vi.unstubAllGlobals());\n\n"
            'it("asks once for ten callers", async () => {\n  const fetchSpy = vi.fn(async () => new Response(null, { status: 204 }));\n'
            '  vi.stubGlobal("fetch", fetchSpy);\n  const all = await Promise.all(Array.from({ length: 10 }, refresh));\n'
            "  expect(all.every(Boolean)).toBe(true);\n  expect(fetchSpy).toHaveBeenCalledTimes(1);\n});\n\n"
            'it("asks again after an answer", async () => {\n  const fetchSpy = vi.fn(async () => new Response(null, { status: 401 }));\n'
            '  vi.stubGlobal("fetch", fetchSpy);\n  expect(await refresh()).toBe(false);\n  expect(await refresh()).toBe(false);\n'
            "  expect(fetchSpy).toHaveBeenCalledTimes(2);\n});\n",
        ),
        s.bash(
            "cd web && npm test -- --run",
            "Exit code 1\n" + vitest_run(counts, failure),
            "Run the web tests",
            error=True,
            ticks=1,
        ),
    )
    s.act(
        s.edit(
            "web/src/auth/refresh.test.ts",
            "afterEach(() => vi.unstubAllGlobals());\n",
            "afterEach(() => {\n  vi.unstubAllGlobals();\n  vi.resetModules();\n});\n",
        ),
        s.edit(
            "web/src/auth/refresh.ts",
            "  running ??= once().finally(() => {\n    running = null;\n  });\n  return running;\n",
            "  if (running === null) {\n    running = once().finally(() => {\n      running = null;\n    });\n  }\n  return running;\n",
        ),
        say="The test transformer targets ES2019 and splits `??=` around the call. Plain `if` is as short.",
    )
    s.act(
        s.bash("cd web && npm test -- --run", vitest_run(counts | {"src/auth/refresh.test.ts": 2}), "Run the web tests")
    )
    s.reply(
        "The front end refreshes once on a 401 and repeats the call; ten callers share one request, and `navigator.locks` makes "
        "that hold over tabs. A 409 (`busy`, inside the 5 s grace window) is not handled yet, I would let `refresh()` wait 300 ms and ask again."
    )

    s.user("Yes, once, not in a loop. And check the api clients, some of them predate http.ts.")
    s.act(
        s.edit(
            "web/src/auth/refresh.ts",
            "  return answer.status === 204;\n}\n",
            "  if (answer.status !== 409) return answer.status === 204;\n"
            "  await new Promise((resolve) => setTimeout(resolve, 300));\n"
            '  const again = await fetch("/api/auth/refresh", { method: "POST", credentials: "include" });\n'
            "  return again.status === 204;\n}\n",
        )
    )
    s.act(*(s.read(f"web/src/api/{package}.ts") for package in CALLS_API[:4]))
    s.act(*(s.read(f"web/src/api/{package}.ts") for package in CALLS_API[4:]))
    s.act(
        s.bash(
            "cd web && npm run build",
            "Exit code 2\n> harbour-web@4.12.0 build\n> tsc --noEmit && vite build\n\n"
            "src/auth/refresh.ts(29,3): error TS2322: Type 'Promise<boolean> | null' is not assignable to type 'Promise<boolean>'.\n"
            "  Type 'null' is not assignable to type 'Promise<boolean>'.\n",
            "Build the front end",
            error=True,
        )
    )
    s.act(
        s.read("web/src/auth/refresh.ts"),
        say="That one is mine: the compiler forgets what `if` proved, because `running` may change.",
    )
    s.act(
        s.edit(
            "web/src/auth/refresh.ts",
            "  if (running === null) {\n    running = once().finally(() => {\n      running = null;\n    });\n  }\n  return running;\n",
            "  const asked = running ?? once().finally(() => (running = null));\n  running = asked;\n  return asked;\n",
        )
    )
    s.act(
        s.bash(
            "cd web && npm run build",
            "> harbour-web@4.12.0 build\n> tsc --noEmit && vite build\n\nvite v5.4.2 building for production...\n"
            "✓ 318 modules transformed.\ndist/index.html                   0.61 kB │ gzip:  0.38 kB\n"
            "dist/assets/index-c41b7d02.css   31.80 kB │ gzip:  7.12 kB\ndist/assets/index-9f2e77aa.js   298.44 kB │ gzip: 94.03 kB\n"
            "✓ built in 3.02s",
            "Build again",
        )
    )
    s.reply(
        "All eight clients go through `http()`. The build is clean again; a busy refresh waits 300 ms and asks once more."
    )


def other_port(s: ClaudeCode) -> None:
    s.user(
        "Correction to what CLAUDE.md says: auth has to listen on port 8081, not 8080. The metrics sidecar shares its network "
        "namespace and has taken 8080 since Friday. Change it everywhere except in legacy/, of course.",
        hook=True,
    )
    s.act(s.grep("8080"), s.read("docker-compose.yml"), s.read("services/auth/settings.py"))
    s.act(
        s.edit("docker-compose.yml", "http://auth:8080", "http://auth:8081", 2),
        s.edit("docker-compose.yml", 'AUTH_PORT: "8080"', 'AUTH_PORT: "8081"'),
        s.edit("services/auth/settings.py", '"AUTH_PORT", "8080"', '"AUTH_PORT", "8081"'),
        s.edit("tests/conftest.py", 'test", 8080', 'test", 8081'),
        s.edit(
            "CLAUDE.md",
            "auth listens on 8080 inside the network",
            "auth listens on 8081 inside the network (8080 is the metrics sidecar)",
        ),
    )
    s.act(
        s.bash(
            "docker compose up -d --build auth shop gateway",
            compose_up("auth", "shop", "gateway"),
            "Build and start",
            ticks=3,
        ),
        s.bash(
            "curl -fsS http://localhost:8081/healthz; curl -sS -o /dev/null -w '%{http_code}\\n' http://localhost:8080/metrics",
            '{"status":"ok"}200',
            "Ask both ports",
        ),
    )
    s.reply(
        "auth listens on 8081 everywhere (compose, settings, tests, CLAUDE.md); 8080 answers as the metrics sidecar. `legacy/` holds no port."
    )


def make_check(s: ClaudeCode) -> None:
    s.user("Then run make check, we have not done that for a while.")
    s.act(
        s.bash(
            "make check",
            "Exit code 2\nruff check services tests migrations\n"
            + "\n".join(
                f"services/{d.package}/routes.py:3:1: I001 [*] Import block is un-sorted or un-formatted"
                for d in DOMAINS
            )
            + "\nservices/auth/rotation.py:8:22: F401 [*] `datetime.timedelta` imported but unused\n"
            "tests/auth/test_passwords.py:1:1: D205 1 blank line required between summary line and description\n"
            f"Found {len(DOMAINS) + 2} errors.\n[*] {len(DOMAINS) + 1} fixable with the `--fix` option.\nmake: *** [Makefile:9: lint] Error 1",
            "The full check",
            error=True,
            ticks=2,
        )
    )
    s.act(
        s.bash(
            "ruff check --fix services tests migrations && ruff format services tests",
            f"Found {len(DOMAINS) + 2} errors "
            f"({len(DOMAINS) + 2} fixed, 0 remaining).\n14 files reformatted, 77 files left unchanged",
            "Fix what can be fixed",
        ),
        say="Import order from the script, mostly.",
    )
    errors = "\n".join(
        f'services/{d.package}/routes.py:{90 + 3 * n}: error: Argument "by" to "{d.action}" of "{d.model}Repository" has incompatible '
        f'type "SessionUser"; expected "UUID"  [arg-type]'
        for n, d in enumerate(DOMAINS[6:9])
    )
    s.act(
        s.bash(
            "make check",
            f"Exit code 2\nruff check services tests migrations\nAll checks passed!\nmypy services\n{errors}\n"
            "Found 3 errors in 3 files (checked 94 source files)\nmake: *** [Makefile:13: types] Error 1",
            "Again",
            error=True,
            ticks=2,
        )
    )
    s.act(*(s.read(f"services/{d.package}/routes.py", 84, 40) for d in DOMAINS[6:9]))
    s.act(
        s.bash(
            "make check",
            "ruff check services tests migrations\nAll checks passed!\nruff format --check services tests migrations\n91 files already "
            "formatted\nmypy services\nSuccess: no issues found in 94 source files\npytest -q tests/.\n"
            + pytest_run(s.repo, *(f"tests/{d.package}/test_routes.py" for d in DOMAINS), seconds=44.1)
            + "\ncd web && npm run --silent lint && npm run --silent test -- --run && npm run --silent build\n"
            + vitest_run(
                {f"src/api/{d.package}.test.ts": 4 for d in DOMAINS}
                | {"src/auth/session.test.ts": 7, "src/auth/refresh.test.ts": 2}
            )
            + "\n✓ built in 3.11s",
            "Once more, after a clean mypy cache",
            ticks=4,
        )
    )
    s.reply(
        "`make check` passes. It found 14 lint errors (import order after the script) and three type errors that were only a stale "
        "mypy cache. By your third rule I can now call the move of the services done."
    )
