"""Writes the JavaScript of others that the viewer's page uses, from packages of npm: `python scripts/vendor.py`.

Each file is taken from its package as it was published, without the line that names its source map. `VERSIONS.txt` beside
the files has their versions, licences and hashes; `--check` compares with them and writes nothing.
"""

import argparse
import hashlib
import io
import json
import subprocess
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "datasets_core" / "viewer" / "static" / "vendor"
TESTS = ROOT / "tests" / "viewer" / "vendor"
PACKAGES = {  # folder → package, version, the file that is taken, its name here, the texts that go with it
    FOLDER: ("apache-arrow", "21.2.0", "Arrow.esnext.min.js", "arrow.js", ("LICENSE.txt", "NOTICE.txt")),
    TESTS: ("axe-core", "4.14.1", "axe.min.js", "axe.js", ("LICENSE",)),
}


def packed(package: str, version: str) -> tarfile.TarFile:
    """Return the package as npm has it."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            ["npm", "pack", f"{package}@{version}", "--json", "--pack-destination", folder],
            capture_output=True,
            text=True,
            check=True,
        )
        listed = json.loads(done.stdout)
        first = listed[0] if isinstance(listed, list) else next(iter(listed.values()))
        data = (Path(folder) / first["filename"]).read_bytes()
    return tarfile.open(fileobj=io.BytesIO(data), mode="r:gz")


def content(archive: tarfile.TarFile, name: str) -> bytes:
    """Return a file of the package."""
    file = archive.extractfile(f"package/{name}")
    assert file is not None, f"the package has no {name}"
    return file.read()


def main() -> None:
    """Write the files, or compare them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    is_check = parser.parse_args().check
    for folder, (package, version, source, name, texts) in PACKAGES.items():
        archive = packed(package, version)
        licence = json.loads(content(archive, "package.json"))["license"]
        lines = [line for line in content(archive, source).splitlines(keepends=True) if b"sourceMappingURL" not in line]
        files = {name: b"".join(lines), **{text: content(archive, text) for text in texts}}
        digest = hashlib.sha256(files[name]).hexdigest()
        files["VERSIONS.txt"] = f"{name}  {package} {version}  {licence}  sha256 {digest}\n".encode()
        for each, data in files.items():
            place = folder / each
            if is_check:
                assert place.read_bytes() == data, f"{place} differs from {package} {version}"
            else:
                folder.mkdir(parents=True, exist_ok=True)
                place.write_bytes(data)
        print(f"{folder.relative_to(ROOT) / name}: {package} {version}, {len(files[name]):,} bytes, {licence}")


if __name__ == "__main__":
    main()
