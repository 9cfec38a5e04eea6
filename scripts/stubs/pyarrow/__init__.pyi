# Almost all of pyarrow is made when it is imported, or compiled, where no type checker sees it.
from typing import Any

def __getattr__(name: str) -> Any: ...
