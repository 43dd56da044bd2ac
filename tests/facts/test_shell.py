"""What command lines do to files, and of which status says whether a check passed."""

from __future__ import annotations

import pytest

from tests.facts.talk import agent, call, ran, result
from workbench.facts import powershell
from workbench.facts.all_facts import find_facts
from workbench.facts.calls import calls_in, is_check
from workbench.facts.shell import effects, views
from workbench.facts.shell_lines import MAX_LINE_CHARS, commands_of, simple_commands, status_covers
from workbench.session import Message

C, M, D, R = "created", "modified", "deleted", "reverted"


@pytest.mark.parametrize(
    ("line", "done"),
    [
        ("ls -la && cat a.py | head", []),
        ("rm -rf a 'b c' && ls", [(D, "a"), (D, "b c")]),
        ("rm -- -x", []),
        (
            "cd /r; rm ~/a.py; cd s; rm C:/b.py 'D:\\c.py' d.py",
            [(D, "~/a.py"), (D, "C:/b.py"), (D, "D:\\c.py"), (D, "/r/s/d.py")],
        ),
        ("rm - a /dev/null", [(D, "a")]),
        (
            "mv -S .old a.c b.c; cp a.c ..; cp a.c x/..; cp a.c x/.; cp .env b; cp a.c b.c/",
            [
                (D, "a.c"),
                (C, "b.c"),
                (C, "../a.c"),
                (C, "a.c"),
                (C, "x/a.c"),
                (C, "b"),
                (C, "b.c/a.c"),
            ],
        ),
        ("mv a; cp; mv -t out", []),
        ("touch -d now -r b -t 1 a; truncate -s 0 -r b c", [(C, "a"), (M, "c")]),
        ("echo a | tee --append b.txt", [(M, "b.txt")]),
        ("sudo timeout 30 env A=1 rm x", [(D, "x")]),
        ("mv a.py b.py", [(D, "a.py"), (C, "b.py")]),
        ("mv a.py b.py src", [(D, "a.py"), (C, "src/a.py"), (D, "b.py"), (C, "src/b.py")]),
        ("mv src/a.py lib", [(D, "src/a.py"), (C, "lib/a.py")]),
        ("mv src lib", [(D, "src"), (C, "lib")]),
        ("cp -r a/ b/", [(C, "b/a")]),
        ("cp x.ts .", [(C, "x.ts")]),
        ("cp -t out a.c b.c", [(C, "out/a.c"), (C, "out/b.c")]),
        ("mkdir -p -m 755 src/{a,b}/c", [(C, "src/a/c"), (C, "src/b/c")]),
        ("touch x; (cd sub && touch y); touch z", [(C, "x"), (C, "sub/y"), (C, "z")]),
        ("cd /r/s && rm ../t.py", [(D, "/r/t.py")]),
        ("pushd /r; rm a; cd -P b; rm c; cd - && rm d", [(D, "/r/a"), (D, "/r/b/c")]),
        ("cd; rm a", []),
        ("cd /r; rm $PWD/a $HOME/b", [(D, "/r/a"), (D, "~/b")]),
        ("rm $PWD/a", []),
        (
            "local A=a; declare -r B=b; readonly C=c; export -p D=d; rm $A $B $C $D",
            [
                (D, "a"),
                (D, "b"),
                (D, "c"),
                (D, "d"),
            ],
        ),
        ("for f in a $X; do rm $f; done", [(D, "a")]),
        ("rm /:/a a:/b ab:/c", [(D, "/:/a"), (D, "a:/b"), (D, "ab:/c")]),
        ("cd /r; rm ab:/c", [(D, "/r/ab:/c")]),
        ("rm {a,b,}{c,d}", [(D, "ac"), (D, "ad"), (D, "bc"), (D, "bd"), (D, "c"), (D, "d")]),
        ("/bin/rm a; /usr/bin/env rm b; nice -n rm c", [(D, "a"), (D, "b"), (D, "c")]),
        ("zsh -c 'rm a'; dash -c 'rm b'; sh x -c", [(D, "a"), (D, "b")]),
        ("git show a > b", [(C, "b")]),
        ('cd "$(git rev-parse --show-toplevel)" && rm t.py', []),
        ("cd $ROOT; rm t.py /a/u.py", [(D, "/a/u.py")]),
        ("ROOT=/r; rm $ROOT/t.py \"${ROOT}/u.py\" '$ROOT/v.py'", [(D, "/r/t.py"), (D, "/r/u.py"), (D, "$ROOT/v.py")]),
        ('for f in a b; do cp "$f" ../x/; done', [(C, "../x/a"), (C, "../x/b")]),
        ('for f in $(ls); do rm "$f"; done', []),
        ("for f in *.ts; do rm x; done", [(D, "x")]),
        ("rm *.log", [(D, "*.log")]),
        ("sed -n 1,5p a.py", []),
        ("sed -i -e s/a/b/ -- a.py b.py", [(M, "a.py"), (M, "b.py")]),
        ("sed -i '' -e s/a/b/ a.py", [(M, "a.py")]),
        ("git restore --source x c; git restore -s x d", [(M, "c"), (M, "d")]),
        ("echo a | tee b c; ls >& -; ls > '&1'; ls > /dev/stderr", [(C, "b"), (C, "c")]),
        ("sed --in-place --expression=s/a/b/ a.py", [(M, "a.py")]),
        ("sed -i --file=x.sed a.py", [(M, "a.py")]),
        ("perl -pi -E 's/a/b/' a.ts", [(M, "a.ts")]),
        ("sed -i 's/a > b/c/' a.py b.py", [(M, "a.py"), (M, "b.py")]),
        ("sed -i '' 's|a|b|g' a.ts", [(M, "a.ts")]),
        ("sed -Ei.bak -e s/a/b/ -e s/c/d/ a.py", [(M, "a.py")]),
        ("perl -0pi -e 's/a/b/' a.ts", [(M, "a.ts")]),
        ("perl -ne print a.ts", []),
        ("echo a > b.txt; echo c >> d.txt", [(C, "b.txt"), (M, "d.txt")]),
        ("npm test > log.txt 2>&1", [(C, "log.txt")]),
        ("npm test 2>/dev/null >&2", []),
        ("ls > \ta; ls >\tb", [(C, "a"), (C, "b")]),
        ("npm test >&log; npm test >& 2; npm test &> all", [(C, "log"), (C, "all")]),
        ("cat > a.md <<'EOF'\nrm b > c\nEOF\nrm d", [(C, "a.md"), (D, "d")]),
        ("cat <<-EOF >a.md\n\trm b\n\tEOF\nrm d", [(C, "a.md"), (D, "d")]),
        ("python - <<E\nopen('x', 'w') > y\nE", []),
        ("grep x <<< 'a > b'", []),
        ("echo a | tee -a b.txt c.txt >/dev/null", [(M, "b.txt"), (M, "c.txt")]),
        ("[[ a > b ]] && rm c", [(D, "c")]),
        ("[ a > b ]", [(C, "b")]),
        ("X=a; X=$(ls); rm $X b", [(D, "b")]),
        ("X=a rm $X b", [(D, "b")]),
        ('rm "${X:-a b}" c', [(D, "c")]),
        ("$(npm bin)/rm a; $X rm b; rm c", [(D, "a"), (D, "c")]),
        ("diff <(sort a) <(sort b) > c", [(C, "c")]),
        ("echo $((3 > 2)) > n", [(C, "n")]),
        ('git commit -m "$(cat <<\'EOF\'\nRemove > it\'s "here"\nEOF\n)" && rm a', [(D, "a")]),
        ("bash -lc 'cd /r && rm x'", [(D, "/r/x")]),
        ("if [ -f a ]; then rm a; fi", [(D, "a")]),
        ("git rm a.py; git rm --cached b.py; git mv c.py d.py", [(D, "a.py"), (D, "c.py"), (C, "d.py")]),
        ("git checkout main && git checkout -b x/y.z", []),
        ("git checkout -B x/y.z; git checkout --orphan x.y; git checkout --detach v/1.x", []),
        ("git checkout -t o/x.y; git checkout --track o/x.y", []),
        ("git checkout -- a.py b.py", [(R, "a.py"), (R, "b.py")]),
        ("git checkout src/a.py; git checkout HEAD -- b", [(R, "src/a.py"), (R, "b")]),
        ("git checkout --theirs a.go; git checkout main -- b.go", [(M, "a.go"), (M, "b.go")]),
        ("git restore --staged a; git restore b; git -C /r restore -s x c", [(R, "b"), (M, "/r/c")]),
        ("git restore -S a; git restore -S -W b; git restore --staged --worktree c", [(R, "b"), (R, "c")]),
        ("git restore --theirs a; git restore --ours b; git restore --source=x c", [(M, "a"), (M, "b"), (M, "c")]),
        ("git -c core.pager= -C sub rm a; git; git -C", [(D, "sub/a")]),
        ("git -C $X rm a; git -C sub -C deep rm b", [(D, "sub/deep/b")]),
        ("git reset --hard; git reset --hard HEAD~1", [(R, ".")]),
        ("curl -sSo a.zip https://x.org && wget -O b.zip https://x.org", [(C, "b.zip")]),
        ("curl -o a.zip https://x.org", [(C, "a.zip")]),
        ("find . -name x -exec rm {} +", []),
        ("echo $( (cd a; ls > b); ls > c ) && rm d", [(D, "d")]),
        ("app/[id]/x; rm app/[id]/page.tsx", [(D, "app/[id]/page.tsx")]),
        ("rm 'unclosed", [(D, "unclosed")]),
        ("$(" * 100 + "rm x", []),
        ("# rm x\nrm y # rm z", [(D, "y")]),
        ("rm \\\n  x", [(D, "x")]),
        ("rm " + "x" * (MAX_LINE_CHARS - 3), [(D, "x" * (MAX_LINE_CHARS - 3))]),
        ("rm " + "x" * (MAX_LINE_CHARS - 2), []),
    ],
)
def test_what_a_line_does(line: str, done: list[tuple[str, str]]) -> None:
    assert [(one.kind, one.path) for one in effects(line)] == done


