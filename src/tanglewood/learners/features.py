"""The compiled part of feature templates: the features of a configuration as 31-bit keys."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from zlib import crc32

from tanglewood.core.actions import Actions
from tanglewood.core.addresses import Addresses
from tanglewood.core.kinds import FIRST_TAG
from tanglewood.core.state import State
from tanglewood.errors import ConfigError
from tanglewood.learners.templates import (
    ATTRIBUTES,
    FLAGS,
    MANY,
    PAIR_ATTRIBUTES,
    SIDE_LABELS,
    VALENCIES,
    parse_template,
    step_of,
)
from tanglewood.ml.word_table import COLUMNS, WordTable

N_COLUMNS = len(COLUMNS)
UPOS = ATTRIBUTES["upos"]
FEATS, LABEL, LEFTS, RIGHTS, DEPS = (ATTRIBUTES[name] for name in ("feats", "label", "lefts", "rights", "deps"))
DISTANCE, DIRECTION, ARC_THERE, BETWEEN = PAIR_ATTRIBUTES.values()
CHOICES = ATTRIBUTES["choices"]
TAG = CHOICES + 1  # stands in for the column of tags where a system gives them
MOST = 12  # most values of one atom; further ones are ignored
MOST_KEYS = 1 << 20  # features of a configuration: so many of the largest weights still add up to an integer
FARTHEST = 30  # most words looked at between two nodes
LOW_BITS = 0xFFFFFFFF
SPREAD, LAST_SPREAD = 0x9E3779B1, 0x85EBCA6B  # odd numbers without a pattern in their bits


class FeatureSet:
    """A list of templates; ``keys`` holds the features of the configuration looked at last.

    Templates may refer to the ``ends`` of an arc (ARC, or SIBLING, whose n is ``sibling``). Where the system of the
    ``actions`` gives tags, a word that has been given one is seen with it, any other with the one in its column.
    """

    def __init__(self, templates: Sequence[str], *, ends: tuple[str, ...] = (), actions: Actions | None = None) -> None:
        parsed = [parse_template(text, ends) for text in templates]
        atoms = list(dict.fromkeys(atom for template in parsed for atom in template))
        names = list(dict.fromkeys(name for atom in atoms for name in (atom.first, atom.second) if name))
        # An address from h, d or n is looked up as if from s0, but the walk begins elsewhere.
        self.starts = array("i", [ends.index(name[0]) if name[0] in ends else -1 for name in names])
        self.addresses = Addresses([f"s0{name[1:]}" if name[0] in ends else name for name in names])
        self.sibling = -1
        places = {"": 0, **{name: place for place, name in enumerate(names)}}
        self.n_atoms = len(atoms)
        tag_column = actions.system.tag_column if actions is not None else ""
        given = ATTRIBUTES[tag_column] if tag_column else -1
        self.attributes = array("i", [TAG if atom.attribute == given else atom.attribute for atom in atoms])
        self.tag_column = given
        self.tags = array("I", [*(crc32(tag.encode()) for tag in actions.tags), 0] if actions is not None else [0])
        phases = () if actions is None else actions.system.phases
        self.n_phases = len(phases)
        self.backwards = array("i", [*(phase.right_to_left for phase in phases), 0])
        self.first = array("i", [places[atom.first] for atom in atoms])
        self.second = array("i", [places[atom.second] for atom in atoms])
        self.n_templates = len(parsed)
        # No array is ever empty: an empty one has no memoryview.
        self.seeds = array("I", [*(crc32(text.encode()) for text in templates), 0])
        self.steps = array("i", [*(step_of(text)[0] for text in templates), 0])
        # Atoms with one value come first in each template, so that what they hash to is there for all other values.
        numbers = {atom: number for number, atom in enumerate(atoms)}
        parts: list[int] = []
        part_ends: list[int] = []
        many: list[int] = []
        for template in parsed:
            parts += [numbers[atom] for atom in template if atom.attribute not in MANY]
            part_ends.append(len(parts))
            rest = [numbers[atom] for atom in template if atom.attribute in MANY]
            many += [*rest, -1, -1][:2]
        self.parts = array("i", [*parts, 0])
        self.ends = array("i", [*part_ends, 0])
        self.many = array("i", [*many, 0])
        self.nodes = array("i", bytes(4 * len(names) + 4))
        self.values = array("I", bytes(4 * self.n_atoms * MOST + 4))
        self.n_values = array("i", bytes(4 * self.n_atoms + 4))
        self.most_keys = sum(MOST ** sum(atom.attribute in MANY for atom in template) for template in parsed)
        if self.most_keys > MOST_KEYS:
            raise ConfigError(f"these templates may give {self.most_keys} features; there is room for {MOST_KEYS}")
        self.keys = array("i", bytes(4 * self.most_keys + 4))
        self.offset = 0

    def share_keys(self, other: FeatureSet) -> None:
        """Let both write their keys to the same place."""
        self.keys = other.keys = array("i", bytes(4 * max(self.most_keys, other.most_keys) + 4))

    def use(self, table: WordTable, offset: int) -> None:
        """Switch to the sentence whose node 0 is at this place in the table."""
        self.columns = table.columns
        self.feats = table.feats
        self.feat_starts = table.feat_starts
        self.offset = offset

    def _mix(self, hashed: int, value: int) -> int:
        hashed = ((hashed ^ value) * SPREAD) & LOW_BITS
        return hashed ^ (hashed >> 15)

    def _key(self, hashed: int) -> int:
        return ((hashed * LAST_SPREAD) & LOW_BITS) >> 1

    def _bucket(self, gap: int) -> int:
        """Number the distance of two nodes: 1, 2, 3, 4, 5-6, 7-10, 11-20, more; and whether their order is reversed."""
        size = -gap if gap < 0 else gap
        if size > 4:
            size = 5 if size <= 6 else 6 if size <= 10 else 7 if size <= 20 else 8
        return size + 16 if gap < 0 else size

    def _flags(self, s: State) -> int:
        """A few facts about the configuration, packed into one number."""
        top = s._top()
        front = s._front()
        flags = s.phase & 3
        flags += 4 if front >= 0 and front < top else 0
        flags += 8 * (s.n_buffer if s.n_buffer < 2 else 2)
        flags += 32 * (s.depth if s.depth < 3 else 3)
        flags += 128 if top >= 0 and s.heads[top] >= 0 else 0
        flags += 256 if s.aside_depth > 0 else 0
        return flags

    def _tag(self, s: State, node: int) -> int:
        """Number of the tag that a word was given or, before that, has in its column."""
        if s.marks[node] >= FIRST_TAG:
            return self.tags[s.marks[node] - FIRST_TAG]
        return self.columns[(self.offset + node) * N_COLUMNS + self.tag_column]

    def _between(self, s: State, low: int, high: int, place: int) -> int:
        """Write the different tags between two nodes; return how many there are."""
        count = 0
        if low > high:
            low, high = high, low
        high = min(high, low + FARTHEST)
        for node in range(low + 1, high):
            value = self.columns[(self.offset + node) * N_COLUMNS + UPOS]
            if self.tag_column == UPOS:
                value = self._tag(s, node)
            count = self._add(value, place, count)
        return count

    def _add(self, value: int, place: int, count: int) -> int:
        """Write a value unless it is there already; return how many there are then."""
        i = 0
        while i < count and self.values[place + i] != value:
            i += 1
        if i < count or count == MOST:
            return count
        self.values[place + count] = value
        return count + 1

    def _side_labels(self, s: State, node: int, place: int) -> int:
        """Write the labels of a node's dependents on the side that the phase comes from; return how many there are."""
        is_backwards = s.phase < self.n_phases and self.backwards[s.phase] != 0
        first = node + 1 if is_backwards else 1
        last = s.n if is_backwards else node - 1
        count = 0
        for word in range(first, last + 1):
            if s.heads[word] == node:
                count = self._add(s.labels[word] + 2, place, count)
        return count

    def _look_up(self, s: State, atom: int, node: int, other: int) -> int:
        """Write the values of an atom; return how many there are. 0 is the value where a node is missing."""
        attribute = self.attributes[atom]
        place = atom * MOST
        self.values[place] = 0
        if attribute < N_COLUMNS:
            if node >= 0:
                self.values[place] = self.columns[(self.offset + node) * N_COLUMNS + attribute]
        elif attribute == FLAGS:
            self.values[place] = self._flags(s)
        elif attribute == VALENCIES:
            count = 0
            for i in range(s.aside_depth):
                count = self._add(s.aside_labels[i] + 2, place, count)
            return count
        elif node < 0:
            pass
        elif attribute == TAG:
            self.values[place] = self._tag(s, node)
        elif attribute == CHOICES:
            if s.candidate_width > 0:
                self.values[place] = s.tag_candidates[(node + 1) * s.candidate_width - 1]
        elif attribute == FEATS:
            start = self.feat_starts[self.offset + node]
            count = self.feat_starts[self.offset + node + 1] - start
            count = min(count, MOST)
            for i in range(count):
                self.values[place + i] = self.feats[start + i]
            return count
        elif attribute == LABEL:
            self.values[place] = s.labels[node] + 2
        elif attribute == SIDE_LABELS:
            return self._side_labels(s, node, place)
        elif attribute == LEFTS:
            self.values[place] = 1 + (1 if s.left1[node] >= 0 else 0) + (1 if s.left2[node] >= 0 else 0)
        elif attribute == RIGHTS:
            self.values[place] = 1 + (1 if s.right1[node] >= 0 else 0) + (1 if s.right2[node] >= 0 else 0)
        elif attribute == DEPS:
            self.values[place] = 1 + (s.n_deps[node] if s.n_deps[node] < 6 else 6)
        elif other < 0:
            pass
        elif attribute == DISTANCE:
            self.values[place] = self._bucket(other - node)
        elif attribute == DIRECTION:
            self.values[place] = 1 if node < other else 2
        elif attribute == ARC_THERE:
            self.values[place] = s.labels[other] + 3 if s.heads[other] == node else 1
        else:
            return self._between(s, node, other, place)
        return 1

    def _extract(self, s: State, head: int, dependent: int, seed: int) -> int:
        """Fill ``keys`` with the features of a configuration; return how many there are."""
        for i in range(self.addresses.size):
            if self.starts[i] < 0:
                self.nodes[i] = self.addresses._node(s, i)
                continue
            node = head if self.starts[i] == 0 else dependent if self.starts[i] == 1 else self.sibling
            if self.addresses.first_steps[i] > 0:
                node = self.addresses._step(s, node, self.addresses.first_steps[i])
                if self.addresses.second_steps[i] > 0:
                    node = self.addresses._step(s, node, self.addresses.second_steps[i])
            self.nodes[i] = node
        for atom in range(self.n_atoms):
            self.n_values[atom] = self._look_up(s, atom, self.nodes[self.first[atom]], self.nodes[self.second[atom]])
        count = 0
        part = 0
        apart = self._mix(seed, LAST_SPREAD)  # far apart for small seeds, which small values could undo otherwise
        for i in range(self.n_templates):
            if self.steps[i] > 0 and self.steps[i] != (1 if s.phase == 0 else 2):
                part = self.ends[i]
                continue
            hashed = self.seeds[i] ^ apart
            while part < self.ends[i]:
                hashed = self._mix(hashed, self.values[self.parts[part] * MOST])
                part += 1
            first = self.many[2 * i]
            second = self.many[2 * i + 1]
            if first < 0:
                self.keys[count] = self._key(hashed)
                count += 1
                continue
            for j in range(self.n_values[first]):
                longer = self._mix(hashed, self.values[first * MOST + j])
                if second < 0:
                    self.keys[count] = self._key(longer)
                    count += 1
                    continue
                for k in range(self.n_values[second]):
                    self.keys[count] = self._key(self._mix(longer, self.values[second * MOST + k]))
                    count += 1
        return count

    def extract(self, s: State, head: int = -1, dependent: int = -1, seed: int = 0) -> list[int]:
        """Return the features of a configuration (and of an arc that a move would add)."""
        count = self._extract(s, head, dependent, seed)
        return [self.keys[i] for i in range(count)]
