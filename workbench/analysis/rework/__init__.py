"""Rework: work that an agent and its user repeated after a recorded compaction, found without a model."""

from workbench.analysis.rework.items import KINDS, Kind, NextStep, Rework, ReworkItem, rework, rework_report

__all__ = ["KINDS", "Kind", "NextStep", "Rework", "ReworkItem", "rework", "rework_report"]
