from .hunts import Hunt as Hunt
from .hunts import hunt as hunt
from .sizes import size_of as size_of
