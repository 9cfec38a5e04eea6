"""Types of columns, and conversion between Python values and Arrow.

The modules of public names are imported on first use, and are also found under names such as `datasets.features.ClassLabel`.
"""

from typing import TYPE_CHECKING

from datasets_core._lazy import attach

if TYPE_CHECKING:
    from datasets_core.features.base import Feature as Feature
    from datasets_core.features.base import LargeList as LargeList
    from datasets_core.features.base import List as List
    from datasets_core.features.base import Sequence as Sequence
    from datasets_core.features.base import Value as Value
    from datasets_core.features.base import register_feature as register_feature
    from datasets_core.features.formats.formats import TabularFormat as TabularFormat
    from datasets_core.features.formats.formats import register_tabular as register_tabular
    from datasets_core.features.media.audio import Audio as Audio
    from datasets_core.features.media.types import BioSequence as BioSequence
    from datasets_core.features.media.types import BioStructure as BioStructure
    from datasets_core.features.media.types import Image as Image
    from datasets_core.features.media.types import Mesh as Mesh
    from datasets_core.features.media.types import Nifti as Nifti
    from datasets_core.features.media.types import Pdf as Pdf
    from datasets_core.features.media.types import Video as Video
    from datasets_core.features.schema import Features as Features
    from datasets_core.features.types import Array2D as Array2D
    from datasets_core.features.types import Array3D as Array3D
    from datasets_core.features.types import Array4D as Array4D
    from datasets_core.features.types import Array5D as Array5D
    from datasets_core.features.types import ClassLabel as ClassLabel
    from datasets_core.features.types import Json as Json
    from datasets_core.features.types import Translation as Translation
    from datasets_core.features.types import TranslationVariableLanguages as TranslationVariableLanguages

KINDS = {
    "Value": "datasets_core.features.base",
    "List": "datasets_core.features.base",
    "LargeList": "datasets_core.features.base",
    "Sequence": "datasets_core.features.base",
    "ClassLabel": "datasets_core.features.types",
    "Translation": "datasets_core.features.types",
    "TranslationVariableLanguages": "datasets_core.features.types",
    "Array2D": "datasets_core.features.types",
    "Array3D": "datasets_core.features.types",
    "Array4D": "datasets_core.features.types",
    "Array5D": "datasets_core.features.types",
    "Json": "datasets_core.features.types",
    "Audio": "datasets_core.features.media.audio",
    "Image": "datasets_core.features.media.types",
    "Video": "datasets_core.features.media.types",
    "Pdf": "datasets_core.features.media.types",
    "Nifti": "datasets_core.features.media.types",
    "Mesh": "datasets_core.features.media.types",
    "BioSequence": "datasets_core.features.media.types",
    "BioStructure": "datasets_core.features.media.types",
}
"""The kinds of columns, by their names in metadata, and the modules that define them."""

_HOMES = {
    **KINDS,
    "Feature": "datasets_core.features.base",
    "Features": "datasets_core.features.schema",
    "TabularFormat": "datasets_core.features.formats.formats",
    "register_feature": "datasets_core.features.base",
    "register_tabular": "datasets_core.features.formats.formats",
}

__getattr__, __dir__ = attach(__name__, _HOMES)
__all__ = [*_HOMES]
