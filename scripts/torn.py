"""Everything that is written, cut short: killed at each step, on a full disk, where nothing may be written, and by
several programs at once.

    python -m scripts.torn [WRITER ...] [--times 20]

Each writer puts down document 1, then a child process puts down document 2 and is stopped on the way: by SIGKILL
before each step on the file system (steps that Python tells of), by the kernel at a byte (what SQLite writes, too), and
at any moment (`--times` of them). Afterwards the writer's own reader must find 1 or 2, whole, and 2 if the child said
that it was done; and the next writing must succeed. Where nothing can be written, the child must end with one sentence
or, for a cache, without; never with a traceback. At once, `TOGETHER` programs write what must all be there.
As root the folders are closed by becoming nobody, and a full disk is a small one of its own as well.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from workbench.analysis.probes import Probe
from workbench.analysis.probes.probe import read_probes, write_probes
from workbench.analysis.sweep.cells import Journal, SweepCell, finished_cells
from workbench.analysis.sweep.plan import plan_of
from workbench.auditing.cache import RowCache
from workbench.auditing.rows import SessionRow
from workbench.base import disk_cache
from workbench.base.errors import BadInput
from workbench.base.files import write_atomically, write_folder
from workbench.bench import saved_work
from workbench.cli import main as command_line
from workbench.compaction.preset import load_preset, save_preset
from workbench.compaction.prompts import load_prompt, write_own
from workbench.conformance.building import agent, session_of, user
from workbench.formats.export import export, save
from workbench.formats.files import load
from workbench.session import Session
from workbench.summarizers import batches, model_list, run_history
from workbench.summarizers.run_records import CallRecord, RunRecord
from workbench.tokens import packaged, scales
from workbench.tokens.cache import CountCache
from workbench.tokens.calibration import Scale
from workbench.tui.settings import read_home, with_recent, write_home

BULK = 9_000
"""Characters of a document: more than a page of SQLite and than a buffer of Python."""

TOGETHER = 6
DONE, SENTENCE, UNTOLD = 0, 3, 1
NOBODY = 65534
STEPS = frozenset(
    ["open", "os.rename", "os.link", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "sqlite3.connect"]
)


@dataclass(frozen=True)
class Writer:
    """`write(n)` puts document n down and `read()` says which is there, None for none; both raise BadInput. `all` are
    the documents that are there where several may be; `cache`: it may be without what was put there, and says nothing.
    """

    write: Callable[[int], object]
    read: Callable[[], int | None]
    all: Callable[[], set[int]] | None = None
    cache: bool = False


def text(number: int) -> str:
    return f"document {number} " + "word " * (BULK // 5)


def number_in(said: str) -> int | None:
    """Raises ValueError for half a document."""
    if said.count("word") < BULK // 5:
        raise ValueError(f"half a document: {said[:40]!r}")
    return int(said.split()[1])


def writers(folder: Path) -> dict[str, Writer]:
    """Everything that writes, in a home of its own: the folder, which the environment names."""
    out = folder / "out"
    return {
        "export": _export(out / "o.jsonl"),
        "folder": _folder(out),
        "file": Writer(lambda n: write_atomically(out / "f", text(n).encode(), overwrite=True), _in_file(out / "f")),
        "remembered": _remembered(folder),
        "home": Writer(
            lambda n: write_home(folder, lambda home: with_recent(home, Path(f"/{n}"), text(n))),
            lambda: next((number_in(one.title) for one in read_home(folder).recents), None),
            lambda: {int(Path(one.path).name) for one in read_home(folder).recents},
        ),
        "prompt": Writer(
            lambda n: write_own("torn.md", f"---\nid: torn\n---\n\n{text(n)}.\n"),
            lambda: number_in(load_prompt("torn.md").text),
        ),
        "preset": Writer(_save_preset, lambda: number_in(load_preset("torn").about)),
        "probes": _probes(out),
        "journal": Writer(
            lambda n: _refuse(run_history.save_run(_run(n))),
            lambda: max(_runs(), default=None),
            _runs,
        ),
        "answers": Writer(_answered, lambda: max(_answers(), default=None), _answers),
        "sweep": _sweep(out / "s.journal"),
        "scale": Writer(
            lambda n: scales.keep(_session(0), Scale(1 + n / 10, 1, text(n))), lambda: _scale_of(0), cache=True
        ),
        "counts": _counts(folder / "counts.sqlite"),
        "audits": _audits(folder / "audits.sqlite"),
        "report": _command(folder, out / "r.html", "report", "--overwrite", "--compare", "", "-o"),
        "models": Writer(
            lambda n: model_list.save_models(
                model_list.ModelList(time=0.0, models=(model_list.OfferedModel(id="m", title=text(n)),))
            ),
            lambda: number_in(known.models[0].title) if (known := model_list.cached_models()) else None,
        ),
        "packaged": _packaged(folder / "packaged.json"),
        "batch": Writer(
            lambda n: batches.write_note(out / "batch", f"msgbatch_{n}"),
            lambda: int(id.split("_")[1]) if (id := batches.noted_batch(out / "batch")) else None,
        ),
        "shelf": _shelf(out / "shelf" / "one.session"),
        "cast": _command(folder, out / "c.cast", "demo", "--overwrite", "--cast"),
        "svg": _command(folder, out / "c.svg", "demo", "--overwrite", "--svg"),
        "compact": _command(folder, out / "c.jsonl", "compact", "--preset", "trim", "--force", "-o"),
    }


def _session(number: int) -> Session:
    said = [user("u", text(number)), agent("a", "yes"), user("v", "on"), agent("b", "done")]
    return session_of(said, id=f"s{number}")


def _export(path: Path) -> Writer:
    def write(number: int) -> None:
        session = _session(number)
        save(export(session, session.messages, "claude-code"), path, overwrite=True)

    return Writer(write, lambda: number_in(load(path).messages[0].text))


def _folder(out: Path) -> Writer:
    """A session that its tool keeps as a folder; each has a name of its own, for none goes over another."""

    def write(number: int) -> None:
        data = text(number).encode()
        write_folder(out / f"{number}-{time.time_ns()}", {"base.json": data, "events/0.json": data}, both_there)

    def both_there(folder: Path) -> None:
        if len([*folder.rglob("*.json")]) != 2:
            raise ValueError("half a folder")

    def numbers() -> set[int]:
        for folder in (found := [*out.glob("[!.]*")]):
            both_there(folder)
            if any(number_in(one.read_text()) != int(folder.name.partition("-")[0]) for one in folder.rglob("*.json")):
                raise ValueError("a folder of another session's files")
        return {int(folder.name.partition("-")[0]) for folder in found}

    return Writer(write, lambda: max(numbers(), default=None), numbers)


def _in_file(path: Path) -> Callable[[], int | None]:
    return lambda: number_in(path.read_text("utf-8")) if path.exists() else None


def _remembered(folder: Path) -> Writer:
    one = _session(0)
    where = folder / "sessions"

    def read() -> int | None:
        work = saved_work.load_work(one, where)
        return number_in(work.watched[0]) if work else None

    return Writer(lambda n: saved_work.save_work(one, saved_work.SavedWork(watched=(text(n),)), where), read)


def _save_preset(number: int) -> None:
    save_preset(replace(load_preset("trim"), id="torn", about=text(number)))


def _run(number: int) -> RunRecord:
    return RunRecord(id=f"run-{number}", began=number, seconds=1, end="cancelled", strategy="trim", reason=text(number))


def _runs() -> set[int]:
    found = {number_in(run_history.load_run(entry.id).reason) for entry in run_history.list_runs()}
    return {number for number in found if number is not None}


def _answered(number: int) -> None:
    """Beside those that came before, in a run that never ends."""
    call = CallRecord(key=str(number), purpose="p", request="", text=text(number))
    _refuse(run_history.save_call(_run(0), time.time_ns(), call))


def _answers() -> set[int]:
    """Each whole, and as many as the list says."""
    entries = run_history.list_runs(1)
    calls = [call for entry in entries for call in run_history.load_run(entry.id).calls]
    if sum(entry.calls for entry in entries) > len(calls):
        raise ValueError("more answers in the list than there are")
    return {number for call in calls if (number := number_in(call.text)) is not None}


def _refuse(trouble: str) -> None:
    if trouble:
        raise BadInput(trouble)


def _probes(out: Path) -> Writer:
    """Each in a file of its own, for none goes over another."""

    def numbers() -> set[int]:
        found = (number_in(read_probes(path)[0].question) for path in out.glob("[!.]*.toml"))
        return {number for number in found if number is not None}

    def write(number: int) -> None:
        write_probes(out / f"{time.time_ns()}.toml", (Probe("recall", text(number), "a"),))

    return Writer(write, lambda: max(numbers(), default=None), numbers)


def _sweep(path: Path) -> Writer:
    plan = plan_of(load_preset("trim"), ("window=3000",), None, retained=False)

    def numbers() -> set[int]:
        return {number for cell in finished_cells(path, plan) if (number := number_in(cell.file)) is not None}

    def write(number: int) -> None:
        found = Journal(path, plan)
        try:
            found.note([SweepCell(text(number), (3000.0,))])
        finally:
            found.close()

    return Writer(write, lambda: max(numbers(), default=None), numbers)


def _scale_of(number: int) -> int | None:
    scale = scales.recall(_session(number))
    return number_in(scale.source) if scale else None


def _counts(path: Path) -> Writer:
    def keys(number: int) -> list[bytes]:
        return [f"{number:04}-{place:011}".encode() for place in range(2_000)]

    def whole() -> set[int]:
        found = {number: CountCache(path).get(keys(number)) for number in range(1, TOGETHER + 2)}
        for number, there in found.items():
            if there and set(there.values()) != {number}:
                raise ValueError("a count of another text")
        return {number for number, there in found.items() if len(there) == 2_000}

    def write(number: int) -> None:
        cache = CountCache(path)
        cache.put(dict.fromkeys(keys(number), number))
        _refuse(cache.trouble)

    return Writer(write, lambda: max(whole(), default=None), whole, cache=True)


def _audits(path: Path) -> Writer:
    def whole() -> set[int]:
        with RowCache(path).opened() as cache:
            found = {number: cache.get(f"/{number}", b"mark") for number in range(1, TOGETHER + 2)}
        for number, kept in found.items():
            if kept and number_in(kept.rows[0].title) != number:
                raise ValueError("the row of another session")
        return {number for number, kept in found.items() if kept}

    def write(number: int) -> None:
        with RowCache(path).opened() as cache:
            cache.put(f"/{number}", b"mark", 1, None, [SessionRow(f"/{number}", title=text(number))])
        _refuse(cache.trouble)

    return Writer(write, lambda: max(whole(), default=None), whole, cache=True)


def _packaged(path: Path) -> Writer:
    def read() -> int | None:
        return number_in(json.loads(path.read_bytes())["version"]) if path.exists() else None

    return Writer(lambda n: packaged.keep(path, "stamp", packaged.Packaged(text(n))), read)


def _shelf(path: Path) -> Writer:
    """Of one thing after the other, as of a session that grew: what is there is of the last one, or of none."""

    def read() -> int | None:
        for number in (2, 1):
            with disk_cache.open_cached(path, {"of": str(path), "size": number}) as there:
                if there:
                    return number_in(there.read().decode())
        return None

    def write(number: int) -> None:
        path.parent.mkdir(exist_ok=True)
        disk_cache.store(path, {"of": str(path), "size": number}, lambda file: file.write(text(number).encode()))

    return Writer(write, read, cache=True)


def _command(folder: Path, out: Path, *words: str) -> Writer:
    """A command that writes a file: which document is in it is told by the words of its session."""

    def write(number: int) -> None:
        source = folder / f"source-{number}.jsonl"
        try:
            with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
                command_line([words[0], str(source), *words[1:], str(out)])
        except SystemExit as left:
            if left.code:
                raise BadInput("the command said what was wrong") from None

    def read() -> int | None:
        found = out.read_text("utf-8") if out.exists() else ""
        if found and not found.rstrip().endswith(("</html>", "</svg>", "}", "]")):
            raise ValueError("half a file")
        return next((number for number in (2, 1) if f"document {number} " in found), None)

    return Writer(write, read)


# --- cutting it short -----------------------------------------------------------------------------------------------


def child(work: Callable[[], object], before: Callable[[], object] = lambda: None) -> int:
    """The exit code of a process that does it, minus the signal that ended it. Only a traceback of it is seen."""
    process = os.fork()
    if process:
        return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    code = UNTOLD
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        told = os.dup(2)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        before()
        try:
            work()
            code = DONE
        except BadInput as refused:
            code = SENTENCE if "\n" not in str(refused) else UNTOLD
        except BaseException:
            os.write(told, traceback.format_exc().encode())
    finally:
        os._exit(code)


def killed_at(step: int) -> Callable[[], None]:
    """SIGKILL before so many steps on the file system."""
    left = [step]

    def count() -> None:
        left[0] -= 1
        if left[0] < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def told(event: str, given: tuple[Any, ...]) -> None:
        writes = event != "open" or (isinstance(given[2], int) and given[2] & (os.O_WRONLY | os.O_RDWR))
        if event in STEPS and writes:
            count()

    def synced(file: int) -> None:
        count()

    def begin() -> None:
        os.fsync = synced
        sys.addaudithook(told)

    return begin


def ended_at(size: int, *, killed: bool) -> Callable[[], None]:
    """No file grows beyond so many bytes: who tries is killed, or told that the disk is full."""

    def begin() -> None:
        if killed:
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return begin


def killed_after(seconds: float) -> Callable[[], None]:
    def begin() -> None:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-5))

    return begin


def become_nobody() -> None:
    if os.getuid() == 0:
        os.setgid(NOBODY)
        os.setuid(NOBODY)


@contextmanager
def a_home(parent: Path | None = None) -> Iterator[Path]:
    """A new folder that the environment names as the place of everything."""
    folder = Path(tempfile.mkdtemp(dir=parent))
    os.environ["HOME"] = str(folder)
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        os.environ[name] = str(folder / name.lower())
    (folder / "out").mkdir()
    for number in (1, 2):
        session = _session(number)
        data = export(session, session.messages, "claude-code").written.data
        (folder / f"source-{number}.jsonl").write_bytes(data)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


class Torn(Exception):
    pass


def judged(writer: Writer, code: int, how: str, *, before: int | None = 1) -> None:
    """Raises Torn where something is lost, half there, or untold."""
    if code == UNTOLD:
        raise Torn(f"{how}: a traceback")
    try:
        found = writer.read()
    except Exception as error:
        raise Torn(f"{how}: cannot be read: {error!r}") from error
    if code == DONE and found != 2 and not writer.cache:
        raise Torn(f"{how}: it was done, and {found} is there")
    if found not in (before, 2) and not writer.cache:
        raise Torn(f"{how}: {found} is there")


def cut_short(name: str, times: int) -> Iterator[str]:
    """What was tried, each in words. Raises Torn."""
    counts = {"killed": 0, "full": 0, "closed": 0, "at once": 0}
    took: list[float] = []

    def tried(before: Callable[[], object], how: str, kind: str) -> int:
        with a_home() as folder:
            writer = writers(folder)[name]
            writer.write(1)
            began = time.perf_counter()
            code = child(lambda: writer.write(2), before)
            took.append(time.perf_counter() - began)
            judged(writer, code, how)
            writer.write(2)
            judged(writer, DONE, f"{how}, and then written again")
            counts[kind] += 1
            return code

    step = 0
    while tried(killed_at(step), f"killed before step {step}", "killed") == -signal.SIGKILL:
        step += 1
    whole = took[-1]
    for size in (0, 1, 100, 4096, 5000, 8192, 20_000, 40_000):
        tried(ended_at(size, killed=True), f"killed at byte {size}", "killed")
        tried(ended_at(size, killed=False), f"no more than {size} bytes", "full")
    dice = random.Random(1)
    for _ in range(times):
        tried(killed_after(dice.uniform(0, whole)), "killed at some moment", "killed")
    _closed(name)
    counts["closed"] += 1
    counts["full"] += _full(name)
    counts["at once"] += _at_once(name)
    yield ", ".join(f"{kind} {count}" for kind, count in counts.items())


def _closed(name: str) -> None:
    with a_home() as folder:
        writer = writers(folder)[name]
        writer.write(1)
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o555 if path.is_dir() else 0o444)
        code = child(lambda: writer.write(2), become_nobody)
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        judged(writer, code, "nothing may be written")
        if code == DONE and not writer.cache:
            raise Torn("nothing may be written: it says that it is done")


def _full(name: str) -> int:
    """On a file system of its own that has so many bytes left; 0 where none can be made."""
    place = Path(tempfile.mkdtemp())
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "none", place], capture_output=True, check=False)
    if made.returncode:
        place.rmdir()
        return 0
    try:
        for left in (0, 4096, 8192, 16_384, 40_960):
            with a_home(place) as folder:
                writer = writers(folder)[name]
                writer.write(1)
                filler = place / "filler"
                free = shutil.disk_usage(place).free
                filler.write_bytes(bytes(max(0, free - left)))
                code = child(lambda writer=writer: writer.write(2))  # type: ignore[misc]
                judged(writer, code, f"a disk with {left} bytes left")
                filler.unlink()
                writer.write(2)
                judged(writer, DONE, "and then room was made")
        return 5
    finally:
        subprocess.run(["umount", place], check=True)
        place.rmdir()


def _at_once(name: str) -> int:
    """Programs that write at once, and one that reads all the while."""
    with a_home() as folder:
        writer = writers(folder)[name]
        numbers = range(1, TOGETHER + 1) if name not in ("report", "compact", "cast", "svg") else (1, 2)
        writer.write(1)
        processes = []
        for number in numbers:
            process = os.fork()
            if not process:
                os._exit(child(lambda number=number: [writer.write(number) for _ in range(3)]))  # type: ignore[misc]
            processes.append(process)
        codes = []
        while processes:
            ended, status = os.waitpid(processes[0], os.WNOHANG)
            if ended:
                codes.append(os.waitstatus_to_exitcode(status))
                processes.pop(0)
            if writer.read() is None and not writer.cache:
                raise Torn("at once: nothing is there meanwhile")
        if set(codes) - {DONE} and name != "journal":
            raise Torn(f"at once: ended with {codes}")
        if writer.all is not None and writer.all() != set(numbers):
            raise Torn(f"at once: of {[*numbers]} there are {writer.all()}")
        return len(codes)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    with a_home() as folder:
        known = [*writers(folder)]
    parser.add_argument("writers", nargs="*", metavar="WRITER", help=", ".join(known))
    parser.add_argument("--times", type=int, default=20)
    wanted = parser.parse_args()
    sys.dont_write_bytecode = True
    failed = 0
    for name in wanted.writers or known:
        try:
            for told in cut_short(name, wanted.times):
                print(f"{name:12} holds: {told}", flush=True)
        except Torn as torn:
            failed += 1
            print(f"{name:12} {torn}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
