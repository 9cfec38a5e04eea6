"""Builds and streams of builders: hooks, jobs, journal, checks, commit."""
