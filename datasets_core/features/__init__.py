"""The types of columns, and the way between Python values and Arrow.

The public names open their own modules on first use, as scripts write `datasets.features.ClassLabel`.
"""

from typing import TYPE_CHECKING

from datasets_core._lazy import attach

if TYPE_CHECKING:
    from datasets_core.features.audio import Audio as Audio
    from datasets_core.features.base import LargeList as LargeList
    from datasets_core.features.base import List as List
    from datasets_core.features.base import Sequence as Sequence
    from datasets_core.features.base import Value as Value
    from datasets_core.features.dynamic import Json as Json
    from datasets_core.features.fixed_shape import Array2D as Array2D
    from datasets_core.features.fixed_shape import Array3D as Array3D
    from datasets_core.features.fixed_shape import Array4D as Array4D
    from datasets_core.features.fixed_shape import Array5D as Array5D
    from datasets_core.features.image import Image as Image
    from datasets_core.features.labels import ClassLabel as ClassLabel
    from datasets_core.features.pdf import Pdf as Pdf
    from datasets_core.features.schema import Features as Features
    from datasets_core.features.science import BioSequence as BioSequence
    from datasets_core.features.science import BioStructure as BioStructure
    from datasets_core.features.science import Mesh as Mesh
    from datasets_core.features.science import Nifti as Nifti
    from datasets_core.features.translation import Translation as Translation
    from datasets_core.features.translation import TranslationVariableLanguages as TranslationVariableLanguages
    from datasets_core.features.video import Video as Video

_HOMES = {
    "Array2D": "datasets_core.features.fixed_shape",
    "Array3D": "datasets_core.features.fixed_shape",
    "Array4D": "datasets_core.features.fixed_shape",
    "Array5D": "datasets_core.features.fixed_shape",
    "Audio": "datasets_core.features.audio",
    "BioSequence": "datasets_core.features.science",
    "BioStructure": "datasets_core.features.science",
    "ClassLabel": "datasets_core.features.labels",
    "Features": "datasets_core.features.schema",
    "Image": "datasets_core.features.image",
    "Json": "datasets_core.features.dynamic",
    "LargeList": "datasets_core.features.base",
    "List": "datasets_core.features.base",
    "Mesh": "datasets_core.features.science",
    "Nifti": "datasets_core.features.science",
    "Pdf": "datasets_core.features.pdf",
    "Sequence": "datasets_core.features.base",
    "Translation": "datasets_core.features.translation",
    "TranslationVariableLanguages": "datasets_core.features.translation",
    "Value": "datasets_core.features.base",
    "Video": "datasets_core.features.video",
}

__getattr__, __dir__ = attach(__name__, _HOMES)
__all__ = [*_HOMES]
