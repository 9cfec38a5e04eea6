"""The build of datasets_core itself, with a file that puts the alias on the path where DATASETS_CORE_AS_DATASETS=1."""

from pathlib import Path

from setuptools.command.build_py import build_py

_NAME = "datasets_core_alias.pth"


class BuildPy(build_py):
    """Builds the packages, and lays the `.pth` file beside them; an editable installation goes without it."""

    def run(self) -> None:
        """See `setuptools.Command`."""
        super().run()
        if not self.editable_mode:
            self.copy_file(str(Path(__file__).with_name(_NAME)), str(Path(self.build_lib) / _NAME))
