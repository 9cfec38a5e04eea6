"""The endpoints of the Hub, each as a method that makes an answer."""

from __future__ import annotations

import base64
import fnmatch
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, quote, unquote, urlencode, urlsplit

import yaml

from .faults import Answer, Request
from .repos import Blob, Commit, Repo, StaleParentError

if TYPE_CHECKING:
    from .server import SmallHub, User

BAD_TOKEN = "Invalid credentials in Authorization header"
_AFTER_ID = {
    *("revision", "tree", "paths-info", "refs", "commits", "preupload", "commit", "branch", "tag", "settings"),
    *("xet-write-token", "xet-read-token", "resolve", "raw"),
}


@dataclass(frozen=True)
class Call:
    """A request, taken apart."""

    request: Request
    query: dict[str, list[str]]
    user: User | None
    repo: Repo | None = None
    rest: tuple[str, ...] = ()

    def json(self) -> Any:
        return json.loads(self.request.body or b"{}")

    def has(self, name: str) -> bool:
        return self.query.get(name, ["false"])[0].lower() in {"1", "true", ""}


class Refused(Exception):
    """An answer that says no."""

    def __init__(self, status: int, message: str, code: str = "", **headers: str) -> None:
        super().__init__(message)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if code:
            named["X-Error-Code"] = code
        self.answer = json_answer({"error": message}, status, {**named, "X-Error-Message": message})