@pytest.mark.parametrize(
    ("line", "done"),
    [
        ("Get-ChildItem . | Select-Object -First 3", []),
        (r"Set-Content -Path 'C:\a\b.cmd' -Value '@\"x\" > y' -Encoding ascii; sh -c 'echo'", [(C, "C:/a/b.cmd")]),
        (
            'Add-Content -Path docs\\log.md -NoNewline -Value @"\nrm x; Remove-Item y\n"@; git diff',
            [(M, "docs/log.md")],
        ),
        ("cd C:\\r; Remove-Item -Recurse a.txt, b.txt", [(D, "C:/r/a.txt"), (D, "C:/r/b.txt")]),
        ("(Get-Content a.md -Raw) -replace 'x', '' | Set-Content a.md -NoNewline", [(C, "a.md")]),
        ("$p='a.md'; 'x' | Out-File -FilePath $p -Append; del $env:TEMP\\b", [(M, "a.md")]),
        (
            "Copy-Item a.md b.md; mv b.md -Destination c.md; ren c.md d.md",
            [
                (C, "b.md"),
                (D, "b.md"),
                (C, "c.md"),
                (D, "c.md"),
                (C, "d.md"),
            ],
        ),
        ("ls > out.txt; ls 2> $null; ls > $NULL; ls >", [(C, "out.txt")]),
        ("sc '$x' a; sc 'it''s' b; sc '' c; sc -n b", [(C, "$x"), (C, "it's")]),
        ("sc @'\na\n'@ b", []),
        (
            "ren d/a.md b.md; ren d\\a.md b.md; mv d/a.md b.md",
            [
                (D, "d/a.md"),
                (C, "d/b.md"),
                (C, "b.md"),
            ],
        ),
        ("$x='a.md'; sc $x hi", [(C, "a.md")]),
        ('sc "a b" hi; $x = "c d"; sc $x hi', [(C, "a b"), (C, "c d")]),
        ("$x ='b.md'; sc $x hi", [(C, "b.md")]),
        ("$x = 3; sc a$x hi; sc $y hi", [(C, "a3")]),
        (
            "sl r; rm a; push-location s; rm b; set-location t; rm c; cd; rm d",
            [
                (D, "r/a"),
                (D, "r/s/b"),
                (D, "r/s/t/c"),
                (D, "r/s/t/d"),
            ],
        ),
        ("cp a.md; cp -Force a.md -PassThru b.md; rm -Filter x c.md", [(C, "b.md"), (D, "c.md")]),
        ("md a; ni b; ac c x; rm d,e,", [(C, "a"), (C, "b"), (M, "c"), (D, "d"), (D, "e")]),
        ("ls 1> a 3>> b *> c; rm x 2>&1", [(C, "a"), (M, "b"), (C, "c"), (D, "x")]),
        ("rm @scope; rm 'a\nb'", [(D, "@scope"), (D, "a\nb")]),
        (
            "go build ./... 2>&1 | Select-Object -Last 9; rm a 2>&1; rm b 2>$null; rm c *>> d",
            [(D, "a"), (D, "b"), (D, "c"), (M, "d")],
        ),
        ("git checkout -- a.md; git rm 'b c.md'", [(R, "a.md"), (D, "b c.md")]),
        ("'unclosed", []),
        ("$x = Get-Foo; sc $x hi", []),
        ("$x = 'a.md'; $x = Get-Foo; sc $x hi", []),
        ("$x = 'a.md'; $x = Get-Foo -Name b.md; sc $x hi", []),
        ("$x = 'a.md'; $x=Get-Foo; sc $x hi", []),
        ("$x = 'a.md'; $x += '.old'; sc $x hi", []),
        ("$x = 'a.md'; $y = $x; sc $y hi", [(C, "a.md")]),
        ("$x = New-Item a.md; $y = 'del' + 'b.md'", [(C, "a.md")]),
    ],
)
def test_what_a_line_of_powershell_does(line: str, done: list[tuple[str, str]]) -> None:
    assert [(one.kind, one.path) for one in powershell.effects(line)] == done


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("cat a.py b.py | head -n 5", ["a.py", "b.py"]),
        ("cd /r && sed -n '1,9p' a.py && nl -ba b.py | sed -n 1,9p", ["/r/a.py", "/r/b.py"]),
        ("head -20 a.py; tail -n 3 b.py", ["a.py", "b.py"]),
        ("sed -i s/a/b/ a.py; sed -e s/a/b/ b.py", ["b.py"]),
        ("cat <<EOF > a.py\ncat b.py\nEOF", []),
        ("cat *.py $X -", []),
        ("git log | cat", []),
        ("git show main:src/a.py HEAD:b.py c; git show main:a:b.py", ["src/a.py", "b.py", "a:b.py"]),
        ("git -C /r show main:a.py", ["/r/a.py"]),
        ("sed -ne 1p -e 2p a.py; sed -nf x b.py", ["a.py", "b.py"]),
        ("tac a; less b; more c; nl -w 3 -s x -v 2 -b a d; head -c 3 e; tail -c 3 f", ["a", "b", "c", "d", "e", "f"]),
        ("bat -r 1:2 -l py a; batcat --line-range 1:2 -l py b; bat -l py -r 1:2 c", ["a", "b", "c"]),
        ("cat 12 a?.py /dev/null b", ["b"]),
        ("ls a.py", []),
    ],
)
def test_which_files_a_line_shows(line: str, shown: list[str]) -> None:
    assert list(views(line)) == shown


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("npm test", True),
        ("npm test\n", True),
        ("cd x && npm test", True),
        ("ls | head; npm test", True),
        ("npm test && echo fine", True),
        ("npm test | tail -3", False),
        ("npm test 2>&1 | tee log", False),
        ("set -o pipefail; npm test | tail -3", True),
        ("npm test || true", False),
        ("npm test; echo $?", False),
        ("set -e\nnpm test\necho $?", True),
        ("npm test &", False),
        ("(npm test) | tail", False),
        ("{ npm test; } | tail", False),
        ("bash -c 'npm test | tail'", False),
        ("npm test && for f in a b; do echo $f; done", True),
        ("npm test || X=1", False),
        ("npm test |& tail", False),
        ("set -o pipefail; npm test |& tail", True),
        ("set -x; npm test; echo", False),
        ("set +e; npm test; echo", False),
        ("set -ex; npm test; echo", True),
        ("npm test; npm test", True),
        ("npm test | tail; npm test", True),
        ("npm test; npm test | tail", False),
        ("npm test " + "x" * (MAX_LINE_CHARS - 9), True),
        ("npm test " + "x" * (MAX_LINE_CHARS - 8), False),
    ],
)
def test_whether_the_status_tells_of_a_check(line: str, told: bool) -> None:
    assert status_covers(line, is_check) is told


