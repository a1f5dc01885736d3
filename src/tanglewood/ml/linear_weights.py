"""Tables from features to weights, compiled: learnt ones, ready to score, and those that are being learnt.

A table is open-addressed and keeps its keys, so that a feature never seen in training weighs nothing, and a feature
has weights only for the classes (moves or labels) that it was ever updated for.
"""

from __future__ import annotations

from array import array

from tanglewood.errors import ModelError

try:
    import cython
except ModuleNotFoundError:
    from tanglewood.core.uncompiled import cython

if not cython.compiled:
    lrint = round  # both round halves to even

KEY_BITS = 31
CLASS_BITS = 12  # an entry is weight, a bit that says whether it is the feature's last, class
MOST_CLASSES = 1 << 12
LAST = 1 << CLASS_BITS
CLASS_MASK = LAST - 1
SLOT = 4  # ints per slot: key, where its entries begin, how many there are, how often it was updated
ENTRY = 3  # floats per entry: class, weight, weight times time
QUANTA = 1 << 10  # the largest weight of a table becomes this integer
ROOM = 1 << 15  # free slots and entries for the next sentence


class Weights:
    """Learnt integer weights, which any number of threads may share.

    ``keys`` are in the order of their slots, ``entries`` in the order of the keys: every feature's last is marked.
    No weight is larger than ``most``, so that sums of a million of them do not overflow.
    """

    def __init__(self, keys: memoryview, entries: memoryview, n_classes: int, scale: float, most: int = QUANTA) -> None:
        self.keys = keys
        self.entries = entries
        self.n_classes = n_classes
        self.scale = scale
        if not self._is_sound(len(keys), len(entries), most):
            raise ModelError("a table of weights is damaged: keys, classes or weights are not what they can be")
        self.size = max(4, 2 * len(keys))
        self.slots = array("i", b"\xff" * (8 * self.size))  # key, or -1, and where its entries begin
        self._fill(len(keys))

    def _is_sound(self, n_keys: int, n_entries: int, most: int) -> bool:
        """Whether keys, classes and weights are in their ranges, and there are as many last entries as keys."""
        for i in range(n_keys):
            if self.keys[i] < 0:
                return False
        last = 0
        for i in range(n_entries):
            entry = self.entries[i]
            weight = entry >> (CLASS_BITS + 1)
            if (entry & CLASS_MASK) >= self.n_classes or weight > most or weight < -most:
                return False
            last = entry & LAST
            n_keys -= 1 if last else 0
        return n_keys == 0 and (last != 0 or n_entries == 0)

    def _fill(self, n_keys: int) -> None:
        entry = 0
        for i in range(n_keys):
            key = self.keys[i]
            slot = (key * self.size) >> KEY_BITS
            while self.slots[2 * slot] >= 0:
                slot = slot + 1 if slot + 1 < self.size else 0
            self.slots[2 * slot] = self.keys[i]
            self.slots[2 * slot + 1] = entry
            while not self.entries[entry] & LAST:
                entry += 1
            entry += 1

    def _score(self, keys: array[int], count: int, places: array[int], sums: array[int], out: array[float]) -> None:
        """Write the score of every class; ``places`` is scratch space as large as ``keys``.

        Most of the time goes into waiting for memory. Loops without branches let the processor wait for many
        features at once, so there is one that only touches the slots, and one that only touches the entries.
        """
        for i in range(count):
            key = keys[i]
            slot = (key * self.size) >> KEY_BITS
            places[i] = self.slots[2 * slot]
        found = 0
        for i in range(count):
            at = places[i]
            if at < 0:
                continue
            key = keys[i]
            slot = (key * self.size) >> KEY_BITS
            while at >= 0 and at != key:
                slot = slot + 1 if slot + 1 < self.size else 0
                at = self.slots[2 * slot]
            if at >= 0:
                places[found] = self.slots[2 * slot + 1]
                found += 1
        touched = 0
        for i in range(found):
            touched ^= self.entries[places[i]]
        for i in range(self.n_classes):
            sums[i] = 0
        sums[self.n_classes] = touched  # spare, but keeps the loop above alive
        for i in range(found):
            place = places[i]
            entry = self.entries[place]
            sums[entry & CLASS_MASK] += entry >> (CLASS_BITS + 1)
            while not entry & LAST:
                place += 1
                entry = self.entries[place]
                sums[entry & CLASS_MASK] += entry >> (CLASS_BITS + 1)
        for i in range(self.n_classes):
            out[i] = sums[i] * self.scale

    def score(self, keys: array[int]) -> list[float]:
        """Return the score of every class for these features."""
        out = array("f", bytes(4 * self.n_classes))
        self._score(keys, len(keys), keys[:], array("i", bytes(4 * self.n_classes + 4)), out)
        return list(out)

    def __len__(self) -> int:
        return len(self.entries)


