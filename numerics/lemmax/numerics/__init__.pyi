from .certifying.certify import certify as certify
from .certifying.watching import CertifiedShare as CertifiedShare
from .engines.trained import train as train
from .experiments import experiment as experiment
from .pretrained.assumptions import check_assumptions as check_assumptions
from .training.configurations import Dana as Dana, Mahdavi as Mahdavi, Wong as Wong
from .training.jobs import Job as Job
from .training.own import Own as Own
from .training.recipes import recipe as recipe
from .training.sweeps import sweep as sweep
from .twins.certify import certify_layer as certify_layer
from .twins.transformer_lens import to_transformer_lens as to_transformer_lens
