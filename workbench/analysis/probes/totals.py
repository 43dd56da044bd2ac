"""Results of probes over several sessions: the same kind of compaction in each, with its own questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from workbench.analysis.probes.exam import FULL, NOTHING
from workbench.analysis.probes.probe import KINDS, ProbeKind
from workbench.analysis.probes.results import ProbeScore, Probing, lead_of, share_of


@dataclass(frozen=True)
class ProbingTotal:
    """Arms of the same name over several sessions. Intervals draw sessions first, then questions of each, because
    questions of one session are not independent. Sessions without an arm do not count for it."""

    several: tuple[Probing, ...]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The full context, every compaction in order of appearance, nothing."""
        found = dict.fromkeys(arm.name for one in self.several for arm in one.arms)
        return (FULL, *(name for name in found if name not in (FULL, NOTHING)), NOTHING)

    @cached_property
    def kinds(self) -> tuple[ProbeKind, ...]:
        """Kinds of the questions."""
        there = {kind for one in self.several for kind in one.kinds}
        return tuple(kind for kind in KINDS if kind in there)

    def sessions(self, name: str) -> int:
        """Return the number of sessions with an arm."""
        return len(self._with(name))

    def tokens(self, name: str) -> int:
        """Return the tokens of an arm over its sessions."""
        return sum(one.arms[arm].tokens for one, arm in self._with(name))

    def share(self, name: str, kind: ProbeKind | None = None) -> ProbeScore | None:
        """Return the score of an arm over its sessions."""
        return share_of(*(one.hits(arm, kind) for one, arm in self._with(name)))

    def made_up(self, name: str) -> tuple[int, int]:
        """Return the number of controls answered as if known, and of all."""
        counts = [one.made_up(arm) for one, arm in self._with(name)]
        return sum(invented for invented, _ in counts), sum(controls for _, controls in counts)

    def unanswered(self, name: str) -> int:
        """Return the number of missing answers of an arm."""
        return sum(one.unanswered(arm) for one, arm in self._with(name))

    def less(self, name: str) -> tuple[float, float, float] | None:
        """Return the lead of the full context of the same session, -1 to 1, with the interval of paired draws."""
        return lead_of(*((one.hits(0), one.hits(arm)) for one, arm in self._with(name)))

    def _with(self, name: str) -> Sequence[tuple[Probing, int]]:
        return [(one, at) for one in self.several if (at := _place(one, name)) is not None]


def _place(one: Probing, name: str) -> int | None:
    return next((at for at, arm in enumerate(one.arms) if arm.name == name), None)
