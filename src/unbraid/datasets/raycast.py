"""Ray casting of one solid in a room: closed-form hits, one lamp, hard shadows on the floor (none reach the walls).

Vectors are three scalars each: in compiled code, small arrays would cost more than the arithmetic.
"""

import numpy as np

from unbraid.runtime.kernels import njit

CUBE, CYLINDER, SPHERE, CAPSULE = range(4)
FLOOR, WALLS, OBJECT, HIGHLIGHT = range(4)
WALL = 3.0  # distance of the walls from the centre
LAMP = (1.2, 3.6, 1.6)
EYE_HEIGHT, EYE_DISTANCE, AIM_HEIGHT = 1.75, 2.85, 0.55
FIELD = 0.48  # tangent of half the field of view
FAR = 1e9
Hit = tuple[float, float, float, float]  # distance and normal
compiled = njit(fastmath=True)


@compiled
def _quadratic(a: float, b: float, c: float) -> float:
    """Smallest positive root of a t^2 + 2 b t + c, or FAR."""
    inside = b * b - a * c
    if inside < 0 or a < 1e-12:
        return FAR
    root = np.sqrt(inside)
    near = (-b - root) / a
    if near > 1e-6:
        return near
    far = (-b + root) / a
    return far if far > 1e-6 else FAR


@compiled
def _ball(ox: float, oy: float, oz: float, dx: float, dy: float, dz: float, y: float, r: float) -> Hit:
    """Distance to, and normal of, a ball of radius r at height y."""
    py = oy - y
    t = _quadratic(dx * dx + dy * dy + dz * dz, ox * dx + py * dy + oz * dz, ox * ox + py * py + oz * oz - r * r)
    return t, (ox + t * dx) / r, (py + t * dy) / r, (oz + t * dz) / r


@compiled
def _tube(ox: float, oy: float, oz: float, dx: float, dy: float, dz: float, low: float, high: float, r: float) -> Hit:
    """Distance to, and normal of, the side of an upright cylinder."""
    t = _quadratic(dx * dx + dz * dz, ox * dx + oz * dz, ox * ox + oz * oz - r * r)
    y = oy + t * dy
    if t >= FAR or y < low or y > high:
        return FAR, 0.0, 0.0, 0.0
    return t, (ox + t * dx) / r, 0.0, (oz + t * dz) / r


@compiled
def _cylinder(ox: float, oy: float, oz: float, dx: float, dy: float, dz: float, height: float, r: float) -> Hit:
    """Distance to, and normal of, a cylinder that stands on the floor: its side or its lid."""
    if dy != 0:
        t = (height - oy) / dy
        if t > 1e-6 and (ox + t * dx) ** 2 + (oz + t * dz) ** 2 <= r * r and dy < 0:
            return t, 0.0, 1.0, 0.0
    return _tube(ox, oy, oz, dx, dy, dz, 0.0, height, r)


@compiled
def _capsule(ox: float, oy: float, oz: float, dx: float, dy: float, dz: float, height: float, r: float) -> Hit:
    """Distance to, and normal of, a cylinder with round ends."""
    best = _tube(ox, oy, oz, dx, dy, dz, r, height - r, r)
    lower = _ball(ox, oy, oz, dx, dy, dz, r, r)
    upper = _ball(ox, oy, oz, dx, dy, dz, height - r, r)
    if lower[0] < best[0]:
        best = lower
    if upper[0] < best[0]:
        best = upper
    return best


@compiled
def _box(ox: float, oy: float, oz: float, dx: float, dy: float, dz: float, half: float) -> Hit:
    """Distance to, and normal of, a cube that stands on the floor (slabs)."""
    ax, bx = (-half - ox) / dx, (half - ox) / dx
    ay, by = -oy / dy, (2 * half - oy) / dy
    az, bz = (-half - oz) / dz, (half - oz) / dz
    ax, bx = min(ax, bx), max(ax, bx)
    ay, by = min(ay, by), max(ay, by)
    az, bz = min(az, bz), max(az, bz)
    enter, leave = max(ax, ay, az), min(bx, by, bz)
    if enter > leave or enter < 1e-6:
        return FAR, 0.0, 0.0, 0.0
    if enter == ay:
        return enter, 0.0, -np.sign(dy), 0.0
    if enter == ax:
        return enter, -np.sign(dx), 0.0, 0.0
    return enter, 0.0, 0.0, -np.sign(dz)


