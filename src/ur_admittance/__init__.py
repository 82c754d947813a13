"""Makes a Universal Robots arm force-compliant: push the tool and it moves as a chosen mass, damper and spring.

    import ur_admittance as ua

    world = ua.World(ua.robot_model("ur5e"), ua.Tool(mass=1.0))
    controller = ua.AdmittanceController(world.model, ua.preset("hand_guiding").changed(world.parameters()))
    with ua.SimulatedRobot(world) as robot:  # leaving the block stops the arm
        world.push([0, 10, 0, 0, 0, 0], seconds=1.0)  # a hand: 10 N along y
        print(ua.run(controller, robot, duration=2.0, activate=True))

These names are the public interface; what a name needs is loaded when it is first used. The modules behind them may
change between versions.
"""

from ur_admittance.front_door import opened

__version__ = "0.1.0"
__getattr__, __dir__, __all__ = opened(__name__)
