# SPDX-License-Identifier: Apache-2.0
"""shipserver.py DIR: takes the requests that Pyroscope, Parca and Grafana take, at a port that it
prints; what they bring is in DIR, in requests (a line each) and N.body."""
import base64
import http.server
import json
import os
import sys
import urllib.parse
import uuid

HTML = b"<!doctype html><title>Parca</title>"


class Refused(Exception):
    """The request is not as it should be."""


def need(condition, what):
    if not condition:
        raise Refused(what)


def fields(data):
    """The fields of a message of strings, bytes and messages: (number, content) each."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        need(key & 7 == 2, f"field {key >> 3} of wire type {key & 7}")
        size = varint()
        need(at + size <= len(data), "a message that is cut off")
        yield key >> 3, data[at:at + size]
        at += size


def parca(message):
    """Labels and profile of WriteRaw: series 2 {labels 1 {1 {1, 2}}, samples 2 {1}}"""
    (number, series), = fields(message)
    need(number == 2, f"no series, but {number}")
    (one, labels), (two, sample) = fields(series)
    need((one, two) == (1, 2), "a series of others than labels and samples")
    pairs = {}
    for number, label in fields(labels):
        (one, name), (two, value) = fields(label)
        need((number, one, two) == (1, 1, 2), "not a label")
        pairs[name.decode()] = value.decode()
    (number, profile), = fields(sample)
    need(number == 1, "no raw_profile")
    return pairs, profile


def write_raw(body):
    need(body[0] == 0 and int.from_bytes(body[1:5], "big") == len(body) - 5, "not one frame")
    pairs, profile = parca(body[5:])
    need(pairs.get("__name__"), "missing __name__ label")
    trailer = b"grpc-status:0\r\n"
    return pairs, profile, b"\0\0\0\0\0\x80" + len(trailer).to_bytes(4, "big") + trailer


def one_series(body, keys):
    series, = json.loads(body)["series"]
    sample, = series["samples"]
    need(set(series) == {"labels", "samples"} and set(sample) == keys, f"not {keys}")
    return series["labels"], sample, base64.b64decode(sample["rawProfile"], validate=True)


def write_raw_json(body):
    labels, _, profile = one_series(body, {"rawProfile"})
    pairs = {label["name"]: label["value"] for label in labels["labels"]}
    need(pairs.get("__name__"), "missing __name__ label")
    return pairs, profile, b"{}"


def push(body):
    labels, sample, profile = one_series(body, {"ID", "rawProfile"})
    uuid.UUID(sample["ID"])
    pairs = {label["name"]: label["value"] for label in labels}
    need(pairs.get("__name__") and pairs.get("service_name"), "no __name__ or service_name")
    return pairs, profile, b"{}"


def snapshot(body):
    document = json.loads(body)
    panel, = document["dashboard"]["panels"]
    need(panel["type"] == "flamegraph", "no flame graph")
    frame, = panel["snapshotData"]
    columns = {f["name"]: f["values"] for f in frame["fields"]}
    need({"level", "value", "self", "label"} <= set(columns), "not a flame graph's fields")
    need(len({len(values) for values in columns.values()}) == 1, "columns of several lengths")
    pairs = {"name": document["name"], "total": columns["value"][0], "sum": sum(columns["self"])}
    return pairs, b"", json.dumps({"key": "K", "url": "http://grafana/dashboard/snapshot/K"}).encode()


JSON = "application/json"
PATHS = {
    "/push.v1.PusherService/Push": (JSON, push),
    "/profiles/writeraw": (JSON, write_raw_json),
    "/api/parca.profilestore.v1alpha1.ProfileStoreService/WriteRaw":
        ("application/grpc-web+proto", write_raw),
    "/api/snapshots": (JSON, snapshot),
}


class Handler(http.server.BaseHTTPRequestHandler):
    count = 0

    def take(self, body):
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query, strict_parsing=bool(url.query)))
        if url.path == "/ingest":
            need(set(query) == {"name", "format", "from", "until"}, f"parameters: {query}")
            need(query["format"] == "pprof" and int(query["from"]) < int(query["until"]), str(query))
            return query, body, b""
        if url.path not in PATHS:
            return {}, b"", HTML  # as Parca answers
        kind, read = PATHS[url.path]
        need(self.headers["Content-Type"] == kind, f"not {kind}: {self.headers['Content-Type']}")
        need(not query, "parameters")
        if read is snapshot:
            need(self.headers["Authorization"] == "Bearer secret", "not authorized")
        return read(body)

    def do_POST(self):  # pylint: disable=invalid-name
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            seen, profile, answer = self.take(body)
            status = 200
        except (Refused, ValueError, KeyError, IndexError, TypeError) as e:
            seen, profile, answer, status = {"refused": repr(e)}, b"", repr(e).encode(), 400
        Handler.count += 1
        with open(os.path.join(sys.argv[1], f"{Handler.count}.body"), "wb") as f:
            f.write(profile)
        with open(os.path.join(sys.argv[1], "requests"), "a", encoding="utf-8") as f:
            print(self.path.partition("?")[0], json.dumps(seen, sort_keys=True), file=f)
        self.send_response(status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format, *args):  # pylint: disable=redefined-builtin
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
