from .hunts import hunt as hunt
from .outcomes import Hunt as Hunt
from .sharpness import Sharp as Sharp
from .sharpness import sharpness as sharpness
from .sizes import size_of as size_of
