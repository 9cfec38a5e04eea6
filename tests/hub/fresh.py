"""A fresh Python process that has the small Hub for its endpoint, as users have the real one."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_PRELUDE = """
import json as _json, sys as _sys
def say(value):
    print("\\x1e" + _json.dumps(value, default=str), flush=True)
try:
    exec(compile(_sys.stdin.read(), "<the test>", "exec"), {"__name__": "__main__", "say": say})
except BaseException as _error:
    if isinstance(_error, SystemExit) and not _error.code:
        raise
    _kinds = [each.__name__ for each in type(_error).__mro__]
    print("\\x1f" + _json.dumps([_kinds, str(_error)]), flush=True)
    import traceback
    traceback.print_exc()
    _sys.exit(1)
"""


@dataclass
class Outcome:
    """What a process said.

    Attributes:
        said: the values that it gave to `say`.
        error: the message of the exception that ended it; None for none.
        error_kinds: names of the exception's class and of those that it inherits from.
    """

    said: list[Any] = field(default_factory=list)
    error: str | None = None
    error_kinds: tuple[str, ...] = ()
    code: int = 0
    stdout: str = ""
    stderr: str = ""

    @property
    def value(self) -> Any:
        """The one value that was said."""
        assert self.error is None, f"{self.error_kinds[0]}: {self.error}\n{self.stderr}"
        assert self.code == 0, self.stderr
        assert len(self.said) == 1, self.said
        return self.said[0]


class Fresh:
    """Runs code in processes that share a home."""

    def __init__(self, url: str, home: Path) -> None:
        self.url, self.home = url, home

    def environment(self, token: str | None = None, **more: str | None) -> dict[str, str]:
        """The variables of such a process; None takes one away."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "HUGGING"))}
        ours: dict[str, str | None] = {
            "HF_ENDPOINT": self.url,
            "HF_HOME": str(self.home),
            "HF_TOKEN": token,
            "HF_HUB_DISABLE_XET": "1",
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        }
        return {name: value for name, value in {**kept, **ours, **more}.items() if value is not None}

    def __call__(
        self, code: str, *, token: str | None = None, python: str = sys.executable, seconds: float = 60, **env: str | None
    ) -> Outcome:
        """Run code to its end; it gives its values to `say`."""
        done = subprocess.run(
            [python, "-c", _PRELUDE],
            input=code,
            capture_output=True,
            text=True,
            env=self.environment(token, **env),
            timeout=seconds,
            cwd=self.home.parent,
        )
        outcome = Outcome(code=done.returncode, stderr=done.stderr)
        for line in re.findall(r".*\n|.+", done.stdout):
            if line.startswith("\x1e"):
                outcome.said.append(json.loads(line[1:]))
            elif line.startswith("\x1f"):
                kinds, outcome.error = json.loads(line[1:])
                outcome.error_kinds = tuple(kinds)
            else:
                outcome.stdout += line
        return outcome

    def start(self, code: str, *, token: str | None = None, **env: str | None) -> subprocess.Popen[str]:
        """Begin to run code that the test will end."""
        process = subprocess.Popen(
            [sys.executable, "-c", "import sys; exec(sys.stdin.read())"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            text=True,
            env=self.environment(token, **env),
            cwd=self.home.parent,
        )
        assert process.stdin is not None
        process.stdin.write(code)
        process.stdin.close()
        return process

    @staticmethod
    def kill(process: subprocess.Popen[str]) -> None:
        """End it at once, as a crash does."""
        process.send_signal(signal.SIGKILL)
        process.wait()
