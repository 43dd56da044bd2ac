"""Installing the hook into settings, taking it out, and what stays as it was."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from tests.commands import cwb
from workbench.base.errors import BadInput
from workbench.hook.agents import AGENTS
from workbench.hook.install import command_of, install_change, is_installed, uninstall_change
from workbench.hook.json_text import parts_of, start_of, with_part, without_part

CLAUDE = AGENTS["claude-code"]
EVENTS = ["PreCompact", "SubagentStop", "SessionStart"]
OTHER = '{"hooks": [{"type": "command", "command": "say done"}]}'
SETTINGS = {
    "nothing else": "{}\n",
    "other keys": '{\n  "zebra": 1,\n  "apple": {"é": [1,2 ,3]}\n}\n',
    "four spaces": '{\n    "model": "opus"\n}',
    "tabs": '{\n\t"model": "opus"\n}\n',
    "line ends of Windows": '{\r\n  "model": "opus"\r\n}\r\n',
    "one line": '{"model":"opus"}',
    "a byte order mark": '\ufeff{\n  "model": "opus"\n}\n',
    "empty hooks": '{\n  "hooks": {}\n}\n',
    "hooks of others": f'{{\n  "hooks": {{\n    "Stop": [\n      {OTHER}\n    ]\n  }},\n  "env": {{"A": "b"}}\n}}\n',
    "the same event": f'{{\n  "hooks": {{\n    "PreCompact": [\n      {OTHER}\n    ]\n  }}\n}}\n',
    "an empty event": '{\n  "hooks": {\n    "PreCompact": []\n  }\n}\n',
    "the same event, on one line": f'{{"hooks":{{"PreCompact":[{OTHER},{OTHER}]}}}}',
}


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "settings.json"


def _written(path: Path, text: str) -> str:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text.encode())
    return text


@pytest.mark.parametrize("name", SETTINGS)
def test_a_file_is_the_same_after_install_and_uninstall(settings: Path, name: str) -> None:
    before = _written(settings, SETTINGS[name])
    install_change(CLAUDE, settings, None).write()
    installed = json.loads(settings.read_text("utf-8-sig"))
    assert is_installed(CLAUDE, settings)
    assert [event for event in EVENTS if "hook claude-code" in str(installed["hooks"][event])] == EVENTS
    assert installed["hooks"]["SessionStart"][-1]["matcher"] == "compact"
    assert install_change(CLAUDE, settings, None).is_empty
    uninstall_change(CLAUDE, settings).write()
    assert settings.read_bytes().decode() == before
    assert uninstall_change(CLAUDE, settings).is_empty


def test_what_others_set_stays_between(settings: Path) -> None:
    _written(settings, SETTINGS["the same event"])
    install_change(CLAUDE, settings, None).write()
    first, second = json.loads(settings.read_text())["hooks"]["PreCompact"]
    assert first == json.loads(OTHER)
    assert "hook claude-code" in second["hooks"][0]["command"]


def test_a_file_that_was_made_is_removed_and_an_empty_one_of_the_user_is_not(settings: Path) -> None:
    change = install_change(CLAUDE, settings, None)
    assert not settings.exists()
    change.write()
    uninstall_change(CLAUDE, settings).write()
    assert not settings.exists()
    _written(settings, "{}")
    install_change(CLAUDE, settings, None).write()
    uninstall_change(CLAUDE, settings).write()
    assert settings.read_text() == "{}"


def test_what_the_user_adds_later_stays(settings: Path) -> None:
    install_change(CLAUDE, settings, None).write()
    text = settings.read_text()
    settings.write_text(with_part(text, start_of(text), '"model": "opus"', 1))
    uninstall_change(CLAUDE, settings).write()
    assert json.loads(settings.read_text()) == {"model": "opus"}


def test_a_hook_before_one_of_others_is_left_where_it_is(settings: Path) -> None:
    install_change(CLAUDE, settings, None).write()
    text = settings.read_text()
    at = next(part.at for part in parts_of(text, text.index("{", 2)) if part.key == "PreCompact")
    settings.write_text(with_part(text, at, OTHER, 3))
    assert install_change(CLAUDE, settings, None).is_empty


def test_no_module_of_the_agents_folder_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert command_of(CLAUDE, None) == [sys.executable, "-P", "-m", "workbench", "hook", "claude-code"]


def test_another_limit_replaces_the_hook(settings: Path) -> None:
    before = _written(settings, SETTINGS["hooks of others"])
    install_change(CLAUDE, settings, None).write()
    install_change(CLAUDE, settings, 300).write()
    assert settings.read_text().count("--tokens 300") == 3
    assert settings.read_text().count("hook claude-code") == 3
    uninstall_change(CLAUDE, settings).write()
    assert settings.read_text() == before


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{\n  oops\n}", ":2: not valid JSON"),
        ("[]", "hooks must be"),
        ('{"hooks": []}', "hooks must be"),
        ('{"hooks": {"PreCompact": 3}}', "hooks must be"),
        ("\udcff", "cannot be read"),
    ],
)
def test_a_damaged_file_is_refused_and_left(settings: Path, text: str, words: str) -> None:
    settings.parent.mkdir()
    settings.write_bytes(text.encode("utf-8", "surrogateescape"))
    for change in (lambda: install_change(CLAUDE, settings, None), lambda: uninstall_change(CLAUDE, settings)):
        with pytest.raises(BadInput, match=words):
            change()
    assert settings.read_bytes() == text.encode("utf-8", "surrogateescape")


def test_a_file_that_changed_meanwhile_is_not_written(settings: Path) -> None:
    change = install_change(CLAUDE, settings, None)
    _written(settings, '{"model": "opus"}')
    with pytest.raises(BadInput, match="changed meanwhile"):
        change.write()
    assert settings.read_text() == '{"model": "opus"}'


def test_the_mode_and_a_link_stay(settings: Path, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.json"
    real.write_text("{}")
    real.chmod(0o644)
    settings.parent.mkdir()
    settings.symlink_to(real)
    install_change(CLAUDE, settings, None).write()
    assert settings.is_symlink()
    assert (real.stat().st_mode & 0o777, is_installed(CLAUDE, real)) == (0o644, True)


def test_parts_of_a_text() -> None:
    text = ' {"a" : [1, {"b":"]}"}] , "a": "x"}'
    first, second = parts_of(text, start_of(text))
    assert (first.key, first.value, second.value) == ("a", [1, {"b": "]}"}], "x")
    assert text[first.start : first.stop] == '"a" : [1, {"b":"]}"}]'
    assert without_part(text, start_of(text), 0) == ' {"a": "x"}'
    assert without_part(text, start_of(text), 1) == ' {"a" : [1, {"b":"]}"}]}'


# --- the commands -----------------------------------------------------------------------------------------------------


def test_nothing_is_written_unasked(own_home: Path) -> None:
    shown = cwb("hook", "install", "claude-code")
    assert shown.exit_code == 1
    assert '+      {"matcher": "compact", "hooks"' in shown.stdout
    assert "--yes" in shown.stderr
    assert not (own_home / ".claude").exists()


def test_install_status_and_uninstall(own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = own_home / ".claude/settings.json"
    assert cwb("hook", "install", "claude-code", "--yes").stdout.endswith(f"Written: {path}\n")
    assert cwb("hook", "install", "claude-code", "--yes").stdout == f"The hook is already in {path}.\n"
    status = cwb("hook", "status").stdout
    assert f"Claude Code: installed in {path}" in status
    assert f"Claude Code: not installed in {tmp_path}/.claude/settings.local.json" in status
    shown = json.loads(cwb("hook", "status", "--json").stdout)
    assert shown["places"][0] == {
        "agent": "claude-code",
        "scope": "user",
        "settings": str(path),
        "state": "installed",
    }
    assert cwb("hook", "uninstall", "claude-code", "--yes").stdout.endswith(f"Removed: {path}\n")
    assert not path.exists()


def test_the_project_has_settings_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert cwb("hook", "install", "claude-code", "--project", "--yes").exit_code == 0
    assert is_installed(CLAUDE, tmp_path / ".claude/settings.local.json")


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        ("emacs", "there are claude-code, codex, pi, "),
        ("gemini-cli", "PreCompress before every request"),
        ("cline", "runs it at no event"),
        ("opencode", "not given the summary afterwards"),
    ],
)
def test_an_agent_that_cannot_use_it_is_refused_with_the_reason(agent: str, words: str) -> None:
    for job in ("install", "uninstall"):
        refused = cwb("hook", job, agent)
        assert refused.exit_code == 2
        assert words in " ".join(refused.stderr.split())
    if agent != "emacs":
        assert words in " ".join(cwb("hook", agent).stderr.split())
        assert words in cwb("hook", "status").stdout


def test_what_is_left_to_do_in_codex_is_said(own_home: Path) -> None:
    assert "accept the new hooks" in cwb("hook", "install", "codex", "--yes").stdout
    assert json.loads((own_home / ".codex/hooks.json").read_text())["hooks"]["SessionStart"][0]["matcher"] == "compact"


def test_a_plug_in_is_written_replaced_and_removed(own_home: Path) -> None:
    path = own_home / ".pi/agent/extensions/cwb-hook.js"
    assert cwb("hook", "install", "pi", "--yes").exit_code == 0
    assert re.search(r'^const COMMAND = \[.*"hook", "pi"\];$', path.read_text(), re.MULTILINE)
    assert cwb("hook", "install", "pi", "--yes", "--tokens", "300").exit_code == 0
    assert '"hook", "pi", "--tokens", "300"];' in path.read_text()
    assert f"pi: installed in {path}" in cwb("hook", "status").stdout
    assert cwb("hook", "uninstall", "pi", "--yes").exit_code == 0
    assert not path.exists()
    assert "is not in" in cwb("hook", "uninstall", "pi").stdout


def test_a_file_of_the_user_in_the_place_of_a_plug_in_stays(own_home: Path) -> None:
    path = own_home / ".pi/agent/extensions/cwb-hook.js"
    path.parent.mkdir(parents=True)
    path.write_text("export default () => {};\n")
    for job in ("install", "uninstall"):
        refused = cwb("hook", job, "pi", "--yes")
        assert (refused.exit_code, path.read_text()) == (2, "export default () => {};\n")


def test_an_agent_that_keeps_its_settings_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "elsewhere"))
    assert cwb("hook", "install", "claude-code", "--yes").exit_code == 0
    assert is_installed(CLAUDE, tmp_path / "elsewhere/settings.json")
