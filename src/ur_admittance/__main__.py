"""python -m ur_admittance"""

from ur_admittance.cli import main

main()
