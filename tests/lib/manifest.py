# SPDX-License-Identifier: Apache-2.0
"""manifest.py FILE: what is wrong with a Kubernetes manifest, as far as its text tells. Without a
finding, a line for each thing that the tests compare: version, kind/name, and of each container
image, capabilities, command."""
import re
import sys

import yaml

STR, BOOL, INT = str, bool, int
QUANTITY = re.compile(r"[0-9]+(\.[0-9]+)?(m|Ki|Mi|Gi|Ti|k|M|G|T)?$")
NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$")
VERSIONS = {"Namespace": "v1", "DaemonSet": "apps/v1", "Job": "batch/v1"}


class Map(dict):
    """Keys chosen by the user, values of one kind."""


QUANTITIES = {"cpu": "quantity", "memory": "quantity", "ephemeral-storage": "quantity"}
META = {"name": STR, "namespace": STR, "labels": Map({"": STR}), "annotations": Map({"": STR})}
CONTAINER = {
    "name": STR, "image": STR, "imagePullPolicy": STR, "command": [STR], "args": [STR],
    "env": [{"name": STR, "value": STR, "valueFrom": {"fieldRef": {"fieldPath": STR}}}],
    "resources": {"requests": QUANTITIES, "limits": QUANTITIES},
    "securityContext": {
        "runAsUser": INT, "runAsGroup": INT, "runAsNonRoot": BOOL, "privileged": BOOL,
        "allowPrivilegeEscalation": BOOL, "readOnlyRootFilesystem": BOOL,
        "capabilities": {"add": [STR], "drop": [STR]},
        "seccompProfile": {"type": STR}, "appArmorProfile": {"type": STR},
    },
    "volumeMounts": [{"name": STR, "mountPath": STR, "readOnly": BOOL,
                      "mountPropagation": STR}],
}
POD = {
    "hostPID": BOOL, "automountServiceAccountToken": BOOL, "enableServiceLinks": BOOL,
    "terminationGracePeriodSeconds": INT, "restartPolicy": STR,
    "securityContext": {"runAsUser": INT, "runAsGroup": INT, "runAsNonRoot": BOOL, "fsGroup": INT,
                        "seccompProfile": {"type": STR}},
    "nodeSelector": Map({"": STR}),
    "tolerations": [{"key": STR, "operator": STR, "value": STR, "effect": STR}],
    "initContainers": [CONTAINER], "containers": [CONTAINER],
    "volumes": [{"name": STR, "hostPath": {"path": STR, "type": STR},
                 "emptyDir": {"sizeLimit": "quantity"},
                 "persistentVolumeClaim": {"claimName": STR, "readOnly": BOOL}}],
}
KINDS = {
    "Namespace": {"apiVersion": STR, "kind": STR, "metadata": META},
    "DaemonSet": {
        "apiVersion": STR, "kind": STR, "metadata": META,
        "spec": {
            "selector": {"matchLabels": Map({"": STR})},
            "updateStrategy": {"type": STR},
            "template": {"metadata": META, "spec": POD},
        },
    },
    "Job": {
        "apiVersion": STR, "kind": STR, "metadata": META,
        "spec": {
            "completionMode": STR, "completions": INT, "parallelism": INT, "backoffLimit": INT,
            "suspend": BOOL, "template": {"metadata": META, "spec": POD},
        },
    },
}
found = []


def wrong(where, what):
    found.append(f"{where}: {what}")


def check_shape(value, shape, where):
    """That there is nothing that the API does not know, and each value is of its kind."""
    if shape == "quantity":
        if not isinstance(value, (str, int)) or not QUANTITY.match(str(value)):
            wrong(where, f"not a quantity: {value!r}")
    elif isinstance(shape, type):
        if type(value) is not shape:
            wrong(where, f"not a {shape.__name__}: {value!r}")
    elif isinstance(shape, list):
        if not isinstance(value, list):
            wrong(where, "not a list")
            return
        for i, item in enumerate(value):
            check_shape(item, shape[0], f"{where}[{i}]")
    elif not isinstance(value, dict):
        wrong(where, "not a mapping")
    else:
        for key, item in value.items():
            inner = shape[""] if isinstance(shape, Map) else shape.get(key)
            if inner is None:
                wrong(where, f"unknown key {key}")
            else:
                check_shape(item, inner, f"{where}.{key}")


