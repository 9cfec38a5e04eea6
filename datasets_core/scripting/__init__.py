"""Dataset scripts: read, imported under separate module names, with compatibility modules for old libraries."""