class LearningWeights:
    """Weights while they are learnt, and what their averages need."""

    def __init__(self, n_classes: int) -> None:
        self.n_classes = n_classes
        self.size = 4 * ROOM
        self.slots = array("i", b"\xff" * (4 * SLOT * self.size))
        self.pool = array("f", bytes(4 * ENTRY * 8 * ROOM))
        self.n_keys = 0
        self.touched = 0
        self.n_pool = 0  # entries handed out, those given up when a feature's block grew included

    def restore(self, slots: memoryview, pool: memoryview, n_keys: int, n_pool: int) -> None:
        """Go back to tables as they once were."""
        sound = (slots.format, pool.format, slots.ndim, pool.ndim) == ("i", "f", 1, 1) and len(slots) % SLOT == 0
        if sound:
            self.slots = array("i", slots.tobytes())
            self.pool = array("f", pool.tobytes())
            self.size = len(slots) // SLOT
            self.n_keys = n_keys
            self.n_pool = n_pool
        if not sound or not self._is_sound(len(pool)):
            raise ModelError("a table of weights that were being learnt is damaged")

    def _is_sound(self, room: int) -> bool:
        """Whether every slot's entries, with what they may grow to before they are moved, are in the pool."""
        n_keys = 0
        if self.n_pool < 0 or ENTRY * self.n_pool > room:
            return False
        for number in range(self.size):
            slot = SLOT * number
            if self.slots[slot] >= 0:
                n_keys += 1
                start = self.slots[slot + 1]
                count = self.slots[slot + 2]
                if start < 0 or count < 0 or count > self.n_classes:
                    return False
                block = 2
                while block < count:
                    block *= 2
                if start + block > self.n_pool:
                    return False
                for i in range(count):
                    which = self.pool[ENTRY * (start + i)]
                    if not 0 <= which < self.n_classes or which != lrint(which):
                        return False
        return n_keys == self.n_keys and n_keys < self.size

    def tables(self) -> tuple[array[int], array[float]]:
        """Return copies of slots and pool."""
        return array("i", bytes(self.slots)), array("f", bytes(self.pool))

    def reserve(self) -> None:
        """Make room for what a sentence may add; features that find no room are ignored."""
        if 2 * (self.n_keys + ROOM) > self.size:
            old, old_size = self.slots, self.size
            self.size = 2 * old_size
            self.slots = array("i", b"\xff" * (4 * SLOT * self.size))
            self._move_slots(old, old_size)
        if ENTRY * (self.n_pool + 4 * ROOM) > len(self.pool):
            self.pool = array("f", bytes(self.pool) + bytes(4 * len(self.pool)))

    def _move_slots(self, old: array[int], old_size: int) -> None:
        for i in range(old_size):
            if old[SLOT * i] >= 0:
                slot = self._find(old[SLOT * i])
                for j in range(SLOT):
                    self.slots[SLOT * slot + j] = old[SLOT * i + j]

    def _find(self, key: int) -> int:
        """Slot of the key, or the free slot where it belongs."""
        slot = (key * self.size) >> KEY_BITS
        while self.slots[SLOT * slot] >= 0 and self.slots[SLOT * slot] != key:
            slot = slot + 1 if slot + 1 < self.size else 0
        return slot

    def _score(self, keys: array[int], count: int, out: array[float]) -> None:
        touched = 0
        for i in range(count):  # as in Weights: wait for many features at once
            touched ^= self.slots[SLOT * ((keys[i] * self.size) >> KEY_BITS)]
        self.touched = touched
        for i in range(self.n_classes):
            out[i] = 0
        for i in range(count):
            slot = SLOT * self._find(keys[i])
            if self.slots[slot] >= 0:
                place = ENTRY * self.slots[slot + 1]
                for _ in range(self.slots[slot + 2]):
                    which = lrint(self.pool[place])
                    out[which] += self.pool[place + 1]
                    place += ENTRY

    def _slot_for(self, key: int) -> int:
        """Where the slot of the key begins, a new one if necessary; -1 if there is no room."""
        slot = SLOT * self._find(key)
        if self.slots[slot] < 0:
            if self.n_pool + 2 * self.n_classes + 64 > len(self.pool) // ENTRY or 8 * self.n_keys > 7 * self.size:
                return -1
            self.slots[slot] = key
            self.slots[slot + 1] = self.n_pool
            self.slots[slot + 2] = 0
            self.slots[slot + 3] = 0
            self.n_keys += 1
            self.n_pool += 2
        self.slots[slot + 3] += 1
        return slot

    def _update(self, keys: array[int], count: int, good: int, bad: int, step: float, time: float) -> None:
        """Add the step to the good class and take it from the bad one, for all these features."""
        for i in range(count):
            slot = self._slot_for(keys[i])
            if slot >= 0:
                self._add(slot, good, step, time)
                self._add(slot, bad, -step, time)

    def _change(self, keys: array[int], count: int, which: int, step: float, time: float) -> None:
        """Add the step to one class, for all these features."""
        for i in range(count):
            slot = self._slot_for(keys[i])
            if slot >= 0:
                self._add(slot, which, step, time)

    def _add(self, slot: int, which: int, step: float, time: float) -> None:
        start = ENTRY * self.slots[slot + 1]
        size = self.slots[slot + 2]
        place = start
        while place < start + ENTRY * size and self.pool[place] != which:
            place += ENTRY
        if place == start + ENTRY * size:
            if size >= 2 and (size & (size - 1)) == 0:  # the block is full: one twice as large
                if ENTRY * (self.n_pool + 2 * size) > len(self.pool):
                    return
                for j in range(ENTRY * size):
                    self.pool[ENTRY * self.n_pool + j] = self.pool[start + j]
                self.slots[slot + 1] = self.n_pool
                place = ENTRY * (self.n_pool + size)
                self.n_pool += 2 * size
            self.slots[slot + 2] = size + 1
            self.pool[place] = which
            self.pool[place + 1] = 0
            self.pool[place + 2] = 0
        self.pool[place + 1] += step
        self.pool[place + 2] += step * time

    def score(self, keys: array[int]) -> list[float]:
        """Return the score of every class for these features."""
        out = array("f", bytes(4 * self.n_classes))
        self._score(keys, len(keys), out)
        return list(out)

    def update(self, keys: array[int], good: int, bad: int, step: float, time: float) -> None:
        """Add the step to the good class and take it from the bad one, for all these features."""
        self._update(keys, len(keys), good, bad, step, time)

    def _average(self, place: int, time: float) -> float:
        return self.pool[place + 1] - self.pool[place + 2] / time

    def largest(self, time: float) -> float:
        """Largest averaged weight."""
        top = 0.0
        for number in range(self.size):
            slot = SLOT * number
            if self.slots[slot] >= 0:
                place = ENTRY * self.slots[slot + 1]
                for _ in range(self.slots[slot + 2]):
                    value = self._average(place, time)
                    top = max(top, value, -value)
                    place += ENTRY
        return top

    def freeze(self, time: float, scale: float, least: float, updates: int) -> tuple[array[int], array[int]]:
        """Return keys and entries of the averaged weights, without small ones and those of features rarely updated."""
        sizes = array("i", [0, 0])
        none = array("i", [0])
        self._freeze(time, scale, least, updates, none, none, sizes)
        keys = array("i", bytes(4 * sizes[0] + 4))
        entries = array("i", bytes(4 * sizes[1] + 4))
        sizes[0] = sizes[1] = 0
        self._freeze(time, scale, least, updates, keys, entries, sizes)
        return keys[:-1], entries[:-1]

    def _freeze(
        self,
        time: float,
        scale: float,
        least: float,
        updates: int,
        keys: array[int],
        entries: array[int],
        sizes: array[int],
    ) -> None:
        """Count in ``sizes`` what is kept, and write it if the arrays have room for more than one."""
        writing = len(keys) > 1
        for number in range(self.size):
            slot = SLOT * number
            if self.slots[slot] < 0 or self.slots[slot + 3] < updates:
                continue
            place = ENTRY * self.slots[slot + 1]
            last = -1
            for _ in range(self.slots[slot + 2]):
                value = self._average(place, time)
                if value > least or value < -least:
                    last = sizes[1]
                    sizes[1] += 1
                    if writing:
                        entries[last] = lrint(value / scale) * (2 * LAST) + lrint(self.pool[place])
                place += ENTRY
            if last >= 0:
                if writing:
                    entries[last] += LAST
                    keys[sizes[0]] = self.slots[slot]
                sizes[0] += 1
