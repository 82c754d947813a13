"""Distances of the arm to itself, to boxes and to the table: capsules on the links, exact nearest points.

P (CAPSULES, 2, 3): both ends of each capsule's segment, base axes [m]. A pair has a number:

    0 ... pairs - 1     two capsules of the arm
    then                each box, then the table: with six capsules, the near and the far half (end) of each

Halves, because a long link beside a flat thing has two places that count: its ends.
"""

import math

from ur_admittance.core.kernel import kernel, mat3, vec3
from ur_admittance.core.limits.shapes_record import BOXES, CAPSULES, FIRST_BOX, PAIRS, TABLE, TOOL
from ur_admittance.core.spatial import copy_matrix, multiply, rotate

FIRST_MOVER = 2  # the upper arm: base and shoulder do not get nearer to anything
PARTS = 2 * (CAPSULES - FIRST_MOVER)  # pairs of each box or table
PARALLEL = 1e-12  # of two segments: their cross product is lost in rounding


@kernel
def place(rotation, position, h, q, P, axes):
    """Ends of all segments at the joint angles q; axes (6, 6): a point on and the direction of each joint's axis."""
    R, local, p, out = mat3(), mat3(), vec3(), vec3()
    copy_matrix(rotation[0], R)
    for i in range(3):
        p[i] = position[0, i]
        for c in range(CAPSULES):  # those of the base
            P[c, 0, i] = h.start[c, i]
            P[c, 1, i] = h.end[c, i]
    at = 0
    while at < CAPSULES and h.link[at] <= 0:
        at += 1
    for joint in range(6):
        for i in range(3):
            axes[i, joint] = p[i]
            axes[3 + i, joint] = R[i, 2]
        c, s = math.cos(q[joint]), math.sin(q[joint])
        for i in range(3):
            local[i, 0] = c * R[i, 0] + s * R[i, 1]
            local[i, 1] = c * R[i, 1] - s * R[i, 0]
            local[i, 2] = R[i, 2]
        while at < CAPSULES and h.link[at] == joint + 1:
            rotate(local, h.start[at], out)
            for i in range(3):
                P[at, 0, i] = p[i] + out[i]
            rotate(local, h.end[at], out)
            for i in range(3):
                P[at, 1, i] = p[i] + out[i]
            at += 1
        rotate(local, position[joint + 1], out)
        for i in range(3):
            p[i] += out[i]
        multiply(local, rotation[joint + 1], R)


@kernel
def segments_nearest(A, B, C, D):
    """Parameters (s, t), 0..1, of the nearest points of the segments AB and CD  [Ericson 2005, 5.1.9]."""
    a, e, f, b, c = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(3):
        d1, d2, r = B[i] - A[i], D[i] - C[i], A[i] - C[i]
        a, e, f, b, c = a + d1 * d1, e + d2 * d2, f + d2 * r, b + d1 * d2, c + d1 * r
    if a <= PARALLEL and e <= PARALLEL:
        return 0.0, 0.0
    if a <= PARALLEL:
        return 0.0, min(max(f / e, 0.0), 1.0)
    if e <= PARALLEL:
        return min(max(-c / a, 0.0), 1.0), 0.0
    determinant = a * e - b * b
    s = min(max((b * f - c * e) / determinant, 0.0), 1.0) if determinant > PARALLEL * a * e else 0.5
    t = (b * s + f) / e
    if t < 0.0:
        return min(max(-c / a, 0.0), 1.0), 0.0
    if t > 1.0:
        return min(max((b - c) / a, 0.0), 1.0), 1.0
    return s, t


@kernel
def box_slope(a, d, half, t):
    """Half the derivative by t of the squared distance of a + t d to the box |x_i| <= half_i: grows with t."""
    total = 0.0
    for i in range(3):
        x = a[i] + t * d[i]
        total += d[i] * (max(x - half[i], 0.0) + min(x + half[i], 0.0))
    return total


@kernel
def segment_box_nearest(a, d, half):
    """t, 0..1, of the point of the segment a + t d nearest to the box. The slope is linear between the six planes of
    the box, so the root lies between the nearest two of them and is exact."""
    low, high = 0.0, 1.0
    at_low, at_high = box_slope(a, d, half, low), box_slope(a, d, half, high)
    if at_low >= 0.0:
        return low
    if at_high <= 0.0:
        return high
    for i in range(3):
        if d[i] == 0.0:
            continue
        for side in (-1.0, 1.0):
            t = (side * half[i] - a[i]) / d[i]
            if low < t < high:
                slope = box_slope(a, d, half, t)
                if slope > 0.0:
                    high, at_high = t, slope
                else:
                    low, at_low = t, slope
    return low + at_low * (high - low) / (at_low - at_high) if at_high > at_low else low


