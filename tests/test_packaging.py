"""The installed package stands on its own: prompts, samples, presets and token ranks come with the wheel."""

import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from tests.paths import ROOT, SAMPLES


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built and unpacked into an empty folder, which is what an installation is."""
    folder = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    build = [*pip, "wheel", str(ROOT), "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder / "wheel")]
    subprocess.run(build, cwd=folder, check=True, capture_output=True)
    (wheel,) = (folder / "wheel").glob("compaction_workbench-*.whl")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(folder / "site")
    return folder / "site"


def _python(installed: Path, *args: str) -> subprocess.CompletedProcess[str]:
    """Run outside the checkout, with the installed package before the environment's own editable one."""
    path = os.pathsep.join([str(installed), sysconfig.get_path("purelib")])
    return subprocess.run(
        [sys.executable, *args],
        cwd=installed.parent,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


def test_prompts_and_samples_are_found(installed: Path) -> None:
    code = "import workbench, workbench.base.resources as r; print(workbench.__file__, r.PROMPTS, r.SAMPLES, sep='\\n')"
    run = _python(installed, "-c", code)
    assert run.returncode == 0, run.stderr
    package, prompts, samples = map(Path, run.stdout.splitlines())
    assert package.is_relative_to(installed)
    assert prompts.is_relative_to(installed)
    assert samples.is_relative_to(installed)
    assert _files(prompts) == _files(ROOT / "prompts") != []
    assert _files(samples) == _files(SAMPLES) != []


@pytest.mark.parametrize("folder", ["compaction/presets", "tokens/ranks", "tui"])
def test_files_beside_the_code_are_installed(installed: Path, folder: str) -> None:
    assert _files(installed / "workbench" / folder) == _files(ROOT / "workbench" / folder) != []


def test_the_package_says_that_it_is_typed(installed: Path) -> None:
    assert (installed / "workbench" / "py.typed").is_file()


def test_a_preset_runs_on_a_sample_outside_the_checkout(installed: Path) -> None:
    sample = next(installed.rglob("sample_sessions/openai-chat-tools.json"))
    run = _python(installed, "-m", "workbench", "compact", str(sample), "--preset", "augment-example", "--json")
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    assert 0 < found["after"]["tokens"] < found["before"]["tokens"]


def _files(folder: Path) -> list[str]:
    return sorted(
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    )
