"""Settings of Sphinx: `make docs` writes the generated pages (`scripts/reference.py`), the plots of measured times
(`scripts/bench/report.py`) and then the site, without a network."""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "scripts" / "bench")]

import reference  # noqa: E402
import report  # noqa: E402

from datasets_core import __version__  # noqa: E402

project = "datasets_core"
author = "The authors of datasets_core"
copyright = author  # noqa: A001  a name of Sphinx
release = version = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
default_role = "code"
nitpicky = False
smartquotes = False  # quotation marks in texts are often those of Python
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence", "deflist"]

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # signatures and docstrings have them
autodoc_default_options = {"members": True, "inherited-members": True}
autodoc_preserve_defaults = True
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_rtype = False
napoleon_preprocess_types = False

html_theme = "furo"
html_title = f"datasets_core {release}"
html_static_path = ["_static"]
html_css_files = ["tables.css"]
html_show_sourcelink = False
html_show_sphinx = False

reference.write(ROOT / "docs" / "reference")
report.plots(json.loads(report.RESULTS.read_text(encoding="utf-8")), ROOT / "docs" / "speed" / "plots")