def outcome(command: str, output: str, *, is_error: bool = False) -> bool | None:
    (called,) = calls_in(ran(command, output, is_error=is_error))
    return called.ok


@pytest.mark.parametrize(
    ("command", "output", "ok"),
    [
        ("npm test", "built", True),
        ("npm test | tail -3", "built", None),
        ("npm test | tail -3", "12 passed", True),
        ("npm test | tail -3", "12 passed, 1 failed", False),
        ("npm test | tail -3", "0 failed", True),
        ("npm test | tail -3", "so\n" + "w" * 199 + " 3 failed", False),
        ("npm test | tail -3", "so\n" + "w" * 200 + " 3 failed", None),  # too far behind the line's beginning
        ("npm test | tail -3", "\n" + "w" * 199 + " 3 failed", False),
        ("npm test | tail -3", "w" * 199 + " 3 failed", False),
        ("npm test | tail -3", "w" * 200 + " 3 failed", None),
        ("npm test | tail -3", "w" * 200 + " 3 failed\nso", None),
        ("npm test | tail -3", "x3 failed", None),
        ("npm test | tail -3", "src/a.ts(1,2): error TS2322: no", False),
        ("npm test | tail -3", "Failed: 2", False),
        ("npm test | tail -3", "error: wanted here\n12 passed\n0 failed", True),
        ("npm test | tail -3", "0 failed\n1 error", False),
        ("npm run check | grep error", "a.ts(3,4): error TS2307: no module", False),
        ("npm test; echo done", "done", None),
        ("npm test; echo done", "Exit code 2", False),
        ("ls | tail -3", "a", True),
        ("make logs | tail -3", "a", True),
        ("make | tail -3", "a", None),
    ],
)
def test_a_check_behind_a_pipe_has_not_passed_by_its_status(command: str, output: str, ok: bool | None) -> None:
    assert outcome(command, output) is ok


