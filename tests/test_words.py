"""What a command's help says is said in words of users."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click
import pytest

from tests.words import INSIDERS, unexplained
from workbench.cli import commands


def helps(command: click.Command, name: str) -> Iterator[tuple[str, str]]:
    """Every command below this one, with what its help says."""
    # A command keeps the option for help of the first context that asks for it: this one has that of the program.
    context = click.Context(command, info_name=name, max_content_width=100, **commands.context_settings)
    yield name, command.get_help(context)
    if isinstance(command, click.Group):
        for one in command.list_commands(context):
            below = command.get_command(context, one)
            assert below is not None
            yield from helps(below, f"{name} {one}")


HELPS = dict(helps(commands, "cwb"))


@pytest.mark.parametrize("name", HELPS)
def test_the_help_of_every_command_is_told_in_words_of_users(name: str) -> None:
    told = HELPS[name]
    insiders = [line for line in told.splitlines() for word in INSIDERS.values() if re.search(word, line)]
    assert insiders == []
    assert list(unexplained(told, "")) == []
    assert len(HELPS) > 20


@pytest.mark.parametrize(
    ("said", "help", "found"),
    [
        ("epoch 2/3", "", ["epoch"]),
        ("epoch 2/3", "An epoch is what the agent worked with between two\ncompactions.", []),
        ("the exchange-summary strategy", "", []),
        ("kept: the tail", "", ["tail"]),
    ],
)
def test_a_word_is_unexplained_where_nothing_says_what_it_is(said: str, help: str, found: list[str]) -> None:
    assert list(unexplained(said, help)) == found
