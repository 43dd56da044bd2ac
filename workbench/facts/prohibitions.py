"""Exact prohibitions in a rule: "Never run `git push --force`", "Do not edit anything under vendor/", "pnpm, not npm".

Only a clause that names a command, flag, tool, path or branch, and nothing else, is exact. A condition or an exception
in the rule ("unless", "without asking", "in watch mode") leaves open whether a call breaks it, so such a rule has no
exact prohibition. English only; a name must stand in code quotes, or be a well-known program, a flag or a path.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from msgspec import Struct

from workbench.base.session_caches import session_cache
from workbench.facts.tools import FILE_ENDINGS
from workbench.facts.wording import LONGEST_SENTENCE

Forbids = Literal["run", "flag", "tool", "commit", "push", "write", "touch", "delete", "read"]
"""Forbidden actions: to run a command, to pass a flag, to call a tool, to commit or push to a branch, or to write,
change in any way, delete or read a path."""


class Prohibition(Struct, frozen=True):
    """A thing that a rule forbids: a command line, flag, tool, branch or path. `by_hand`: shell commands may do it."""

    forbids: Forbids
    name: str
    by_hand: bool = False


@session_cache(4_096)
def prohibitions(rule: str) -> tuple[Prohibition, ...]:
    """Return the exact prohibitions of a rule in order, each once; () for most rules, and for a longer text than a
    sentence, such as a marked passage."""
    if len(rule) > LONGEST_SENTENCE:
        return ()
    plain = _EMPHASIS.sub(lambda one: one[1] or "", " ".join(rule.replace("’", "'").split()))
    if has_condition(plain):
        return ()
    found = [
        one
        for form in _FORMS
        for match in form.opening.finditer(plain)
        if _speaks_to_agent(plain[: match.start()])
        for name in _names(form, plain, match.end())
        for one in form.of_name(match["verb"].lower(), name)
    ]
    return tuple(dict.fromkeys(found))


def has_condition(text: str) -> bool:
    """Return whether words outside code quotes limit a rule, or may permit what it forbids."""
    return _CONDITION.search(_CODE.sub("`…`", text)) is not None


_CODE = re.compile(r"`[^`\n]+`")
_EMPHASIS = re.compile(r"(`[^`]*`)|\*\*|__")
_CONDITION = re.compile(
    r"\b(?:unless|except\w*|apart from|other than|aside from|without|until|till|if|when\w*|while|before|after|during|"
    r"only \w+|ask\w*|permi\w+|approv\w+|confirm\w*|allowed to|explicitly|proactive\w*|outside|by default|normally|"
    r"usually|generally|where\w*|possible|yet|for now|first|instead of that|alone|too (?:much|many|often)|more than|"
    r"may|might|can|could|fine|ok|okay|sometimes|example|e\.g\.|optional\w*|prefer\w*)\b(?! circumstances)",
    re.IGNORECASE,
)

# --- names ------------------------------------------------------------------------------------------------------------

_PROGRAMS = (
    "npm|npx|yarn|pnpm|bun|bunx|deno|pip|pip3|pipx|pipenv|poetry|uv|conda|mamba|brew|apt|apt-get|cargo|gem|composer|"
    "git|gh|svn|hg|docker|podman|docker-compose|kubectl|helm|terraform|pulumi|ansible|aws|gcloud|az|heroku|vercel|"
    "grep|egrep|fgrep|rg|ag|sed|awk|perl|curl|wget|rm|mv|chmod|chown|nano|vim|emacs|tail|jest|vitest|mocha|"
    "pytest|tox|nox|eslint|prettier|black|ruff|flake8|isort|mypy|pyright|tsc|tsx|ts-node|webpack|vite|gradle|mvn|bazel|"
    "make|cmake|xcodebuild|systemctl|killall|pkill|psql|mysql|sqlite3|redis-cli|rails|rake|bundle|mix|dotnet"
)
"""Programs that are known without code quotes. Names that are also functions or words of a language are left out."""

_LINK = r"(?:\s*,\s*(?:or |and |nor )?|\s+(?:or|and|nor)\s+|\s*/\s*)(?:the )?"
_END = (
    r"(?:(?:,? or)? (?:directly|here|again|any ?more|at all|ever|please|manually|yourself|for any reason|any other way|"
    r"under any circumstances|anything else|similar|the like|"
    r"in (?:this|the) (?:repo|repository|project|codebase|workspace|session)))*"
    r"(?=[.!;)*]*$|[.!;] |[.!]?\) | [-–—] | \(|,? (?:because|since|as (?:it|they)|so|use|always use|just use)\b"
    r"|, (?:never|it|they|this|that|we|code|everything|all)\b)"
)
"""End of a clause. Anything else after a name ("in watch mode") is a condition."""

_COMMAND = (
    rf"(?:`[^`]+`|--[a-zA-Z][\w-]+|(?:any |a )?sub-?agents?\b|[\w-]+(?= tools?\b)|(?:{_PROGRAMS})\b"
    rf"(?: (?!(?:in|on|for|with|to|as|at|by|from|of)\b)[\w./@:=-]*[\w/]){{0,5}}?)"
    rf"(?: (?:tools?|commands?|cli|flags?|options?|package manager))?(?={_LINK}|{_END})"
)
_OBJECTS = (
    r"(?:(?:any(?:thing)?|the|all|existing|generated|vendored|files?|code|contents?|of|in|into|to|under|inside|within|"
    r"below|from|everything|stuff|folders?|director(?:y|ies)) )*"
)
_PATH = (
    rf"{_OBJECTS}(?:`[^`\s]+`|(?:~?/)?(?:[\w.@*-]+/)+(?:[\w.@*-]*[\w*])?|~?/[\w.@*-]+|[\w-][\w.-]*\.(?:{FILE_ENDINGS}|json|env)\b|\.env\b)"
    rf"(?: (?:folders?|director(?:y|ies)|files?))?(?={_LINK}|{_END})"
)
_BRANCH = r"`?(?:main|master|trunk|develop|dev|production|prod|staging)`?(?: branch(?:es)?)?"

_FROM = r"from now on|in this (?:repo|repository|project|codebase|session)|here"
_NOT = (
    r"(?:\b(?:you|we|agents?|claude|codex) )?\b(?:(?:must|should|shall) (?:never|not)|never|(?:must|should)n't|"
    r"(?:please )?(?:do not|don't|dont))(?: (?:ever|directly|manually(?! edit)|just|please))*"
)
_USE = r"(?:run|use|call|execute|invoke|launch|pass|add)"
_EDIT = (
    r"(?:(?:hand-?|manually )?edit|modify|change|alter|update|touch|"
    r"overwrite|write|create|delete|remove|read|open|view)"
)


def _names(form: _Form, text: str, at: int) -> Sequence[str]:
    """Return the names in a list at `at`; () if anything else than names stands there, up to the end of the clause."""
    found: list[str] = []
    while item := form.item.match(text, at):
        found.append(item[0])
        at = item.end()
        link = _LINKS.match(text, at)
        if link is None or not form.item.match(text, link.end()):
            return found if _ENDS.match(text, at) else ()
        at = link.end()
    return ()


_ENDS, _LINKS = re.compile(_END, re.IGNORECASE), re.compile(_LINK, re.IGNORECASE)


def _speaks_to_agent(before: str) -> bool:
    """Return whether the words before a clause make it an order to the agent, unlike "Cars commit and never push"."""
    start = re.split(r"[.!;:(] | [-–—] ", before)[-1].strip("*_- ")
    return not start or _IMPERATIVE.match(start) is not None


_IMPERATIVE = re.compile(
    r"(?:always|use|run|keep|stage|let|please|make|create|work|commit|push|write|treat|stick|do|never|don't|remember|"
    rf"note|important|you|we|also|and|but|{_FROM})\b",
    re.IGNORECASE,
)


def _command(verb: str, item: str) -> Iterator[Prohibition]:
    """Yield the prohibition of a command, flag or tool."""
    name = _KIND.sub("", item).strip("` ")
    if name.startswith("-"):
        if re.fullmatch(r"--[a-zA-Z][\w-]+", name):
            yield Prohibition("flag", name)
    elif re.fullmatch(r"(?:any |a )?sub-?agents?", name, re.IGNORECASE):
        yield Prohibition("tool", "subagent")
    elif re.search(r" tools?$", item) or re.fullmatch(r"[A-Z][a-z]+(?:[A-Z][a-z]+)+|[a-z]+(?:__?[a-z]+)+", name):
        yield Prohibition("tool", name)
    elif not re.search(r"[<>|;&$(){}\[\]…*]|\.\.\.", name):
        known = re.match(rf"(?:{_PROGRAMS})(?![\w.-])", name) is not None
        own = item.startswith("`") and (" " in name or verb in ("run", "execute", "launch"))
        if known or (own and re.fullmatch(r"[\w./-]+(?: \S+)*", name)):
            yield Prohibition("run", f"{name} install" if verb.startswith("install") else name)


_KIND = re.compile(r" (?:tools?|commands?|cli|flags?|options?|package manager)$", re.IGNORECASE)


def _path(verb: str, item: str) -> Iterator[Prohibition]:
    name = re.sub(rf"^{_OBJECTS}| (?:folders?|director(?:y|ies)|files?)$", "", item, flags=re.IGNORECASE)
    name = name.strip("`").removeprefix("./")
    if re.search(r"[<>|;&$(){}\[\]…]|\.\.\.|^[/~]?[*.]*$", name) or not re.search(r"[/.*]", name):
        return
    for one in re.findall(r"[\w-]+(?: edit)?", verb):
        if kind := _CHANGES.get(one.replace("-", "").replace(" ", "")):
            yield Prohibition(kind, name, by_hand="hand" in one or "manually" in one)


_CHANGES: dict[str, Forbids] = {
    **dict.fromkeys(("edit", "handedit", "manuallyedit", "modify", "change", "alter", "update"), "write"),
    **dict.fromkeys(("overwrite", "write", "create"), "write"),
    **dict.fromkeys(("delete", "remove"), "delete"),
    **dict.fromkeys(("read", "open", "view"), "read"),
    "touch": "touch",
}  # fmt: skip


def _branch(verb: str, item: str) -> Iterator[Prohibition]:
    name = re.sub(r" branch(?:es)?$", "", item).strip("`")
    yield from (Prohibition("push" if "push" in one else "commit", name) for one in re.findall(r"commit|push", verb))


def _git(verb: str, item: str) -> Iterator[Prohibition]:
    for one in re.findall(r"force[- ]push|commit|push|amend|rebase|stash", verb):
        yield Prohibition("run", _GIT.get(one.replace("-", " "), f"git {one}"))


_GIT = {"force push": "git push --force", "amend": "git commit --amend"}


class _Form(Struct, frozen=True):
    """Words before a list of names, the pattern of a name, and the prohibitions of a name by verb."""

    opening: re.Pattern[str]
    item: re.Pattern[str]
    of_name: Callable[[str, str], Iterator[Prohibition]]


_FORMS = tuple(
    _Form(re.compile(opening, re.IGNORECASE), re.compile(item, re.IGNORECASE), of_name)
    for opening, item, of_name in (
        (rf"{_NOT} (?P<verb>{_USE}(?:,? or {_USE})?):? (?:the )?", _COMMAND, _command),
        (rf"{_NOT} (?:try to )?(?P<verb>install)\b[\w ]{{0,30}} (?:with|using|via|through) ", _COMMAND, _command),
        (rf"(?:^|[.;:—–-] |\b(?:we|you|always|please|{_FROM}),? )(?:use|run) (?:`[^`]+`|[\w-]+),? \(?"
         r"(?P<verb>not|never|instead of|rather than) ", _COMMAND, _command),
        (r"^(?P<verb>no) ", _COMMAND, _command),
        (rf"{_NOT} (?P<verb>{_EDIT}(?:(?:,? or |, | and ){_EDIT})*):? ", _PATH, _path),
        (rf"{_NOT} (?P<verb>commit(?: or push)?|push(?: or commit)?|force[- ]push)(?: anything| changes| code| work)?"
         r"(?: directly| straight)? (?:to|on|onto)(?: the)? ", _BRANCH, _branch),
        (rf"{_NOT} (?P<verb>commit(?: (?:or|and) push)?|push(?: (?:or|and) commit)?|force[- ]push|amend|rebase)"
         r"(?: anything| (?:any )?commits| (?:any |your )?changes)?", f"(?={_END})", _git),
    )
)  # fmt: skip