def json_answer(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Answer:
    return Answer(status, {"Content-Type": "application/json; charset=utf-8", **(headers or {})}, json.dumps(value).encode())


class Routes:
    """What the Hub says; the state is the Hub's."""

    def __init__(self, hub: SmallHub) -> None:
        self.hub = hub

    # -- which endpoint a request is for

    def classify(self, method: str, target: str, headers: dict[str, str], body: bytes) -> tuple[Request, tuple[str, ...]]:
        """The request with its kind, repository, revision and file."""
        parts = [unquote(part) for part in urlsplit(target).path.split("/")[1:]]
        host = "viewer" if headers.get("host", "").startswith("datasets-server.") else "hub"
        request = Request("other", method, target, host, headers, body=body)
        if host == "viewer":
            return replace(request, kind="viewer"), tuple(parts)
        if parts[:2] == ["api", "datasets"] and len(parts) > 2:
            return self._about_repo(request, parts[2:])
        if parts[0] == "datasets" and len(parts) > 2:
            return self._files(request, parts[1:])
        kinds = {
            "api/whoami-v2": "whoami",
            "api/repos/create": "create",
            "api/repos/delete": "delete",
            "api/validate-yaml": "validate-yaml",
        }
        return replace(request, kind=kinds.get("/".join(parts), "other")), ()

    def _split_id(self, parts: list[str]) -> tuple[str, list[str]]:
        is_single = parts[0] in self.hub.repos or (len(parts) > 2 and parts[1] in _AFTER_ID and parts[2] not in _AFTER_ID)
        size = 1 if is_single or len(parts) == 1 else 2
        return "/".join(parts[:size]), parts[size:]

    def _about_repo(self, request: Request, parts: list[str]) -> tuple[Request, tuple[str, ...]]:
        repo_id, rest = self._split_id(parts)
        verb = rest[0] if rest else "revision"
        kind = {"revision": "info", "resolve": "resolve"}.get(verb, verb)
        name = "/".join(rest[2:]) if verb in {"tree", "resolve"} else ""
        return replace(request, kind=kind, repo=repo_id, revision=rest[1] if len(rest) > 1 else "", name=name), tuple(rest)

    def _files(self, request: Request, parts: list[str]) -> tuple[Request, tuple[str, ...]]:
        if any(part.endswith(".git") for part in parts[:2]):
            size = 1 if parts[0].endswith(".git") else 2
            repo_id, rest = "/".join(parts[:size]).removesuffix(".git"), parts[size:]
            return replace(request, kind=f"lfs-{rest[-1]}", repo=repo_id), tuple(rest)
        repo_id, rest = self._split_id(parts)
        if rest[:1] in (["resolve"], ["raw"]) and len(rest) > 2:
            return replace(request, kind="resolve", repo=repo_id, revision=rest[1], name="/".join(rest[2:])), tuple(rest)
        return replace(request, repo=repo_id), tuple(rest)

    # -- who asks

    def answer(self, request: Request, rest: tuple[str, ...]) -> Answer:
        """The right answer to a request."""
        try:
            user = self._user(request)
            call = Call(request, parse_qs(urlsplit(request.target).query, keep_blank_values=True), user, None, rest)
            if request.repo:
                moved = self.hub.moved.get(request.repo)
                if moved is not None:
                    old, new = (f"/datasets/{quote(name)}" for name in (request.repo, moved))
                    return Answer(307, {"Location": request.target.replace(old, new, 1)}, b"moved")
                call = replace(call, repo=self._repo(request.repo, user))
            method: Callable[[Call], Answer] | None = getattr(self, f"on_{request.kind.replace('-', '_')}", None)
            if method is None:
                raise Refused(404, "Sorry, we can't find the page you are looking for.")
            return method(call)
        except Refused as refused:
            return refused.answer

    def _user(self, request: Request) -> User | None:
        if request.token is None:
            return None
        user = self.hub.users.get(request.token)
        if user is None:
            raise Refused(401, BAD_TOKEN)
        return user

    def _repo(self, repo_id: str, user: User | None) -> Repo:
        repo = self.hub.repos.get(repo_id)
        if repo is None or (repo.private and not self._may_read(repo, user)):
            if user is None:
                raise Refused(401, "Invalid username or password.", "RepoNotFound")
            raise Refused(404, "Repository not found", "RepoNotFound")
        return repo

    @staticmethod
    def _may_read(repo: Repo, user: User | None) -> bool:
        return user is not None and (repo.id.partition("/")[0] in user.spaces or user.name in repo.readers)

    def _writer(self, call: Call, namespace: str) -> User:
        if call.user is None:
            raise Refused(401, "Invalid username or password.")
        if call.user.role != "write" or namespace not in call.user.spaces:
            raise Refused(403, "Forbidden: you must use a write token of an owner to change this repository.")
        return call.user

    def _repo_writer(self, call: Call) -> User:
        assert call.repo is not None
        return self._writer(call, call.repo.id.partition("/")[0])

    def _commit(self, call: Call, revision: str) -> Commit:
        assert call.repo is not None
        commit = call.repo.at(revision)
        if commit is None:
            raise Refused(404, f"Invalid rev id: {revision}", "RevisionNotFound")
        return commit

    # -- reading

    def on_info(self, call: Call) -> Answer:
        repo, request = call.repo, call.request
        assert repo is not None
        commit = self._commit(call, request.revision or "main")
        files = [{"rfilename": path, **(self._sizes(blob) if call.has("blobs") else {})} for path, blob in commit.files.items()]
        found: dict[str, Any] = {
            "_id": "0123456789abcdef01234567",
            "id": repo.id,
            "author": repo.id.partition("/")[0],
            "sha": commit.id,
            "lastModified": commit.date,
            "createdAt": "2024-01-01T00:00:00.000Z",
            "private": repo.private,
            "gated": repo.gated,
            "disabled": False,
            "downloads": 0,
            "likes": 0,
            "tags": [],
            "siblings": files,
        }
        card = self._card(commit)
        if card:
            found["cardData"] = card
        wanted = call.query.get("expand", []) + call.query.get("expand[]", [])
        if wanted:
            found = {name: value for name, value in found.items() if name in {*wanted, "_id", "id"}}
        return json_answer(found)

    @staticmethod
    def _card(commit: Commit) -> dict[str, Any] | None:
        readme = commit.files.get("README.md")
        front = re.match(r"---\s*\n(.*?)\r?\n---", readme.content.decode(errors="replace"), re.DOTALL) if readme else None
        try:
            card = yaml.safe_load(front[1]) if front else None
        except yaml.YAMLError:
            return None
        return json.loads(json.dumps(card, default=str)) if isinstance(card, dict) else None

    @staticmethod
    def _sizes(blob: Blob) -> dict[str, Any]:
        lfs = {"sha256": blob.sha256, "size": blob.size, "pointerSize": blob.pointer_size}
        return {"blobId": blob.oid, "size": blob.size, **({"lfs": lfs} if blob.sha256 else {})}

    @staticmethod
    def _item(commit: Commit, path: str, expand: bool) -> dict[str, Any]:
        blob = commit.files.get(path)
        if blob is None:
            item: dict[str, Any] = {"type": "directory", "oid": commit.folder_oid(path), "size": 0, "path": path}
        else:
            item = {"type": "file", "oid": blob.oid, "size": blob.size, "path": path}
            if blob.sha256:
                item["lfs"] = {"oid": blob.sha256, "size": blob.size, "pointerSize": blob.pointer_size}
        if expand:
            last = commit.last_change(path)
            item["lastCommit"] = {"id": last.id, "title": last.title, "date": last.date}
        return item

    def on_tree(self, call: Call) -> Answer:
        request = call.request
        commit, folder = self._commit(call, request.revision), request.name.strip("/")
        prefix = folder + "/" if folder else ""
        inside = [path for path in commit.files if path.startswith(prefix)]
        if folder and not inside:
            raise Refused(404, f"{folder} does not exist on {request.revision!r}", "EntryNotFound", X_Repo_Commit=commit.id)
        folders = {
            "/".join(path.split("/")[:depth]) for path in inside for depth in range(prefix.count("/") + 1, path.count("/") + 1)
        }
        paths = sorted(path for path in {*inside, *folders} if call.has("recursive") or "/" not in path[len(prefix) :])
        start = int(call.query.get("cursor", ["0"])[0])
        size = min(self.hub.page_size, 50) if call.has("expand") else self.hub.page_size
        size = min(size, int(call.query.get("limit", [str(size)])[0]))
        headers = {}
        if start + size < len(paths):
            query = urlencode({**{name: values[0] for name, values in call.query.items()}, "cursor": start + size})
            headers["Link"] = f'<{self.hub.url}{urlsplit(request.target).path}?{query}>; rel="next"'
        page = [self._item(commit, path, call.has("expand")) for path in paths[start : start + size]]
        return json_answer(page, headers=headers)

    def on_paths_info(self, call: Call) -> Answer:
        commit = self._commit(call, call.request.revision)
        if call.request.headers.get("content-type", "").startswith("application/json"):
            given = call.json()
            paths, expand = given["paths"], bool(given.get("expand"))
        else:
            form = parse_qs(call.request.body.decode(), keep_blank_values=True)
            paths, expand = form.get("paths", []), form.get("expand", ["false"])[0].lower() == "true"
        known = [
            path
            for path in (path.strip("/") for path in paths)
            if path in commit.files or any(each.startswith(path + "/") for each in commit.files)
        ]
        return json_answer([self._item(commit, path, expand) for path in known])

    def on_refs(self, call: Call) -> Answer:
        assert call.repo is not None
        refs = call.repo.refs

        def named(*prefixes: str) -> list[dict[str, str]]:
            return [
                {"name": ref.removeprefix(prefix), "ref": ref, "targetCommit": commit.id}
                for ref, commit in refs.items()
                for prefix in prefixes
                if ref.startswith(prefix)
            ]

        found = {"branches": named("refs/heads/"), "converts": named("refs/convert/"), "tags": named("refs/tags/")}
        return json_answer({**found, **({"pullRequests": named("refs/pr/")} if "include_prs" in call.query else {})})

    def on_commits(self, call: Call) -> Answer:
        history = list(self._commit(call, call.request.revision or "main").history())
        start, size = int(call.query.get("p", ["0"])[0]) * 50, 50
        headers = {"X-Total-Count": str(len(history))}
        if start + size < len(history):
            path = urlsplit(call.request.target).path
            headers["Link"] = f'<{self.hub.url}{path}?p={start // size + 1}>; rel="next"'
        return json_answer(
            [
                {"id": c.id, "title": c.title, "message": c.message, "date": c.date, "authors": [{"user": c.author}]}
                for c in history[start : start + size]
            ],
            headers=headers,
        )

    def on_resolve(self, call: Call) -> Answer:
        repo, request = call.repo, call.request
        assert repo is not None
        if repo.gated and not self._may_read(repo, call.user):
            message = (
                f"Access to dataset {repo.id} is restricted. You must have access to it and be authenticated to access it."
            )
            raise Refused(401 if call.user is None else 403, message, "GatedRepo")
        commit = self._commit(call, request.revision)
        blob = commit.files.get(request.name)
        if blob is None:
            raise Refused(404, "Entry not found", "EntryNotFound", X_Repo_Commit=commit.id)
        headers = {"X-Repo-Commit": commit.id, "Accept-Ranges": "bytes"}
        if blob.sha256:
            query = {"response-content-disposition": f'inline; filename="{request.name.rpartition("/")[2]}"'}
            headers |= {"X-Linked-ETag": f'"{blob.sha256}"', "X-Linked-Size": str(blob.size), "ETag": f'"{blob.oid}"'}
            location = self.hub.storage.signed("GET", f"/objects/{repo.id}/{blob.sha256}", **query)
            return Answer(302, {**headers, "Location": location}, f"Found. Redirecting to {location}".encode())
        if self.hub.small_files == "307" and not request.target.startswith("/api/"):
            location = f"/api/datasets/{quote(repo.id)}/resolve/{commit.id}/{quote(request.name)}"
            return Answer(307, {**headers, "Location": location}, b"Temporary Redirect. Redirecting")
        return ranged(blob.content, {**headers, "ETag": f'"{blob.oid}"', "Content-Type": "text/plain"}, request)

    def on_whoami(self, call: Call) -> Answer:
        user = call.user
        if user is None:
            raise Refused(401, "Invalid username or password.")
        token = {"displayName": "a token", "role": user.role}
        orgs = [{"type": "org", "name": name, "fullname": name} for name in user.orgs]
        names = {"type": "user", "id": "0123456789abcdef01234567", "name": user.name, "fullname": user.name}
        return json_answer({**names, "orgs": orgs, "auth": {"type": "access_token", "accessToken": token}})

    def on_viewer(self, call: Call) -> Answer:
        dataset = call.query.get("dataset", [""])[0]
        found = self.hub.viewer.get((call.rest[0], dataset))
        if found is None:
            raise Refused(404, "The dataset does not exist, or is not accessible without authentication.")
        revision, body = found
        return json_answer(body, headers={"X-Revision": revision})

    # -- writing

    def on_create(self, call: Call) -> Answer:
        given = call.json()
        namespace = given.get("organization") or (call.user.name if call.user else "")
        self._writer(call, namespace)
        repo_id = f"{namespace}/{given['name']}"
        url = f"{self.hub.url}/datasets/{repo_id}"
        if given.get("type") != "dataset":
            raise Refused(400, "This Hub has datasets only.")
        if repo_id in self.hub.repos:
            message = "You already created this dataset repo"
            return json_answer({"error": message, "url": url}, 409, {"X-Error-Message": message})
        is_private = given.get("visibility") == "private" or bool(given.get("private"))
        self.hub.repo(repo_id, private=is_private)
        return json_answer({"url": url, "name": repo_id, "id": "0123456789abcdef01234567"})

    def on_delete(self, call: Call) -> Answer:
        given = call.json()
        namespace = given.get("organization") or (call.user.name if call.user else "")
        self._writer(call, namespace)
        self._repo(f"{namespace}/{given['name']}", call.user)
        del self.hub.repos[f"{namespace}/{given['name']}"]
        return json_answer({})

    def on_settings(self, call: Call) -> Answer:
        self._repo_writer(call)
        assert call.repo is not None
        given = call.json()
        call.repo.private = given.get("private", given.get("visibility") == "private" or call.repo.private)
        call.repo.gated = given.get("gated", call.repo.gated)
        return json_answer({"private": call.repo.private})

    def on_preupload(self, call: Call) -> Answer:
        self._repo_writer(call)
        repo, given = call.repo, call.json()
        assert repo is not None
        commit = self._commit(call, call.request.revision)
        if len(given["files"]) > 256:
            raise Refused(413, "at most 256 files a call")
        attributes = commit.files.get(".gitattributes")
        text = attributes.content.decode() if attributes else ""
        ignored = given.get("gitIgnore", commit.files[".gitignore"].content.decode() if ".gitignore" in commit.files else "")
        patterns = [line.strip() for line in ignored.splitlines() if line.strip() and not line.startswith("#")]
        answers = []
        for file in given["files"]:
            path, before = file["path"], commit.files.get(file["path"])
            is_lfs = repo.is_lfs(path, file["size"], text)
            answers.append(
                {
                    "path": path,
                    "uploadMode": "lfs" if is_lfs else "regular",
                    "shouldIgnore": any(fnmatch.fnmatch(path.rpartition("/")[2], pattern) for pattern in patterns),
                    **({"oid": before.etag} if before is not None else {}),
                }
            )
        return json_answer({"files": answers, "commitOid": commit.id})

    def on_lfs_batch(self, call: Call) -> Answer:
        given, repo = call.json(), call.repo
        assert repo is not None
        is_upload = given["operation"] == "upload"
        if is_upload:
            self._repo_writer(call)
        elif repo.gated and not self._may_read(repo, call.user):
            raise Refused(401 if call.user is None else 403, "Access to this dataset is restricted.", "GatedRepo")
        if is_upload and self.hub.needs_xet:
            raise Refused(400, "This repository takes files by Xet only. Install hf_xet to upload to it.")
        make = self._upload_object if is_upload else self._download_object
        objects = [make(repo, each["oid"], each["size"], given.get("transfers", [])) for each in given["objects"]]
        return json_answer({"transfer": "basic", "objects": objects}, headers={"Content-Type": "application/vnd.git-lfs+json"})

    def _download_object(self, repo: Repo, oid: str, size: int, _: list[str]) -> dict[str, Any]:
        if not any(blob.sha256 == oid for commit in repo.commits.values() for blob in commit.files.values()):
            return {"oid": oid, "size": size, "error": {"code": 404, "message": "Object does not exist"}}
        href = self.hub.storage.signed("GET", f"/objects/{repo.id}/{oid}")
        action = {"href": href, "expires_in": self.hub.storage.url_seconds}
        return {"oid": oid, "size": size, "authenticated": True, "actions": {"download": action}}

    def _upload_object(self, repo: Repo, oid: str, size: int, transfers: list[str]) -> dict[str, Any]:
        storage = self.hub.storage
        if oid in storage.objects:
            return {"oid": oid, "size": size}
        if size > self.hub.part_bytes and "multipart" in transfers:
            numbers = range(1, -(-size // self.hub.part_bytes) + 1)
            header = {str(n): storage.signed("PUT", f"/parts/{oid}/{n}") for n in numbers}
            upload = {
                "href": f"{self.hub.url}/datasets/{repo.id}.git/info/lfs/complete",
                "header": {"chunk_size": str(self.hub.part_bytes), **header},
            }
        else:
            upload = {"href": storage.signed("PUT", f"/objects/{repo.id}/{oid}")}
        actions: dict[str, Any] = {"upload": upload}
        if self.hub.verifies_uploads:
            actions["verify"] = {"href": f"{self.hub.url}/datasets/{repo.id}.git/info/lfs/verify"}
        return {"oid": oid, "size": size, "actions": actions}

    def on_lfs_complete(self, call: Call) -> Answer:
        given = call.json()
        if not self.hub.storage.join(given["oid"], [(part["partNumber"], part["etag"]) for part in given["parts"]]):
            raise Refused(400, "the parts are not the object")
        return json_answer({})

    def on_lfs_verify(self, call: Call) -> Answer:
        given = call.json()
        content = self.hub.storage.objects.get(given["oid"])
        if content is None or len(content) != given["size"]:
            raise Refused(404, "the object was not uploaded")
        return json_answer({})

    def on_validate_yaml(self, call: Call) -> Answer:
        text = call.json()["content"]
        front = re.match(r"---[ \t]*\r?\n(.*?)\r?\n?---", text, re.DOTALL)
        if front is None:
            return json_answer({"errors": [], "warnings": [{"message": "empty or missing yaml metadata in repo card"}]})
        try:
            found = yaml.safe_load(front[1])
        except yaml.YAMLError as error:
            return json_answer({"errors": [{"message": str(error)}], "warnings": []}, 400)
        errors = [] if isinstance(found, dict | None) else [{"message": "the metadata are no mapping"}]
        return json_answer({"errors": errors, "warnings": []}, 400 if errors else 200)

    def on_commit(self, call: Call) -> Answer:
        user, repo, revision = self._repo_writer(call), call.repo, call.request.revision
        assert repo is not None
        with repo.lock:
            before = self._commit(call, revision)
            lines = [json.loads(line) for line in call.request.body.splitlines() if line.strip()]
            header = lines[0]["value"]
            blobs, gone = self._changes(repo, before, lines[1:])
            ref = repo.ref_of(revision)
            if revision in repo.commits or ref not in repo.refs:
                raise Refused(400, "A commit is made on a branch.")
            parent = header.get("parentCommit")
            if "create_pr" in call.query:
                number = 1 + sum(name.startswith("refs/pr/") for name in repo.refs)
                if parent is not None and before.id != parent:
                    raise Refused(412, "A commit has happened since. Please refresh and try again.")
                ref, parent = f"refs/pr/{number}", None
                repo.refs[ref] = before
            try:
                message = header.get("description", "")
                made = repo.put(
                    blobs, delete=gone, ref=ref, title=header["summary"], message=message, author=user.name, parent=parent
                )
            except StaleParentError:
                raise Refused(412, "A commit has happened since. Please refresh and try again.") from None
        page = f"{self.hub.url}/datasets/{repo.id}"
        answer = {"success": True, "commitUrl": f"{page}/commit/{made.id}", "commitOid": made.id}
        if "create_pr" in call.query:
            answer["pullRequestUrl"] = f"{page}/discussions/{ref.rpartition('/')[2]}"
        return json_answer(answer)

    def _changes(self, repo: Repo, before: Commit, lines: list[dict[str, Any]]) -> tuple[dict[str, Blob], list[str]]:
        blobs: dict[str, Blob] = {}
        gone = []
        for line in lines:
            value, path = line["value"], line["value"].get("path", "")
            if line["key"] == "file":
                content = base64.b64decode(value["content"]) if value.get("encoding") == "base64" else value["content"].encode()
                blobs[path] = Blob.regular(content)
            elif line["key"] == "lfsFile":
                stored = self.hub.storage.objects.get(value["oid"])
                if stored is None or len(stored) != value.get("size", len(stored)):
                    raise Refused(400, f"The LFS object of {path} was not uploaded: {value['oid']}")
                blobs[path] = Blob.of_lfs(stored)
            elif line["key"] == "deletedFile" and path not in before.files:
                raise Refused(404, f"A file with this name doesn't exist: {path}", "EntryNotFound")
            elif line["key"] in {"deletedFile", "deletedFolder"}:
                gone.append(path if line["key"] == "deletedFile" else path.rstrip("/") + "/")
            else:
                raise Refused(400, f"no such operation: {line['key']}")
        return blobs, gone

    def on_branch(self, call: Call) -> Answer:
        return self._named(call, call.repo.ref_of(call.request.revision) if call.repo else "", call.json().get("startingPoint"))

    def on_tag(self, call: Call) -> Answer:
        is_post = call.request.method == "POST"
        name = call.json()["tag"] if is_post else call.request.revision
        return self._named(call, f"refs/tags/{name}", call.request.revision if is_post else None)

    def _named(self, call: Call, ref: str, start: str | None) -> Answer:
        self._repo_writer(call)
        assert call.repo is not None
        if call.request.method == "DELETE":
            if call.repo.refs.pop(ref, None) is None:
                raise Refused(404, f"no such ref: {ref}", "RevisionNotFound")
            return json_answer({})
        if ref in call.repo.refs:
            raise Refused(409, f"Reference already exists: {ref}")
        call.repo.refs[ref] = self._commit(call, start or "main")
        return json_answer({})


def ranged(content: bytes, headers: dict[str, str], request: Request) -> Answer:
    """The content, or the part of it that the request asks for."""
    asked = re.fullmatch(r"bytes=(\d*)-(\d*)", request.range or "")
    if asked is None or (not asked[1] and not asked[2]):
        return Answer(200, headers, content)
    if asked[1]:
        start, stop = int(asked[1]), int(asked[2]) + 1 if asked[2] else len(content)
    else:
        start, stop = max(0, len(content) - int(asked[2])), len(content)
    if start >= len(content):
        return Answer(416, {**headers, "Content-Range": f"bytes */{len(content)}"}, b"")
    stop = min(stop, len(content))
    return Answer(206, {**headers, "Content-Range": f"bytes {start}-{stop - 1}/{len(content)}"}, content[start:stop])