@kernel
def box_distance(h, P, capsule, part, j, x, n):
    """Distance of half a capsule's segment to a box; x: its nearest point, n: unit vector from the box to it."""
    R, centre, half = h.box_rotation[j], h.box_position[j], h.box_half[j]
    a, d = vec3(), vec3()
    for i in range(3):
        a[i], d[i] = 0.0, 0.0
        for k in range(3):
            along = P[capsule, 1, k] - P[capsule, 0, k]
            a[i] += R[k, i] * (P[capsule, 0, k] + 0.5 * part * along - centre[k])
            d[i] += R[k, i] * 0.5 * along
    t = segment_box_nearest(a, d, half)
    square, depth, face, side = 0.0, math.inf, 0, 1.0
    for i in range(3):
        y = a[i] + t * d[i]
        out = max(y - half[i], 0.0) + min(y + half[i], 0.0)
        square += out * out
        first, last = min(a[i], a[i] + d[i]), max(a[i], a[i] + d[i])
        if half[i] - first < depth:  # how far the whole segment is behind this face
            depth, face, side = half[i] - first, i, 1.0
        if half[i] + last < depth:
            depth, face, side = half[i] + last, i, -1.0
        a[i], d[i] = y, out
    for k in range(3):
        x[k] = centre[k]
        for i in range(3):
            x[k] += R[k, i] * a[i]
    if square > 0.0:
        distance = math.sqrt(square)
        for k in range(3):
            n[k] = (R[k, 0] * d[0] + R[k, 1] * d[1] + R[k, 2] * d[2]) / distance
        return distance
    for k in range(3):  # it is inside: out through the nearest face
        n[k] = side * R[k, face]
    return -depth


@kernel
def box_bound(h, P, capsule, j):
    """At most the distance of a capsule's segment to a box: both as balls."""
    square, length, size = 0.0, 0.0, 0.0
    for i in range(3):
        square += (0.5 * (P[capsule, 0, i] + P[capsule, 1, i]) - h.box_position[j, i]) ** 2
        length += (P[capsule, 1, i] - P[capsule, 0, i]) ** 2
        size += h.box_half[j, i] ** 2
    return math.sqrt(square) - 0.5 * math.sqrt(length) - math.sqrt(size)


@kernel
def self_distance(P, one, two, limit, x, n):
    """Distance of two segments; a larger one than `limit` may be given smaller, but never below `limit`."""
    square, first, second = 0.0, 0.0, 0.0
    for i in range(3):
        square += (0.5 * (P[one, 0, i] + P[one, 1, i] - P[two, 0, i] - P[two, 1, i])) ** 2
        first += (P[one, 1, i] - P[one, 0, i]) ** 2
        second += (P[two, 1, i] - P[two, 0, i]) ** 2
    bound = math.sqrt(square) - 0.5 * (math.sqrt(first) + math.sqrt(second))
    if bound > limit:
        return bound
    s, t = segments_nearest(P[one, 0], P[one, 1], P[two, 0], P[two, 1])
    square = 0.0
    for i in range(3):
        x[i] = P[one, 0, i] + s * (P[one, 1, i] - P[one, 0, i])
        n[i] = x[i] - P[two, 0, i] - t * (P[two, 1, i] - P[two, 0, i])
        square += n[i] * n[i]
    distance = math.sqrt(square)
    if distance > 0.0:
        for i in range(3):
            n[i] /= distance
    return distance


@kernel
def pair_count(h):
    boxes = min(max(h.boxes, 0), BOXES)
    return min(max(h.pairs, 0), PAIRS) + PARTS * (boxes + (1 if h.table != 0 else 0))


@kernel
def pair_distance(h, P, index, limit, x, n):
    """(distance, capsule, body) of a pair [m]. x: nearest point on the axis of the capsule, n: unit vector towards it
    from the other. A distance above `limit` may be given too small, but not below `limit`; then x and n mean
    nothing."""
    pairs, boxes = min(max(h.pairs, 0), PAIRS), min(max(h.boxes, 0), BOXES)
    if index < pairs:
        one, two = h.pair[index, 0] & 7, h.pair[index, 1] & 7
        thick = h.radius[one] + h.radius[two]
        return self_distance(P, one, two, limit + thick, x, n) - thick, one, two
    thing, part = (index - pairs) // PARTS, (index - pairs) % PARTS
    one, part = FIRST_MOVER + part // 2, part % 2
    radius = h.radius[one]
    if radius < 0.0:
        return math.inf, one, TABLE
    if thing < boxes:
        if one == TOOL and h.box_touchable[thing] != 0:
            return math.inf, one, FIRST_BOX
        body = FIRST_BOX + (h.box[thing] & 3)
        bound = box_bound(h, P, one, thing) - radius
        if bound > limit:
            return bound, one, body
        return box_distance(h, P, one, part, thing, x, n) - radius, one, body
    if (one == TOOL and h.table_touchable != 0) or (one == FIRST_MOVER and part == 0):  # the shoulder stays where it is
        return math.inf, one, TABLE
    height = -h.table_height
    for i in range(3):
        x[i] = P[one, part, i]
        n[i] = h.table_normal[i]
        height += n[i] * x[i]
    return height - radius, one, TABLE


@kernel
def gradient(h, axes, one, two, x, n, g):
    """d(distance)/dq (6,): joints between the two bodies move the nearest point x,  n . (z x (x - o))."""
    first = min(max(h.link[two], 0), 6) if two < CAPSULES else 0
    last = min(max(h.link[one], 0), 6)
    for k in range(6):
        g[k] = 0.0
    for k in range(first, last):
        zx, zy, zz = axes[3, k], axes[4, k], axes[5, k]
        rx, ry, rz = x[0] - axes[0, k], x[1] - axes[1, k], x[2] - axes[2, k]
        g[k] = n[0] * (zy * rz - zz * ry) + n[1] * (zz * rx - zx * rz) + n[2] * (zx * ry - zy * rx)


@kernel
def smallest_distance(h, P, limit):
    """(distance, capsule, body) of the nearest pair, if it is nearer than `limit`; otherwise (limit, -1, -1)."""
    x, n = vec3(), vec3()
    best, one, two = limit, -1, -1
    for index in range(pair_count(h)):
        distance, a, b = pair_distance(h, P, index, best, x, n)
        if distance < best:
            best, one, two = distance, a, b
    return best, one, two
