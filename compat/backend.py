"""The build backend of setuptools, which refuses to build where another `datasets` would be overwritten."""

import importlib.metadata
import sysconfig

from setuptools.build_meta import *  # noqa: F403
from setuptools.build_meta import build_wheel as _build_wheel
from setuptools.build_meta import prepare_metadata_for_build_wheel as _prepare


def _check():
    """Raise an error if the environment of this interpreter has a `datasets` that is not from this folder."""
    folders = sorted({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")})
    for found in importlib.metadata.distributions(name="datasets", path=folders):
        if "+core." not in found.version:
            raise SystemExit(
                f"datasets {found.version} is installed in {folders[0]}. It is not overwritten: run 'pip uninstall datasets' "
                "first, or use datasets_core.as_datasets.install() in your program instead of this package."
            )


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    """See PEP 517."""
    _check()
    return _prepare(metadata_directory, config_settings)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """See PEP 517."""
    _check()
    return _build_wheel(wheel_directory, config_settings, metadata_directory)
