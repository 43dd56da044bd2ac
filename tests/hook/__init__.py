"""Tests of the hook inside agents."""
