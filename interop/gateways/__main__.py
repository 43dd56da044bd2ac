"""python -m interop.gateways [GATEWAY …]: starts each, asks it for summaries over every protocol it speaks, stops it.

Packages lie under `.interop/gateways/`. Ends with 1 where a summary ended otherwise than it should; what cannot be
installed or started is skipped with its reason.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from interop import server
from interop.gateways import GATEWAYS, KEY, THROUGH, Case, Gateway
from interop.homes import ROOT, Missing, install
from workbench.summarizers.connections import Protocol

_REPO = Path(__file__).resolve().parents[2]
SESSION = _REPO / "sample_sessions/claude-code-overflow.jsonl"
STARTS_S = 90.0
"""Within so many seconds a gateway answers, or it is said that it does not."""


def main(names: list[str]) -> int:
    if unknown := [name for name in names if name not in GATEWAYS]:
        print(f"There is no gateway {unknown[0]!r}; there are {', '.join(GATEWAYS)}.", file=sys.stderr)
        return 2
    bad = False
    for name in names or GATEWAYS:
        gateway = GATEWAYS[name]
        try:
            install(f"gateways/{name}", gateway.package)
            with server.running() as behind, _running(name, gateway, behind.url) as url:
                for protocol, cases in gateway.cases.items():
                    for case in cases:
                        said = _tried(name, gateway, protocol, case, url, behind)
                        bad = bad or bool(said)
                        known = f" ({case.known})" if case.known else ""
                        print(
                            f"{gateway.title}, {protocol}, {case.model}: {said or 'as it should be'}{known}", flush=True
                        )
        except Missing as reason:
            print(f"{gateway.title}: skipped, {reason}")
    return int(bad)


@contextmanager
def _running(name: str, gateway: Gateway, behind: str) -> Iterator[str]:
    """Its address, until the block is left. Raises Missing where it does not start."""
    root = ROOT / "gateways" / name
    home = root / "home"
    shutil.rmtree(home, ignore_errors=True)
    port = _free_port()
    for file, text in gateway.settings(port, behind).items():
        place = home / file
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    commands = root / "package" / ("node_modules/.bin" if gateway.package.registry == "npm" else "bin")
    program, *more = gateway.command(port, home)
    path = f"{commands}:{ROOT / 'node' / 'node_modules/node/bin'}:/usr/local/bin:/usr/bin:/bin"
    env = {"HOME": str(home), "PATH": path, "LANG": "C.UTF-8"}
    with (root / "log.txt").open("w", encoding="utf-8") as log:
        process = subprocess.Popen(
            [str(commands / program), *more], env=env, cwd=home, stdout=log, stderr=log, start_new_session=True
        )
        try:
            url = f"http://127.0.0.1:{port}"
            if not _answers(url + gateway.ready, process):
                raise Missing(f"{gateway.package.name} did not answer within {STARTS_S:g} s")
            yield url
        finally:
            _stop(process)


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def _answers(url: str, process: subprocess.Popen[bytes]) -> bool:
    """Whether it answers before its time is over or it ends."""
    until = time.monotonic() + STARTS_S
    while time.monotonic() < until and process.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return True
        except urllib.error.HTTPError:
            return True
        except OSError:
            time.sleep(0.5)
    return False


def _stop(process: subprocess.Popen[bytes]) -> None:
    """It and what it started, which is of its session."""
    for signal in (15, 9):
        try:
            os.killpg(process.pid, signal)
            process.wait(10)
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue
        return


def _tried(name: str, gateway: Gateway, protocol: Protocol, case: Case, url: str, behind: server.Server) -> str:
    """One summary by a command of its own; what went wrong, "" for nothing."""
    home = ROOT / "gateways" / name / "asking"
    shutil.rmtree(home, ignore_errors=True)
    settings = home / ".config/compaction-workbench/config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(
        f'[connections.gate]\nprotocol = "{protocol}"\nbase_url = "{url}{gateway.paths[protocol]}"\n'
        'key_env = "GATE_KEY"\ntries = 2\n'
    )
    env = {"HOME": str(home), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "PYTHONPATH": str(_REPO), "GATE_KEY": KEY}
    command = [sys.executable, "-m", "workbench", "compact", str(SESSION), "--strategy", "exchange-summary"]
    with behind.mark() as asked:
        done = subprocess.run(
            [*command, "--model", f"gate/{case.model}"], env=env, capture_output=True, text=True, timeout=300
        )
    if KEY in done.stdout + done.stderr:
        return "the key is in what was said"
    if done.returncode != case.code or case.words not in done.stdout:
        return f"it ended with {done.returncode}: {(done.stdout + done.stderr).strip()[-300:]}"
    if THROUGH in case.model and len(asked) != 1:
        return f"{len(asked)} requests came through in place of one"
    return ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
