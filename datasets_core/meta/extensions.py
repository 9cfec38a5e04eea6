"""The extensions of files, and which of them are those of the formats of this library."""

from __future__ import annotations

import re
from collections.abc import Iterator

# What the modules of the formats say in EXTENSIONS: to ask each of them would import them all.
_EXTENSIONS = {
    "parquet": ".parquet .geoparquet .gpq",
    "arrow": ".arrow",
    "json": ".json .jsonl .ndjson",
    "csv": ".csv .tsv",
    "imagefolder": (
        ".blp .bmp .dib .bufr .cur .pcx .dcx .dds .ps .eps .fit .fits .fli .flc .ftc .ftu .gbr .gif .grib "
        ".png .apng .jp2 .j2k .jpc .jpf .jpx .j2c .icns .ico .im .iim .tif .tiff .jfif .jpe .jpg .jpeg .msp "
        ".pcd .pxr .pbm .pgm .ppm .pnm .psd .bw .rgb .rgba .sgi .ras .tga .icb .vda .vst .webp .wmf .emf .xbm "
        ".xpm"
    ),
    "audiofolder": (
        ".mpg .aiff .au .avr .caf .flac .htk .svx .mat4 .mat5 .mpc2k .ogg .paf .pvf .raw .rf64 .sd2 .sds "
        ".ircam .voc .w64 .wav .nist .wavex .wve .xi .mp3 .opus .3gp .3g2 .asf .flv .m4v .webm .f4v .wmv .wma "
        ".ogm .mxf .nut"
    ),
    "videofolder": ".mpeg .avi .mp4 .mov .mkv",
    "pdffolder": ".pdf",
    "webdataset": ".tar",
    "tfrecord": ".tfrecord .tfrecords .tfrec",
    "hdf5": ".hdf5 .h5",
    "xml": ".xml",
    "conll": ".conll .conllu",
    "fasta": ".fa .fasta .fna .ffn .faa .frn .afa",
    "fastq": ".fq .fastq",
    "meshfolder": ".glb .gltf .ply .stl",
    "niftifolder": ".nii .nii.gz",
    "text": ".txt",
}
FORMATS = {extension: name for name, listed in _EXTENSIONS.items() for extension in listed.split()}
COMPRESSION = frozenset((".gz", ".bz2", ".xz", ".lz4", ".zst", ".zip", ".tar", ".tgz", ".rar", ".7z"))
RECORD_INDEX = ".idx"
"""What the name of a file ends with that lies beside a file of records, and tells where each of them begins."""

_SHARD = re.compile(r"-[0-9]{5,}-of-[0-9]{5,}$")


def extensions(path: str) -> Iterator[str]:
    """The extensions of a path or URL, the last first, in lower case, without the number of a shard behind them.

    >>> list(extensions("https://x.org/a.CSV.gz?download=1"))
    ['.gz', '.csv']
    >>> list(extensions("mnist-train.tfrecord-00000-of-00010"))
    ['.tfrecord']
    """
    for part in reversed(_file_name(path).lower().split(".")[1:]):
        yield f".{_SHARD.sub('', part)}"


def is_bare_shard(path: str) -> bool:
    """Whether the name of a file ends with the number of a shard, and has no extension: so are files of records named.

    >>> [is_bare_shard(name) for name in ("train-00000-of-01024", "v1.0-train-00000-of-01024.gz", "a.txt-00000-of-00002")]
    [True, True, False]
    """
    name = _file_name(path).lower()
    stem, _, last = name.rpartition(".")
    if stem and f".{last}" in COMPRESSION:
        name = stem
    head = _SHARD.sub("", name)
    return head != name and ("." not in head or not head.rpartition(".")[2].replace("_", "").isalpha())


def _file_name(path: str) -> str:
    head = path.partition("::")[0]
    if "://" in head and not head.startswith("hf://"):  # which has no queries: these are parts of names
        head = head.partition("?")[0].partition("#")[0]
    return head.replace("\\", "/").rpartition("/")[2].lstrip(".")
