# Most of these functions are made when pyarrow is imported, where no type checker sees them.
from typing import Any

def __getattr__(name: str) -> Any: ...
