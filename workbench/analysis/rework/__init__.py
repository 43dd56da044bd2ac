"""Rework: what an agent and its user had to do once more after a recorded compaction, counted without a model."""

from workbench.analysis.rework.found import KINDS, Again, Kind, Rework, rework, told_rework
from workbench.analysis.rework.resumed import Resumed

__all__ = ["KINDS", "Again", "Kind", "Resumed", "Rework", "rework", "told_rework"]
