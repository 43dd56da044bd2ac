"""Exact prohibitions in rules, and the rules that have none."""

from __future__ import annotations

import pytest

from workbench.facts.prohibitions import prohibitions


@pytest.mark.parametrize(
    ("rule", "found"),
    [
        ("Never run `git push --force`.", ["run git push --force"]),
        ("Never use git push --force or git reset --hard.", ["run git push --force", "run git reset --hard"]),
        ("Never force-push.", ["run git push --force"]),
        ("Don't commit or push anything.", ["run git commit", "run git push"]),
        ("NEVER run: `npm run dev`, `npm run build`", ["run npm run dev", "run npm run build"]),
        ("Use pnpm, not npm", ["run npm"]),
        ("We use `uv` instead of pip.", ["run pip"]),
        ("Use yarn (not npm).", ["run npm"]),
        ("Always use egrep, never use grep!", ["run grep"]),
        ("You must never run `helm upgrade` or `helm uninstall`.", ["run helm upgrade", "run helm uninstall"]),
        ("Do not install things with `pip`, `conda`, or any other way.", ["run pip install", "run conda install"]),
        ("Never run `deploy`, it hangs", ["run deploy"]),
        ("Never launch `deploy`.", ["run deploy"]),
        ("Never execute `deploy`.", ["run deploy"]),
        ("Never call `deploy all`.", ["run deploy all"]),
        ("Use `make ship` instead of ` deploy all `.", ["run deploy all"]),
        ("- *Note*: never run `deploy`.", ["run deploy"]),
        ("Never run `if`, it hangs", ["run if"]),
        ("**Never use `--headed`** — no display server available", ["flag --headed"]),
        ("Do NOT use a subagent.", ["tool subagent"]),
        ("Never launch any Sub-Agents.", ["tool subagent"]),
        ("Never use the WebSearch tool.", ["tool WebSearch"]),
        ("Never use the Bash tool or the Task tool.", ["tool Bash", "tool Task"]),
        ("Do not call `web_search`.", ["tool web_search"]),
        ("Do not edit anything under vendor/", ["write vendor/"]),
        ("Don't touch the legacy/ folder.", ["touch legacy/"]),
        ("IMPORTANT: never edit files under `src/gen/**`!", ["write src/gen/**"]),
        ("Do not modify `package.json`, or files in `dist/`.", ["write package.json", "write dist/"]),
        ("Never delete `data/prod.db`.", ["delete data/prod.db"]),
        ("Don't read .env", ["read .env"]),
        ("Never touch or manually edit `a.lock`.", ["touch a.lock", "write a.lock by hand"]),
        ("Never manually edit `a.lock`.", ["write a.lock by hand"]),
        ("Never touch, delete or read `./a.lock`.", ["touch a.lock", "delete a.lock", "read a.lock"]),
        ("Let ESLint catch it, and do not hand-edit files in `out/`.", ["write out/ by hand"]),
        ("**Never commit to `main`.**", ["commit main"]),
        ("Never commit to the main branch.", ["commit main"]),
        ("Never push to `main` or the staging branches.", ["push main", "push staging"]),
        ("Stage explicit paths only, and never push directly to main or master.", ["push main", "push master"]),
    ],
)  # fmt: skip
def test_a_rule_that_names_what_is_forbidden(rule: str, found: list[str]) -> None:
    texts = [f"{one.forbids} {one.name}{' by hand' if one.by_hand else ''}" for one in prohibitions(rule)]
    assert texts == found


@pytest.mark.parametrize(
    "rule",
    [
        "Never commit to main without asking.",
        "NEVER commit unless the user asks.",
        "Do not use `git stash` on shared checkouts.",
        "Never use vitest in watch mode.",
        "When you test the CLI, never use `npm`.",
        "Do not commit yet.",
        "Never run npm, pip in watch mode.",
        "Don't edit files outside of src/",
        "Cars commit locally and never push; the conductor merges.",
        "Research workers must not run `bun install`.",
        "Don't use `eval`.",
        "Use `id` instead of `name`.",
        "Never use `any` when a proper type exists.",
        "Never run `npm install <package>`.",
        "Do not modify tests.",
        "Always run `npm test`.",
        "Benutze nie `npm`.",
        "Never use `npm`. " + "It breaks the lock file of the shop. " * 20,
    ],
)
def test_a_rule_that_leaves_it_open(rule: str) -> None:
    assert prohibitions(rule) == ()
