"""Tells the parent of a builder that cannot be, by changing the library in its own process."""

from datasets_core.scripting.sandbox import served

from .attacker import WHERE, Attacker

MODE = WHERE["mode"]
SECRET, OUT = WHERE["secret"], "../" * 8 + WHERE["home"].lstrip("/") + "/harm"


def _with(form, **changed):
    return {**form, **changed}


def _config(form, **fields):
    return _with(form, config=_with(form["config"], fields={**form["config"]["fields"], **fields}))


def _info(form, **changed):
    return _with(form, info=_with(form["info"], **changed))


def _deep(depth):
    inner = {"_type": "Value", "dtype": "int8"}
    for _ in range(depth):
        inner = {"_type": "Sequence", "feature": inner}
    return inner


CLASS = {
    "name of the builder": lambda form: _with(form, name=OUT),
    "dots for a name": lambda form: _with(form, name=".."),
    "name of the class": lambda form: _with(form, **{"class": "__class__"}),
    "escapes in the name": lambda form: _with(form, name="a\x1b[31m"),
    "name of a config": lambda form: _with(form, configs=[{"name": OUT, "fields": {}}]),
    "name in the fields": lambda form: _with(form, configs=[{"name": "a", "fields": {"name": OUT}}]),
    "methods in the fields": lambda form: _with(
        form, configs=[{"name": "a", "fields": {"create_config_id": "x", "__class__": "y"}}]
    ),
    "version": lambda form: _with(form, version="../../1.0.0"),
    "kind of rows": lambda form: _with(form, yields="pickles"),
    "nothing": lambda form: {},
    "lists for texts": lambda form: _with(form, doc=["x"], default={"a": 1}, version=3, configs=3),
    "default": lambda form: _with(form, default=OUT),
    "blocked": lambda form: _with(form, blocked=[[[1, 2]], {"a": 1}]),
}
BUILDER = {
    "config id": lambda form: _with(form, config_id=OUT),
    "dots for a config id": lambda form: _with(form, config_id=".."),
    "config id of many letters": lambda form: _with(form, config_id="x" * 100_000),
    "config's name": lambda form: _config(form, name=OUT),
    "config's files": lambda form: _config(form, data_files={"held": {"files": [["train", [[SECRET, 1, "x"]]]]}}),
    "config's folder": lambda form: _config(form, data_dir=WHERE["home"]),
    "config's features": lambda form: _config(form, features={"held": {"features": {"a": {"_type": "os.system"}}}}),
    "version of the builder": lambda form: _with(form, version={"version": OUT, "description": None, "release": None}),
    "names of classes in a file": lambda form: _info(form, features={"way": {"_type": "ClassLabel", "names_file": SECRET}}),
    "type": lambda form: _info(form, features={"way": {"_type": "system", "dtype": "os"}}),
    "type of numbers": lambda form: _info(
        form, features={"way": {"_type": "Value", "dtype": "__import__('os').system('touch harm')"}}
    ),
    "arguments of a type": lambda form: _info(form, features={"way": {"_type": "Image", "path": SECRET, "__class__": 3}}),
    "shape": lambda form: _info(form, features={"way": {"_type": "Array2D", "shape": [1 << 62, 1 << 62], "dtype": "float64"}}),
    "no shape": lambda form: _info(form, features={"way": {"_type": "Array2D", "shape": ["a", -1], "dtype": "float64"}}),
    "deep features": lambda form: _info(form, features={"way": _deep(25)}),
    "features of another kind": lambda form: _info(form, features=["way"]),
    "name of the dataset": lambda form: _info(form, dataset_name=OUT, builder_name=OUT, config_name=OUT, version="1.0.0"),
    "splits": lambda form: _info(form, splits={OUT: {"name": OUT, "num_examples": 1 << 70, "num_bytes": -1}}),
    "checksums": lambda form: _info(form, download_checksums={SECRET: {"num_bytes": "x", "checksum": 3}}),
    "sizes": lambda form: _info(form, download_size="x", dataset_size=[1], size_in_bytes=10**4000),
    "infos of other kinds": lambda form: _info(form, description=3, citation=["x"], license={"a": 1}, homepage=1.5),
    "supervised keys": lambda form: _info(form, supervised_keys={"input": {"a": 1}, "output": 3}),
    "release notes": lambda form: _with(form, release_notes=[1]),
    "batch": lambda form: _with(form, writer_batch_size=-1),
    "huge batch": lambda form: _with(form, writer_batch_size=1 << 60),
    "no info": lambda form: _with(form, info=3),
    "supported versions": lambda form: _with(form, supported=3, refused={"a": 1}),
}
SPLITS = {
    "splits with slashes": [["../../harm", {"d": {}}]],
    "splits with dots": [["..", {"d": {}}]],
    "same splits": [["train", {"d": {}}], ["train", {"d": {}}]],
    "splits of no text": [[3, {"d": {}}]],
    "splits of nothing": [],
    "split of all": [["all", {"d": {}}]],
    "not a list": 3,
    "kwargs of no dict": [["train", [1, 2]]],
    "kwargs of no form": [["train", {"d": {"a": {"x": 1}}}]],
    "kwargs held": [["train", {"d": {"a": {"held": {"number": -1, "kind": "value", "identity": None}}}}]],
    "kwargs held by a name": [["train", {"d": {"a": {"held": {"number": "x", "kind": "__class__", "identity": 3}}}}]],
    "kwargs unhashable": [["train", {"m": [[[1], 2]]}]],
    "kwargs of another hook": [["train", {"d": {"self": 1, "phase": 2}}]],
    "escapes in a split": [["a\x1b[31m", {"d": {}}]],
    "split of many letters": [["x" * 10_000, {"d": {}}]],
}

if MODE in CLASS:
    _class_form = served.class_form
    served.class_form = lambda cls: CLASS[MODE](_class_form(cls))
if MODE in BUILDER:
    _builder_form = served.builder_form
    served.builder_form = lambda builder: BUILDER[MODE](_builder_form(builder))
if MODE in SPLITS:
    served.Served.split_generators = lambda self, request: self._channel.reply({"splits": SPLITS[MODE]})


class Forms(Attacker):
    """Tells."""

    @staticmethod
    def ways():
        """No way: what is told is the attack."""
        return iter([("told", lambda: True)])
