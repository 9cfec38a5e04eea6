"""Which Arrow files a cell opens."""

import sys
from typing import Any


class Opened:
    """Counts Arrow files from now on: those that Python opens, and those that pyarrow maps, of which Python tells nobody."""

    def __init__(self) -> None:
        import pyarrow as pa

        self._paths: set[str] = set()
        sys.addaudithook(self._hear)
        mapped = pa.memory_map

        def memory_map(path: Any, *arguments: Any, **more: Any) -> Any:
            self._paths.add(str(path))
            return mapped(path, *arguments, **more)

        module: Any = pa
        module.memory_map = memory_map

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            self._paths.add(str(arguments[0]))

    def count(self) -> int:
        """How many different files there were."""
        return sum(path.endswith(".arrow") for path in self._paths)
