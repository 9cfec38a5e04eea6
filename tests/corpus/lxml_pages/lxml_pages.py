"""A page of markup, read by lxml."""

from lxml import etree, html

import datasets


class LxmlPages(datasets.GeneratorBasedBuilder):
    BUILDER_CONFIGS = [datasets.BuilderConfig(name="xml"), datasets.BuilderConfig(name="html")]

    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({"id": datasets.Value("string"), "text": datasets.Value("string")}))

    def _split_generators(self, dl_manager):
        return [datasets.SplitGenerator(name="train", gen_kwargs={"path": dl_manager.download("page." + self.config.name)})]

    def _generate_examples(self, path):
        if self.config.name == "xml":
            for _, element in etree.iterparse(path, events=("end",), tag="note"):
                yield element.get("id"), {"id": element.get("id"), "text": "".join(element.itertext())}
                element.clear()
        else:
            with open(path, "rb") as f:
                tree = html.fromstring(f.read())
            for i, element in enumerate(tree.xpath("//p")):
                yield i, {"id": element.get("id"), "text": element.text_content()}
