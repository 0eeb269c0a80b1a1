"""Picture and table of the rooms, from ``rooms.json``, to which ``tests/test_house.py`` holds the code.

Sphinx calls :func:`write` before it reads the pages; ``python docs/rooms_picture.py`` does the same by hand.
"""

import json
from pathlib import Path

from matplotlib.figure import Figure

HERE = Path(__file__).parent
OUT = HERE / "generated"


def read_rooms(path=HERE / "rooms.json"):
    """What each room holds, and the set of rooms that it may import."""
    table = json.loads(path.read_text(encoding="utf-8"))
    holds = {room: entry["holds"] for room, entry in table.items()}
    imports = {
        room: set(table) - {room} if entry["imports"] == "all" else set(entry["imports"])
        for room, entry in table.items()
    }
    return holds, imports


def floors(imports):
    """Rooms by floor: each lies above all that it imports. Two that import each other share the floor of the lower.

    >>> floors({"a": set(), "b": {"a"}, "c": {"a", "b"}})
    [['a'], ['b'], ['c']]
    >>> floors({"a": {"b"}, "b": {"a"}, "c": {"a"}})
    [['a', 'b'], ['c']]
    """
    below = {room: {other for other in seen if room not in imports[other]} for room, seen in imports.items()}
    left, found = dict(below), []
    while left:
        floor = [room for room, seen in left.items() if not seen & set(left)]
        if not floor:
            raise ValueError(f"these rooms import each other in a circle: {', '.join(sorted(left))}")
        found.append(floor)
        left = {room: seen for room, seen in left.items() if room not in floor}
    return found


def arrows(imports):
    """The imports that no chain of others implies.

    >>> arrows({"a": set(), "b": {"a"}, "c": {"a", "b"}})
    [('b', 'a'), ('c', 'b')]
    """

    def reach(room, seen):
        for other in imports[room] - seen:
            seen.add(other)
            reach(other, seen)
        return seen

    direct = ((room, other) for room in imports for other in sorted(imports[room]))
    return [
        (room, other)
        for room, other in direct
        if not any(other in reach(via, {via, room}) for via in imports[room] - {other})
    ]


def picture(imports):
    """Rooms as boxes, floor above floor, with an arrow to what each imports."""
    storeys = floors(imports)
    fig = Figure(figsize=(9, 1.05 * len(storeys)))
    ax = fig.add_axes((0, 0, 1, 1))
    ax.set(xlim=(0, 1), ylim=(-0.6, len(storeys) - 0.4))
    ax.axis("off")
    # floors of equal width are shifted a little, so that no arrow runs through a box
    at = {
        room: ((i + 0.5 + 0.12 * (-1) ** y * (len(floor) < 4)) / len(floor), y)
        for y, floor in enumerate(storeys)
        for i, room in enumerate(floor)
    }
    for room, other in arrows(imports):
        style = {"arrowstyle": "-|>", "color": "#8a94a0", "lw": 1, "shrinkA": 0, "shrinkB": 0}
        ax.annotate("", xy=edge(other, at[other], at[room]), xytext=at[room], arrowprops=style, zorder=1)
    for room, (x, y) in at.items():
        ax.text(
            x, y, room, ha="center", va="center", fontsize=11,
            bbox={"boxstyle": "round,pad=0.45", "facecolor": "#eaf1f8", "edgecolor": "#3a6ea5"},
        )  # fmt: skip
    return fig


def edge(room, centre, towards):
    """Where the line between two centres leaves the box of a room, about."""
    (x, y), (dx, dy) = centre, (towards[0] - centre[0], towards[1] - centre[1])
    share = min(size / abs(d) for size, d in ((0.006 * len(room) + 0.018, dx), (0.17, dy)) if d)
    return x + share * dx, y + share * dy


def table(holds, imports):
    """The same as a list-table of reStructuredText, top floor first."""
    lines = [".. list-table::", "   :header-rows: 1", "", "   * - room", "     - holds", "     - may import"]
    for room in (room for floor in reversed(floors(imports)) for room in floor):
        allowed = "every room" if len(imports[room]) == len(imports) - 1 else ", ".join(sorted(imports[room]))
        lines += [f"   * - ``{room}``", f"     - {holds[room]}", f"     - {allowed}"]
    return "\n".join(lines) + "\n"


def write(app=None):
    """Write ``generated/rooms.svg`` and ``generated/rooms.txt``; Sphinx passes its application, which is not needed."""
    holds, imports = read_rooms()
    OUT.mkdir(exist_ok=True)
    picture(imports).savefig(OUT / "rooms.svg", metadata={"Date": None})
    (OUT / "rooms.txt").write_text(table(holds, imports), encoding="utf-8")


if __name__ == "__main__":
    write()
