"""A builder becomes a finished directory: hooks, jobs, journal, checks, commit."""
