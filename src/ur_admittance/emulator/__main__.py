from ur_admittance.emulator.main import main

main()
