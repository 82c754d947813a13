"""Parameters of the force sensors and of the tool that hangs on them."""

from ur_admittance.params.fields import (
    Angle,
    Group,
    NotNegative,
    Number,
    Positive,
    Six,
    Switch,
    Text,
    Three,
    Two,
    parameter,
)


class Sensor(Group):
    source: Text = parameter("", "-", "builtin, raw, netft:ADDRESS, robotiq:DEVICE, a topic or probe:TOPIC; empty: any")
    sign: Number = parameter(1.0, "-", "1, or -1 for a sensor that reports the reaction of the tool")
    bias: Six[Number] = parameter((0.0,) * 6, "N, Nm", "reading without any load, after the sign, sensor axes")
    rotation: Three[Angle] = parameter((0.0,) * 3, "rad", "roll, pitch, yaw of the sensor axes in the flange frame")
    auto_zero: Switch = parameter(
        False, "-", "let the bias follow slow drift while the tool is free; a steady push below 2 N vanishes with it"
    )
    auto_zero_time: Positive = parameter(60.0, "s", "time constant of auto_zero")
    position: Three[Number] = parameter((0.0,) * 3, "m", "origin of the sensor in the flange frame")
    delay: NotNegative = parameter(0.0, "s", "from a force to its reading: the sensor's own filter and its connection")
    driver: Text = parameter("", "-", "version of ur_robot_driver, if it publishes the wrench; empty: found by itself")


class Tool(Group):
    mass: NotNegative = parameter(0.0, "kg", "mass of everything beyond the sensor, from calibration")
    center_of_mass: Three[Number] = parameter((0.0,) * 3, "m", "its centre of mass, sensor frame")
    inertia_compensation: Switch = parameter(False, "-", "remove the inertia force of the tool mass from the wrench")
    tcp: Six[Number] = parameter((0.0,) * 6, "m, rad", "x y z, roll pitch yaw of the TCP in the flange frame")


class Second(Group):
    """A second force sensor on the same tool, beside the first one (sensor, tool); empty source: there is none."""

    source: Text = parameter("", "-", "as sensor.source, another one, or simulation; empty: no second sensor")
    sign: Number = parameter(1.0, "-", "as sensor.sign")
    bias: Six[Number] = parameter((0.0,) * 6, "N, Nm", "as sensor.bias, in its own axes")
    rotation: Three[Angle] = parameter((0.0,) * 3, "rad", "roll, pitch, yaw of its axes in the flange frame")
    position: Three[Number] = parameter((0.0,) * 3, "m", "its origin in the flange frame")
    mass: NotNegative = parameter(0.0, "kg", "of everything beyond it; 0 where the robot has removed its payload")
    center_of_mass: Three[Number] = parameter((0.0,) * 3, "m", "of that mass, in its own axes")
    noise: Six[Positive] = parameter(
        (1.0,) * 6, "-", "its noise over that of the first sensor, axes of the first; its share is 1 / (1 + noise^2)"
    )
    lag: NotNegative = parameter(0.0, "s", "by which it is later than the first sensor: its own filter and connection")
    tolerance: Two[Positive] = parameter((5.0, 0.5), "N, Nm", "difference of an axis beyond which one of them is wrong")
    patience: Positive = parameter(0.1, "s", "for which they may differ by more before one is dropped or the arm stops")
    rate: Two[Positive] = parameter(
        (100.0, 10.0), "N/s, Nm/s", "fastest change of the wrench by dropping a sensor or taking it back"
    )
