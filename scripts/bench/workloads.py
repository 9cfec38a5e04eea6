"""The workloads: each row of the table as a function for a library with the API of `datasets`, and one by hand.

A function takes the cell's `Context`, sets up untimed, and returns a callable; only that is timed.  What the callable returns
is compared between the implementations: who differs did not do the same work.
"""

import authored
import building
import disk
import folders
import formats
import opening
import operations
import planning
import reading
import transforms
from context import Workload

WORKLOADS: dict[str, Workload] = {
    **opening.ROWS,
    **planning.ROWS,
    **building.ROWS,
    **authored.ROWS,
    **folders.ROWS,
    **reading.ROWS,
    **formats.ROWS,
    **transforms.ROWS,
    **operations.ROWS,
    **disk.ROWS,
}
