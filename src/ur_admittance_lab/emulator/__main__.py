from ur_admittance_lab.emulator.main import main

main()
