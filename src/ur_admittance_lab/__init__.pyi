from ur_admittance_lab.episodes import Case as Case
from ur_admittance_lab.episodes import Script as Script
from ur_admittance_lab.episodes import simulate as simulate
from ur_admittance_lab.twin import Twin as Twin