def files(messages: list[Message]) -> list[tuple[str, str, bool | None]]:
    return [(fact.detail, fact.text, fact.ok) for fact in find_facts(messages) if fact.kind == "path"]


REFUSAL = "The user doesn't want to proceed with this tool use. The tool use was rejected."
PATCH = {"input": "*** Begin Patch\n*** Update File: /p/a.py\n@@\n-a\n+b\n*** End Patch"}


def test_an_edit_that_names_no_file_changes_the_open_one() -> None:
    made, put, opened, edit = (
        call("create", {"filename": "new.py"}),
        call("insert", {"text": "import os"}),
        call("open", {"path": "src/old.py", "line_number": 3}),
        call("edit", {"search": "a", "replace": "b"}),
    )
    messages = [agent("", call("edit", {"search": "a", "replace": "b"}))]  # nothing is open
    for one in (made, put, opened, edit):
        messages += [agent("", one), result(one, "fine")]
    assert files(messages) == [
        (C, "new.py", True),
        (M, "new.py", True),
        ("viewed", "src/old.py", True),
        (M, "src/old.py", True),
    ]


def test_what_is_refused_or_fails_changes_nothing() -> None:
    patch, again = call("apply_patch", PATCH), call("apply_patch", PATCH)
    messages = [
        *ran("rm /p/a.py", REFUSAL, is_error=True),
        *ran("mv /p/b.py /p/c.py", "mv: cannot stat '/p/b.py': No such file", is_error=True),
        *ran("rm /p/d.py && npm test", "1 failed", is_error=True),
        *ran("touch /p/f.py && rm /p/g.py", "", is_error=True),
        *ran("rm /p/e.py; npm test", "rm: /p/e.py: No such file\n1 failed", is_error=True),
        agent("", patch),
        result(patch, "apply_patch verification failed: Failed to find expected lines in /p/a.py"),
        agent("", again),
        result(again, "patch rejected by user"),
    ]
    assert files(messages) == [
        (D, "/p/d.py", None),
        (C, "/p/f.py", None),
        (M, "/p/a.py", False),
        (M, "/p/a.py", False),
    ]


