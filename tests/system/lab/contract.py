# SPDX-License-Identifier: LGPL-2.1-or-later
"""Locality and load as the contract defines them, worked out anew from what the documents show of nodes, CPUs, pools,
affinities and pages. Nothing here is taken from the programs under test."""
from host import cpu_list


class Host:
    """The nodes, CPUs and pools of a topology document, and memory by node from xl."""

    def __init__(self, topology, memsize):
        self.node_of = {row["cpu"]: row["node"] for row in topology["cpus"] if row["online"]}
        self.pools = {row["pool"]: cpu_list(row["cpus"]) for row in topology["pools"]}
        self.distance = {row["node"]: row["distances"] for row in topology["nodes"]}
        self.with_cpus = {node for node in self.node_of.values() if node is not None}
        self.with_memory = {node for node, size in memsize.items() if size}
        self.local = {node: {cpu for cpu, on in self.node_of.items() if on == node} for node in self.distance}
        self._tie(self.with_memory - self.with_cpus, self.with_cpus, lambda node, other: self.distance[other][node],
                  lambda node, other: self.local[node].update(self._cpus(other)))
        self._tie(self.with_cpus - self.with_memory, self.with_memory, lambda node, other: self.distance[node][other],
                  lambda node, other: self.local[other].update(self._cpus(node)))

    def _cpus(self, node):
        return {cpu for cpu, on in self.node_of.items() if on == node}

    @staticmethod
    def _tie(lacking, having, distance, tie):
        """The nearest of the nodes that have what is lacking; among equals the one with fewest ties, then the lowest."""
        tied = dict.fromkeys(having, 0)
        for node in sorted(lacking):
            near = [(distance(node, other), tied[other], other) for other in having if distance(node, other) is not None]
            if near:
                tied[min(near)[2]] += 1
                tie(node, min(near)[2])

    def effective(self, domain):
        """The CPUs each online vCPU runs on."""
        pool, out = self.pools[domain["pool"]] & set(self.node_of), []
        for vcpu in domain["vcpu_affinity"]:
            if vcpu["online"]:
                hard = cpu_list(vcpu["hard"]) & pool or pool
                out.append(hard & cpu_list(vcpu["soft"]) or hard)
        return out

    def locality(self, domain):
        pages = {row["node"]: row["bytes"] for row in domain["memory"]["nodes"]}
        total, sets = sum(pages.values()), [where for where in self.effective(domain) if where]
        if not total or not sets or domain["state"] == "dying":
            return None
        return sum(sum(held / total * len(where & self.local[node]) / len(where) for node, held in pages.items())
                   for where in sets) / len(sets)

    def load(self, domains):
        """{node: the sum of all online vCPUs' shares that may run there}"""
        load = dict.fromkeys(self.distance, 0.0)
        for where in (where for domain in domains for where in self.effective(domain) if where):
            for cpu in where:
                if self.node_of[cpu] is not None:
                    load[self.node_of[cpu]] += 1 / len(where)
        return load


def check(tap, topology, status, memsize, what):
    """Every domain's locality and every node's load."""
    host = Host(topology, memsize)
    for domain in status["domains"]:
        wanted, got = host.locality(domain), domain["locality"]
        near = got is None if wanted is None else got is not None and abs(got - wanted) < 2e-6
        tap.ok(near, f"{what}: locality of domain {domain['domid']} is {got}", f"wanted {wanted}\n{domain}")
    load = host.load(status["domains"])
    tap.ok(all(abs(row["vcpus"] - load[row["node"]]) < 1e-5 for row in status["nodes"]), f"{what}: vCPU load of the nodes",
           f"{[row['vcpus'] for row in status['nodes']]}, wanted {load}")
