"""Capacity: bits of knowledge per parameter and per bit of storage, certified, with their limits.

What a table holds, what each construction spends on it, and what no layer can exceed; nothing is
trained or compiled here.
"""

from lemmax.constructions.capacity.bits import (
    TRAINED,
    Capacity,
    capacities,
    counting_bound,
    knowledge,
)
from lemmax.constructions.capacity.geonames import cities
from lemmax.constructions.capacity.tables import random_table

__all__ = [
    "TRAINED",
    "Capacity",
    "capacities",
    "cities",
    "counting_bound",
    "knowledge",
    "random_table",
]