@pytest.mark.parametrize(
    ("line", "said", "did"),
    [
        (
            "rm a.py b.py c.py",
            "rm: cannot remove 'b.py': No such file or directory",
            [("deleted", "a.py"), ("deleted", "c.py")],
        ),
        ("rm a.py d/b.py", "rm: d/b.py: Permission denied", [("deleted", "a.py")]),
        ("cd d && rm a.py b.py", "rm: b.py: No such file or directory", [("deleted", "d/a.py")]),
        ("rm a.py", "rm: cannot remove 'a.py': No such file or directory", []),
        ("rm a.py", "something else went wrong", []),
        ("touch a.py; npm test", "a touch: no", [("created", "a.py")]),
        ("touch a.py; npm test", "bash: line 1: touch: no", []),
        ("mv a.py b.py d", "mv: cannot stat 'b.py': No such file or directory", []),
        ("echo 1 > d/a.py", "(eval):1: no such file or directory: d/a.py", []),
        ("echo 1 > d/a.py", "bash: d/a.py: No such file or directory", []),
        ("git checkout -- a.py; npm test", "error: pathspec 'a.py' did not match", []),
        ("git checkout -- a.py; npm test", "1 error: pathspec", [("reverted", "a.py")]),
        ("echo 1 > a.py; npm test", "(eval):1: no such file or directory: d/a.py", [("created", "a.py")]),
    ],
)
def test_what_a_failing_line_did_all_the_same(line: str, said: str, did: list[tuple[str, str]]) -> None:
    """`rm` goes on behind the file that it cannot remove, and names it."""
    (called,) = calls_in(ran(line, said, is_error=True))
    assert [(action.kind, action.target) for action in called.actions if action.kind != "command"] == did


