"""Every way of writing an import, at the top, inside functions and under conditions."""

from __future__ import absolute_import, division, print_function

import os
import datasets as ds
import datasets.features as F
import datasets.features.features
from datasets import (
    Features as Schema,
    GeneratorBasedBuilder,
    Value as V,
)
from datasets.builder import BuilderConfig
from datasets.features import Sequence as Seq, ClassLabel
from datasets.info import DatasetInfo, SupervisedKeysData
from datasets.splits import NamedSplit, Split as S, SplitGenerator
from datasets.utils import logging
from datasets.utils.download_manager import DownloadManager
from datasets.utils.logging import get_logger
from datasets.utils.version import Version
from datasets.download import DownloadManager as Other
from datasets.download.download_manager import DownloadManager as Third
from datasets.tasks import TextClassification as TC

try:
    import simplejson_of_nobody as json
except ImportError:
    import json

if os.name == "nowhere":
    import datasets.arrow_nothing

from typing import TYPE_CHECKING, Dict, List

if TYPE_CHECKING:
    from datasets import Dataset

logger = logging.get_logger(__name__)
other = get_logger(__name__)


class ImportForms(GeneratorBasedBuilder):
    VERSION = Version("0.0.3")
    BUILDER_CONFIGS: List[BuilderConfig] = [BuilderConfig(name="only", version=VERSION)]

    def _info(self) -> DatasetInfo:
        import datasets

        from datasets.tasks import Summarization

        assert DownloadManager is Other is Third
        return DatasetInfo(
            features=Schema({"form": V("string"), "letters": Seq(V("string")), "kind": F.ClassLabel(names=["a", "b"])}),
            supervised_keys=SupervisedKeysData(input="form", output="kind"),
            task_templates=[TC(text_column="form", label_column="kind"), Summarization(text_column="form", summary_column="form")],
            description="%s" % (datasets.Version is Version and ds.ClassLabel is ClassLabel),
        )

    def _split_generators(self, dl_manager: DownloadManager) -> List[SplitGenerator]:
        return [
            SplitGenerator(name=S.TRAIN, gen_kwargs={"n": 2}),
            SplitGenerator(name=NamedSplit("held_out"), gen_kwargs={"n": 1}),
        ]

    def _generate_examples(self, n: int):
        from datasets import ClassLabel as Inner

        from importlib import import_module

        module = import_module("datasets")
        late = __import__("datasets.splits")
        assert module.ClassLabel is Inner is ds.features.ClassLabel
        assert late.splits.NamedSplit is NamedSplit
        for i in range(n):
            logger.warning("row %d", i) if i > 10 else other.info("row %d", i)
            yield i, {"form": json.dumps({"i": i}), "letters": list("ab"[: i + 1]), "kind": "ab"[i]}
