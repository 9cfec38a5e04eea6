"""A page of markup, read by Beautiful Soup."""

import bs4

import datasets


class SoupPages(datasets.GeneratorBasedBuilder):
    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({"title": datasets.Value("string"), "items": datasets.Sequence(datasets.Value("string"))}))

    def _split_generators(self, dl_manager):
        return [datasets.SplitGenerator(name="train", gen_kwargs={"path": dl_manager.download("page.html")})]

    def _generate_examples(self, path):
        with open(path, encoding="utf-8") as f:
            soup = bs4.BeautifulSoup(f, "html.parser")
        for i, part in enumerate(soup.find_all("section")):
            yield i, {"title": part.h2.string, "items": [item.get_text() for item in part.find_all("li")]}
