"""One file per data format, installed as `datasets_core.builders`."""

if __name__ != "datasets_core.builders":
    raise ImportError("Import datasets_core.builders, not builders, so that each class has one identity.")