def check_container(c, volumes, where):
    name = c.get("name", "")
    if not NAME.match(name):
        wrong(where, f"not a name: {name!r}")
    if not c.get("image"):
        wrong(where, "no image")
    if "memory" not in c.get("resources", {}).get("limits", {}):
        wrong(where, "no limit of memory")
    security = c.get("securityContext", {})
    if security.get("privileged") or security.get("allowPrivilegeEscalation") is not False:
        wrong(where, "may gain privileges")
    if security.get("capabilities", {}).get("drop") != ["ALL"]:
        wrong(where, "keeps capabilities")
    if not security.get("readOnlyRootFilesystem"):
        wrong(where, "may write to its image")
    paths = [m.get("mountPath") for m in c.get("volumeMounts", [])]
    if len(paths) != len(set(paths)):
        wrong(where, "two volumes at one path")
    for m in c.get("volumeMounts", []):
        volume = volumes.get(m.get("name"))
        if volume is None:
            wrong(where, f"no volume {m.get('name')}")
        elif volume.get("hostPath", {}).get("type") == "Directory" and not m.get("readOnly"):
            wrong(where, f"may write to the node's {volume['hostPath']['path']}")
        if not str(m.get("mountPath", "")).startswith("/"):
            wrong(where, "a mountPath that is not absolute")
    variables = {e.get("name") for e in c.get("env", [])}
    for word in c.get("command", []):
        for v in re.findall(r"\$\(([^)]*)\)", word):
            if v not in variables:
                wrong(where, f"no variable {v}")


def check_pod(spec, where):
    volumes = {v.get("name"): v for v in spec.get("volumes", [])}
    containers = spec.get("initContainers", []) + spec.get("containers", [])
    if not spec.get("containers"):
        wrong(where, "no container")
    names = [c.get("name") for c in containers]
    if len(names) != len(set(names)):
        wrong(where, "two containers of one name")
    for c in containers:
        check_container(c, volumes, f"{where}.{c.get('name')}")
    used = {m.get("name") for c in containers for m in c.get("volumeMounts", [])}
    for name, volume in volumes.items():
        if len(volume) != 2:
            wrong(where, f"volume {name}: not of one source")
        if name not in used:
            wrong(where, f"volume {name}: not mounted")
    return containers


def check(document):
    kind = document.get("kind")
    name = document.get("metadata", {}).get("name", "")
    where = f"{kind}/{name}"
    if VERSIONS.get(kind) != document.get("apiVersion"):
        wrong(where, f"apiVersion {document.get('apiVersion')}")
        return []
    if not NAME.match(name):
        wrong(where, f"not a name: {name!r}")
    check_shape(document, KINDS[kind], where)
    if kind == "Namespace" or found:
        return []
    spec = document["spec"]
    if kind == "Job":
        if spec["template"]["spec"].get("restartPolicy") not in ("Never", "OnFailure"):
            wrong(where, "restarts for ever")
        if spec.get("completionMode") == "Indexed" and "completions" not in spec:
            wrong(where, "an Indexed Job without completions")
        return check_pod(spec["template"]["spec"], where)
    labels = spec["template"]["metadata"].get("labels", {})
    if not spec["selector"]["matchLabels"] or spec["selector"]["matchLabels"] != labels:
        wrong(where, "the selector is not the labels of the template")
    return check_pod(spec["template"]["spec"], where)


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        documents = list(yaml.safe_load_all(f))
    if documents[0].get("kind") == "List":
        documents = documents[0]["items"]
    lines = []
    for document in documents:
        containers = check(document)
        lines.append(f"{document['kind']} {document['metadata']['name']}")
        for c in containers:
            caps = c["securityContext"]["capabilities"].get("add", [])
            lines.append("\t".join([
                "container", c["name"], c["image"],
                ",".join("cap_" + cap.lower() for cap in caps) or "none", *c["command"]]))
    print("\n".join(found or lines))
    return 1 if found else 0


sys.exit(main())