@pytest.mark.parametrize(
    ("text", "is_error", "refused"),
    [
        ("patch rejected by user", False, True),
        ("Command execution declined by the user.", False, True),
        ("The user doesn't want to proceed with this tool use.", True, True),
        ("a.log: user rejected the terms", False, False),
        ("a.log: user rejected the terms", True, True),
        ("rejected", True, False),
        ("x" * 287 + "user declined", True, True),
        ("x" * 288 + "user declined", True, False),
    ],
)
def test_who_turned_a_call_down(text: str, is_error: bool, refused: bool) -> None:
    (called,) = calls_in(ran("rm a", text, is_error=is_error))
    assert (called.refused, called.ok is False) == (refused, refused or is_error)


def test_with_a_folder_go_the_files_that_are_known_in_it() -> None:
    edits = [call("Write", {"file_path": f"/p/src/{name}", "content": ""}) for name in ("a.py", "b.py")]
    touched = call("Edit", {"file_path": "/p/src/b.py", "old_string": "a", "new_string": "b"})
    calls = [*edits, touched]
    made = [message for one in calls for message in (agent("", one), result(one, "ok"))]
    assert files([*made, *ran("git -C /p checkout -- .", "")])[3:] == [(R, "/p/src/b.py", True)]
    assert files([*made, *ran("git commit -am x", ""), *ran("git -C /p checkout -- .", "")])[3:] == []
    assert files([*made, *ran("rm -r /p/src", ""), *ran("touch /p/src/a.py", "")])[3:] == [
        (D, "/p/src/a.py", True),
        (D, "/p/src/b.py", True),
        (D, "/p/src", True),
        (C, "/p/src/a.py", True),
    ]
    assert files([*made, *ran("sed -i s/a/b/ /p/src/*.py /p/*.py", "")])[3:] == [
        (M, "/p/src/a.py", True),
        (M, "/p/src/b.py", True),
    ]


