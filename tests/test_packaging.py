"""The installed package stands on its own: prompts, samples, presets and token ranks come with the wheel."""

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.paths import ROOT, SAMPLES


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built and installed into an empty folder."""
    folder = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    build = [*pip, "wheel", str(ROOT), "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder / "wheel")]
    subprocess.run(build, cwd=folder, check=True, capture_output=True, timeout=120)
    (wheel,) = (folder / "wheel").glob("compaction_workbench-*.whl")
    install = [*pip, "install", "--no-deps", "--no-index", "--target", str(folder / "site"), str(wheel)]
    subprocess.run(install, cwd=folder, check=True, capture_output=True, timeout=120)
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
        timeout=60,
    )


def test_prompts_and_samples_are_found(installed: Path) -> None:
    code = "import workbench, workbench.resources as r; print(workbench.__file__, r.PROMPTS, r.SAMPLES, sep='\\n')"
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


def test_a_sample_opens_outside_the_checkout(installed: Path) -> None:
    sample = next(path for path in sorted(installed.rglob("sample_sessions/*.json*")))
    run = _python(installed, "-m", "workbench", "inspect", str(sample), "--json")
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout)["context"]["tokens"] > 0


def test_a_preset_runs_outside_the_checkout(installed: Path) -> None:
    run = _python(installed, "-m", "workbench", "strategies", "--json")
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout)["presets"]


def _files(folder: Path) -> list[str]:
    return sorted(
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    )