@compiled
def _solid(shape: int, size: float, ox: float, oy: float, oz: float, dx: float, dy: float, dz: float) -> Hit:
    """Distance to the object and its normal."""
    # a ray that misses the ball around every shape needs no closer look
    away = _ball(ox, oy, oz, dx, dy, dz, 0.55 * size, 0.78 * size)
    if away[0] >= FAR:
        return FAR, 0.0, 0.0, 0.0
    if shape == CUBE:
        return _box(ox, oy, oz, dx, dy, dz, 0.42 * size)
    if shape == SPHERE:
        return _ball(ox, oy, oz, dx, dy, dz, 0.52 * size, 0.52 * size)
    if shape == CYLINDER:
        return _cylinder(ox, oy, oz, dx, dy, dz, size, 0.44 * size)
    return _capsule(ox, oy, oz, dx, dy, dz, 1.15 * size, 0.34 * size)


@compiled
def _shade(
    shape: int, size: float, ox: float, oy: float, oz: float, dx: float, dy: float, dz: float
) -> tuple[int, float, float]:
    """What one ray sees: surface, its brightness, the highlight on it."""
    t, nx, ny, nz = _solid(shape, size, ox, oy, oz, dx, dy, dz)
    surface = OBJECT
    if dy < 0 and -oy / dy < t:
        t, surface, nx, ny, nz = -oy / dy, FLOOR, 0.0, 1.0, 0.0
    wall = ((WALL if dx > 0 else -WALL) - ox) / dx
    if wall < t:
        t, surface, nx, ny, nz = wall, WALLS, -np.sign(dx), 0.0, 0.0
    wall = ((WALL if dz > 0 else -WALL) - oz) / dz
    if wall < t:
        t, surface, nx, ny, nz = wall, WALLS, 0.0, 0.0, -np.sign(dz)
    px, py, pz = ox + t * dx, oy + t * dy, oz + t * dz
    lx, ly, lz = LAMP[0] - px, LAMP[1] - py, LAMP[2] - pz
    length = np.sqrt(lx * lx + ly * ly + lz * lz)
    lx, ly, lz = lx / length, ly / length, lz / length
    facing = nx * lx + ny * ly + nz * lz
    cosine = max(facing, 0.0)
    glance = 0.0
    if surface == OBJECT:
        # Phong: the mirrored lamp towards the eye
        away = 2 * facing * (nx * dx + ny * dy + nz * dz) - (lx * dx + ly * dy + lz * dz)
        glance = 0.35 * max(-away / np.sqrt(dx * dx + dy * dy + dz * dz), 0.0) ** 24
    elif surface == FLOOR and _solid(shape, size, px, py, pz, lx, ly, lz)[0] < length:
        cosine = 0.0
    light = 0.45 + 0.55 * cosine
    return surface, light if surface == WALLS else min(1.15 * light, 1.0), glance


@compiled
def cast_room(shape: int, size: float, angle: float, side: int, samples: int) -> np.ndarray:
    """Brightness (side, side, 4) of floor, walls, object and highlight, seen from ``angle`` around the object."""
    sin, cos = np.sin(angle), np.cos(angle)
    drop = EYE_HEIGHT - AIM_HEIGHT
    slant = np.sqrt(EYE_DISTANCE**2 + drop**2)
    level, fall = EYE_DISTANCE / slant, drop / slant
    ox, oy, oz = sin * EYE_DISTANCE, EYE_HEIGHT, cos * EYE_DISTANCE
    out = np.zeros((side, side, 4), dtype=np.float32)
    share = 1 / (samples * samples)
    for row in range(side):
        for column in range(side):
            for k in range(samples * samples):
                x = FIELD * ((column + (k % samples + 0.5) / samples) / side * 2 - 1)
                y = FIELD * (1 - (row + (k // samples + 0.5) / samples) / side * 2)
                # ahead (-sin level, -fall, -cos level), right (cos, 0, -sin), up (-sin fall, level, -cos fall);
                # the tiny offset keeps rays off the axes, where slabs would divide by zero
                ahead = level + y * fall
                dx = x * cos - ahead * sin + 1e-9
                dy = y * level - fall + 1e-9
                dz = -x * sin - ahead * cos + 1e-9
                surface, light, glance = _shade(shape, size, ox, oy, oz, dx, dy, dz)
                out[row, column, surface] += light * share
                out[row, column, HIGHLIGHT] += glance * share
    return out
