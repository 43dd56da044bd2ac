"""Runs of compactions: one run, its cost and drafts, questions to a model, variants, experiments and requirements.

live_run.py       a run: key, spend limit, calls, record
cost_estimate.py  what a run will cost
drafts.py         drafts of a run, edited by the user
questions.py      questions about a context, and a model's answers
variants.py       presets, numbers, prompts or models on the same messages
experiment.py     variants on many sessions, each against the first
requirements.py   requirements of `cwb check`, and which of them an outcome breaks
"""