@pytest.mark.parametrize(
    ("line", "commands"),
    [
        ("case $X in\n a) ls a;; esac; ls b", ("ls a", "ls b")),
        ("show() { ls a; }; show", ("ls a", "show")),
        ('grep "a\\|b\\"" c\\ d', ('grep a\\|b" c d',)),
        ("for f in a b; do ls $f$X/ $f; done", ("ls a…/ a b",)),
        ("sudo -n timeout $X env A=1 npm test", ("npm test",)),
        ("cd a; set -e; export A=1; cdr; A=1; ls > a", ("cdr", "ls")),
        ("ls $(pwd)/a", ("ls …/a",)),
        ("if true; then ls; else pwd; fi", ("true", "ls", "pwd")),
        ("for f in a b; do ls; done", ("ls",)),
        ("while ! ls; do time pwd; done", ("ls", "pwd")),
        ("nohup command builtin exec stdbuf -oL caffeinate rtk nice ls", ("ls",)),
        ("bash -c 'ls; pwd' x", ("ls", "pwd")),
        ("bash a.sh", ("bash a.sh",)),
    ],
)
def test_the_simple_commands_of_a_line(line: str, commands: tuple[str, ...]) -> None:
    assert simple_commands(line) == commands


@pytest.mark.parametrize("blank", "\x0b\x0c\x1c\x85\xa0\u2028")
def test_what_only_looks_like_a_blank_is_part_of_a_word(blank: str) -> None:
    assert simple_commands(f"ls{blank}a b") == (f"ls{blank}a b",)


@pytest.mark.parametrize(
    "line",
    [
        "A=xxxx;" + "A=$A$A;" * 60 + "rm $A",
        "rm " + "x" * 60_000 + "{" + "," * 60_000 + "}",
        "X='" + 'bash -c "$X";' * 50 + '\'; bash -c "$X"',
        "cd a;" * 25_000,
    ],
)
def test_a_short_line_does_not_expand_without_end(line: str) -> None:
    """Values that double sixty times have more characters than any memory."""
    commands = commands_of(line)
    assert sum(len(word) for one in commands for word in one.words) < 200 * MAX_LINE_CHARS
    assert sum(len(one.folder or "") for one in commands) < 2 * MAX_LINE_CHARS


@pytest.mark.parametrize("part", ['"`', "'\"", "@'\n", "a,", "$((", "<<a ", "{a,"])
def test_a_line_that_never_closes_comes_to_an_end(part: str) -> None:
    """What reads on to the end from every quote or bracket would take minutes, and the suite's time limit stop it."""
    line = "rm x; {" + part * (20_000 // len(part))
    assert [(one.kind, one.path) for one in powershell.effects(line)][:1] == [(D, "x")]
    assert [(one.kind, one.path) for one in effects(line)][:1] == [(D, "x")]
