#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws of two simulated releases, judged by prof-diff.

    diff_draws.py SIMULATOR CLAIM DRAWS FIRST-SEED [prof-diff OPTION...]

SIMULATOR is the file of the simulator (PROFPIPE_DIFF_SIM), of which the model and the writer of
profiles are used. One line is printed: what was counted, as "KEY=N ...". Claims:

    same, half, one, two, two5, renames   as its `emit` has them: nothing changed, +0.5 % of the
                total, +1 %, 2+2 intervals of nothing and of +5 %, ten names with suffixes
    cheaper     one function costs 10 % of the total less; and another one 0.5 % more
    moved, moved-wide, moved-label, moved-namespace   five functions hand 30 to 100 % of their
                cost to another one that has the same caller, of 6 callees or of a handler's 50, or
                the same label or namespace, of 50; then +0.5 % elsewhere, and +0.5 % in a function
                that takes over
    detectable  the least rise that a report of nothing says it would have found
"""
import argparse
import gzip
import importlib.util
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

FUNCTIONS = 1000
PERIOD = 10000000


# protobuf: a varint, a field of one, a field of bytes
def vi(n):
    out = bytearray()
    while n >= 128:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def iv(field, n):
    return vi(field << 3) + vi(n)


def ld(field, data):
    return vi(field << 3 | 2) + vi(len(data)) + data


def load(path):
    spec = importlib.util.spec_from_file_location("simulator", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    # the size of the files is not what is looked at
    module.gzip = argparse.Namespace(compress=lambda data, mtime=0: gzip.compress(data, 1, mtime=mtime))
    return module


class Bench:
    def __init__(self, sim, options):
        self.sim, self.options = sim, options
        self.dir = tempfile.mkdtemp(prefix="diff-draws.")
        self.count = {}

    def add(self, key, value=1):
        self.count[key] = self.count.get(key, 0) + int(value)

    def write(self, side, counts, stack, label=None):
        """One stream of a side; stack(i): the frames of function i, leaf first; label(i): its endpoint."""
        name = os.path.join(self.dir, side)
        stacks = [stack(i) for i in range(len(counts[0]))]
        ids = {}
        for frame in (f for s in stacks for f in s):
            ids.setdefault(frame, len(ids) + 1)
        frames = [ld(1, b"".join(vi(ids[f]) for f in s)) for s in stacks]
        texts = sorted({label(i) for i in range(len(stacks))}) if label else []
        head, tables = Bench.tables(ids, side, ["node", "n1", "endpoint", *texts])
        node = 7 + len(ids)
        if label:
            for i, f in enumerate(frames):
                frames[i] = f + ld(3, iv(1, node) + iv(2, node + 1)) + \
                    ld(3, iv(1, node + 2) + iv(2, node + 3 + texts.index(label(i))))
        values = {}
        with open(name, "wb") as f:
            for j, x in enumerate(counts):
                out = [head]
                for i, c in enumerate(x):
                    if c not in values:
                        values[c] = ld(2, vi(c) + vi(c * PERIOD))
                    if c:
                        out.append(ld(2, frames[i] + values[c]))
                out.append(tables)
                out.append(iv(9, (1700000000 + 60 * j) * 10**9) + iv(10, 60 * 10**9))
                f.write(gzip.compress(b"".join(out), 1, mtime=0))
        return name

    @staticmethod
    def tables(ids, build, labels):
        """All of a profile but its samples: types in front, and what they refer to."""
        texts = ["", "samples", "count", "cpu", "nanoseconds", "/app", build]
        first = len(texts)
        texts += [*ids, *labels]
        head = ld(1, iv(1, 1) + iv(2, 2)) + ld(1, iv(1, 3) + iv(2, 4))
        out = [ld(3, iv(1, 1) + iv(2, 0x400000) + iv(3, 0x4000000) + iv(5, 5) + iv(6, 6) + iv(7, 1))]
        for i in ids.values():
            out.append(ld(4, iv(1, i) + iv(2, 1) + iv(3, 0x400000 + 64 * i) + ld(4, iv(1, i))))
            out.append(ld(5, iv(1, i) + iv(2, first + i - 1) + iv(3, first + i - 1)))
        out += [ld(6, t.encode()) for t in texts]
        out.append(ld(11, iv(1, 3) + iv(2, 4)) + iv(12, PERIOD))
        return head, b"".join(out)

    def report(self, base, new):
        """All rows of the functions, by name."""
        out = subprocess.run(["prof-diff", "-q", "--report", "json:-", *self.options,
                              "--base", *base, "--new", *new],
                             check=True, stdout=subprocess.PIPE).stdout
        return {f["name"]: f for f in json.loads(out)["types"][0]["functions"]}

    def flagged(self, base, new):
        """What costs more, and what would without a look for cost that only moved."""
        rows = self.report(base, new)
        found = {n for n, f in rows.items() if f["verdict"] in ("regressed", "new")}
        return found, found | {n for n, f in rows.items()
                               if f["verdict"] == "moved" and f["flat_test"]["effect"] > 0}


def emitted(b, seed, shift, intervals=5, renames=0):
    d = os.path.join(b.dir, "emitted")
    shutil.rmtree(d, ignore_errors=True)
    b.sim.cmd_emit(argparse.Namespace(dir=d, seed=seed, intervals=intervals, samples=10000, functions=FUNCTIONS,
                                      cv=0.05, shift=shift, renames=renames, hosts=2))
    with open(os.path.join(d, "truth.json"), encoding="utf-8") as f:
        want = set(json.load(f)["regressed"])
    sides = [[os.path.join(d, "%s-%02d.pb.gz" % (s, j)) for j in range(intervals)] for s in ("base", "new")]
    found, _ = b.flagged(*sides)
    b.add("found", bool(want) and want <= found)
    b.add("false", bool(found - want))


def cheaper(b, seed):
    sim, rng = b.sim, random.Random(seed)
    model = sim.Model(rng, F=FUNCTIONS, cv=.05, cvg=.05)

    def stack(i):
        return "f%04d" % i, "handler_%02d" % model.grp[i], "main"
    less = list(model.p)
    less[0] -= .10
    victim = sim.victim(rng, model.p)
    both = list(less)
    both[victim] += .005
    base = b.write("base", model.side(rng, model.p, 10, 10000)[0], stack)
    b.add("false", bool(b.flagged([base], [b.write("new", model.side(rng, less, 10, 10000)[0], stack)])[0]))
    found, _ = b.flagged([base], [b.write("new", model.side(rng, both, 10, 10000)[0], stack)])
    b.add("found", "f%04d" % victim in found)
    b.add("false_beside", bool(found - {"f%04d" % victim}))


def pick(rng, choices, used):
    k = rng.choice([c for c in choices if c not in used])
    used.add(k)
    return k


def moved(b, seed, domain):
    sim, rng = b.sim, random.Random(seed)
    model = sim.Model(rng, F=FUNCTIONS, cv=.05, cvg=.05)
    p, used, caller, movers = model.p, set(), {}, []
    for k in range(5):
        giver = sim.victim(rng, p, .005, .03)
        if giver in used:
            giver = rng.choice([i for i in range(FUNCTIONS) if .003 <= p[i] <= .03 and i not in used])
        used.add(giver)
        taker = pick(rng, range(200, FUNCTIONS), used)
        movers.append((giver, taker, rng.uniform(.3, 1)))
        if domain:
            model.grp[taker] = model.grp[giver]
            continue
        for i in [giver, taker] + [pick(rng, range(100, FUNCTIONS), used) for _ in range(4)]:
            caller[i] = "caller_%d" % k

    def name(i):
        return ("app::g%02d::c%d::f%04d" % (model.grp[i], i % 7, i)) if domain == "namespace" else "f%04d" % i

    def stack(i):
        above = ("handler_%02d" % model.grp[i],) if domain in ("", "caller") else ()
        return (name(i),) + ((caller[i],) if i in caller else ()) + above + ("main",)
    label = (lambda i: "/%02d" % model.grp[i]) if domain == "label" else None
    after = list(p)
    for giver, taker, part in movers:
        after[taker] += p[giver] * part
        after[giver] -= p[giver] * part
    victim = sim.victim(rng, p)
    if victim in used:
        victim = rng.choice([i for i in range(FUNCTIONS) if .001 <= p[i] <= .03 and i not in used])
    base = b.write("base", model.side(rng, p, 10, 10000)[0], stack, label)
    takers = {name(t) for _, t, _ in movers}
    for what, grown in (("", None), ("elsewhere", victim), ("taker", movers[0][1])):
        cost = list(after)
        if grown is not None:
            cost[grown] += .005
        new = b.write("new", model.side(rng, cost, 10, 10000)[0], stack, label)
        found, unfiltered = b.flagged([base], [new])
        if grown is None:
            b.add("false", bool(found))
            b.add("false_takers", bool(found & takers))
        else:
            b.add("found_" + what, name(grown) in found)
            b.add("unfiltered_" + what, name(grown) in unfiltered)


def detectable(b, seed):
    sim = b.sim
    for n, samples, share in ((3, 5000, .002), (3, 5000, .01), (3, 5000, .08), (5, 10000, .002), (5, 10000, .01),
                              (5, 10000, .08), (10, 10000, .002), (10, 10000, .01), (10, 10000, .08)):
        rng = random.Random(seed * 1000 + n * 17 + int(share * 1e4))
        model = sim.Model(rng, F=500, cv=.05, cvg=.05, spread=.3)
        v = min(range(500), key=lambda i: abs(model.p[i] - share))

        def stack(i):
            return "f%04d" % i, "handler_%02d" % model.grp[i], "main"
        base = b.write("base", model.side(rng, model.p, n, samples)[0], stack)
        same = b.write("same", model.side(rng, model.p, n, samples)[0], stack)
        row = b.report([base], [same])["f%04d" % v]
        least = row["flat_test"]["detectable"]
        key = "%dx%d_%g" % (n, samples, share * 100)
        b.add("asked_" + key)
        if least is None:
            continue
        cost = list(model.p)
        cost[v] += least
        new = b.write("new", model.side(rng, cost, n, samples)[0], stack)
        b.add("found_" + key, "f%04d" % v in b.flagged([base], [new])[0])
        b.add("sum_1e6_" + key, least * 1e6)


CLAIMS = {
    "same": lambda b, s: emitted(b, s, 0),
    "half": lambda b, s: emitted(b, s, .005),
    "one": lambda b, s: emitted(b, s, .01),
    "two": lambda b, s: emitted(b, s, 0, intervals=2),
    "two5": lambda b, s: emitted(b, s, .05, intervals=2),
    "renames": lambda b, s: emitted(b, s, 0, renames=10),
    "cheaper": cheaper,
    "moved": lambda b, s: moved(b, s, ""),
    "moved-wide": lambda b, s: moved(b, s, "caller"),
    "moved-label": lambda b, s: moved(b, s, "label"),
    "moved-namespace": lambda b, s: moved(b, s, "namespace"),
    "detectable": detectable,
}


def main():
    sim, claim, draws, first = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    b = Bench(load(sim), sys.argv[5:])
    try:
        for seed in range(first, first + draws):
            CLAIMS[claim](b, seed)
    finally:
        shutil.rmtree(b.dir)
    print("draws=%d " % draws + " ".join("%s=%d" % kv for kv in b.count.items()))


if __name__ == "__main__":
    main()
