"""From a builder to a finished folder, or to a stream: hooks, jobs, journal, checks, commit."""
