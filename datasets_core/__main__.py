"""`python -m datasets_core`: the command `datasets-core`."""

import sys

from datasets_core.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
