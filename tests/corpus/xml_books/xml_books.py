"""XML, parsed whole and piece by piece."""

import xml.dom.minidom
import xml.etree.ElementTree as ET
from xml.etree import ElementTree

import datasets


class XmlBooks(datasets.GeneratorBasedBuilder):
    BUILDER_CONFIGS = [datasets.BuilderConfig(name=name) for name in ("parse", "iterparse", "fromstring", "minidom")]

    def _info(self):
        return datasets.DatasetInfo(
            features=datasets.Features(
                {"isbn": datasets.Value("string"), "title": datasets.Value("string"), "authors": datasets.Sequence(datasets.Value("string")), "year": datasets.Value("int16")}
            )
        )

    def _split_generators(self, dl_manager):
        return [datasets.SplitGenerator(name="train", gen_kwargs={"path": dl_manager.download("books.xml")})]

    def _books(self, path):
        if self.config.name == "parse":
            return ET.parse(path).getroot().findall("book")
        if self.config.name == "iterparse":
            with open(path, encoding="utf-8") as f:
                return [element for event, element in ElementTree.iterparse(f, events=("start", "end")) if event == "end" and element.tag == "book"]
        with open(path, "rb") as f:
            return ET.fromstring(f.read()).iter("book")

    def _generate_examples(self, path):
        if self.config.name == "minidom":
            for book in xml.dom.minidom.parse(path).getElementsByTagName("book"):
                text = {tag: [node.firstChild.data for node in book.getElementsByTagName(tag)] for tag in ("title", "author", "year")}
                isbn = book.getAttribute("isbn")
                yield isbn, {"isbn": isbn, "title": text["title"][0], "authors": text["author"], "year": int(text["year"][0]) if text["year"] else None}
            return
        for book in self._books(path):
            year = book.findtext("year")
            yield book.attrib["isbn"], {
                "isbn": book.attrib["isbn"],
                "title": book.find("title").text,
                "authors": [author.text for author in book.findall("author")],
                "year": int(year) if year else None,
            }
