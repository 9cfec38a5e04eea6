"""The extensions of files, and which of them are those of the formats of this library."""

from __future__ import annotations

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


def extensions(path: str) -> Iterator[str]:
    """The extensions of a path or URL, the last first, in lower case.

    >>> list(extensions("https://x.org/a.CSV.gz?download=1"))
    ['.gz', '.csv']
    """
    head = path.partition("::")[0]
    if "://" in head and not head.startswith("hf://"):  # which has no queries: these are parts of names
        head = head.partition("?")[0].partition("#")[0]
    name = head.replace("\\", "/").rpartition("/")[2].lstrip(".")
    for part in reversed(name.lower().split(".")[1:]):
        yield f".{part}"
