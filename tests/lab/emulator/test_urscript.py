"""Programs in URScript run as the manual says. The whole control box, cycle by cycle, without sockets."""

import gc
import time

import numpy as np
import pytest

from ur_admittance.model import robot_model
from ur_admittance.robots.simulated import World
from ur_admittance_lab.emulator.emulated_controller import Controller
from ur_admittance_lab.emulator.running_program import PAUSED, PLAYING, START_CYCLES, STOPPED
from ur_admittance_lab.emulator.urscript.text import Splitter

SPEEDS = ", ".join(f"read_input_float_register({i})" for i in range(24, 30))
DIRECT = f"""
def direct():
  rtde_set_watchdog("input_int_register_24", 20, "STOP")
  write_output_integer_register(24, 1)
  turns = 0
  going = True
  while going:
    mode = read_input_integer_register(24)
    if mode == 1:
      qd = [{SPEEDS}]
      speedj(qd, 40.0, get_steptime())
    elif mode == 2:
      servoj([{SPEEDS}], 0, 0, get_steptime(), 0.03, 1000)
    elif mode == 3:
      stopj(10.0)
      write_output_integer_register(26, 1)
    elif mode == 9:
      going = False
    else:
      sync()
    end
    turns = turns + 1
    write_output_integer_register(25, turns)
  end
  write_output_integer_register(24, 0)
end
"""


class Box(Controller):
    """With a log that can be read, and one arm for all tests."""

    def __init__(self, world: World) -> None:
        self.lines: list[str] = []
        super().__init__(world, say=self.lines.append)

    def run(self, cycles: int) -> None:
        for _ in range(cycles):
            self.cycle()

    def upload(self, stream: str) -> None:
        for text in Splitter().feed(stream.encode()):
            self.program.upload(text)

    def execute(self, stream: str, cycles: int = 5) -> None:
        """Until it has started, and some cycles more."""
        self.upload(stream)
        self.run(START_CYCLES + 1 + cycles)

    def says(self, text: str) -> bool:
        return any(text in line for line in self.lines)

    def send(self, mode: int, values: list[float] | np.ndarray) -> None:
        registers = {f"input_double_register_{24 + i}": float(value) for i, value in enumerate(values)}
        self.receive({"input_int_register_24": mode, **registers})
        self.cycle()


@pytest.fixture(scope="module")
def world() -> World:
    return World(robot_model("ur5e"))


@pytest.fixture
def box(world: World) -> Box:
    world.reset()
    return Box(world)


def test_a_direct_control_program_makes_one_turn_per_cycle_and_follows_the_registers(box: Box) -> None:
    box.execute(DIRECT)
    assert (box.program.runtime_state, box.outputs.integers[24]) == (PLAYING, 1)
    before, speed = box.outputs.integers[25], np.array([0.1, -0.1, 0.05, 0.0, 0.2, 0.0])
    for _ in range(100):
        box.send(1, speed)
    assert box.outputs.integers[25] - before == 100
    np.testing.assert_allclose(box.arm.target_speed, speed)
    target = box.arm.q_set + 0.02
    for _ in range(300):
        box.send(2, target)
    assert box.outputs.integers[25] - before == 400
    np.testing.assert_allclose(box.arm.q_set, target, atol=1e-4)
    assert box.counters["streamed commands"] == 399  # the first finds the arm at rest
    for _ in range(50):
        box.send(1, speed)
    while not box.outputs.integers[26]:
        box.send(3, speed)
    assert not box.arm.target_speed.any()
    box.send(9, speed)
    assert (box.program.runtime_state, box.outputs.integers[24]) == (STOPPED, 0)


def test_a_cycle_of_a_direct_control_program_costs_less_than_60_us(box: Box) -> None:
    box.execute(DIRECT)
    box.send(1, [0.1] * 6)
    costs = []
    for _ in range(20):
        begin = time.process_time()
        for _ in range(100):
            box.program.received({"input_int_register_24": 1})
            box.program.cycle()
        costs.append((time.process_time() - begin) / 100)
    assert min(costs) < 60e-6  # measured: 12 us


def test_a_silent_client_ends_the_program_after_the_watchdog_time_and_the_arm_brakes(box: Box) -> None:
    box.execute(DIRECT)
    for _ in range(100):
        box.send(1, [0.3] * 6)
    silent = 0
    while box.program.runtime_state == PLAYING:
        box.receive({"speed_slider_mask": 0, "input_double_register_24": 0.3})  # not the watched variable
        box.cycle()
        silent += 1
    assert silent == 25  # 1/20 s after the last package
    assert box.says("stopped: watchdog: no input_int_register_24 for 52 ms")
    box.run(100)
    assert not box.arm.target_speed.any()


def test_a_strict_controller_keeps_the_first_rate_of_a_watchdog_until_the_program_ends(box: Box) -> None:
    twice = """def f():
  rtde_set_watchdog("input_int_register_3", 0.1, "stop")
  rtde_set_watchdog("input_int_register_3", 20, "stop")
  while True:
    sync()
  end
end
"""
    for strict, hertz in ((False, 20.0), (True, 0.1)):
        box.program.keeps_first_watchdog = strict
        box.execute(twice)
        assert box.program.watchdog_hz == pytest.approx(hertz)


def test_a_register_that_is_not_a_number_ends_the_program_and_the_arm_brakes(box: Box) -> None:
    box.execute(DIRECT)
    for _ in range(100):
        box.send(1, [0.3] * 6)
    box.send(1, [0.3, 0.3, float("nan"), 0.3, 0.3, 0.3])
    assert box.says("runtime error: qd = nan: must be a finite number (line 10)")
    box.run(100)
    assert not box.arm.target_speed.any()


def test_a_watchdog_that_pauses_lets_the_program_go_on(box: Box) -> None:
    box.execute('def f():\n rtde_set_watchdog("input_int_register_3", 50)\n while True:\n  sync()\n end\nend\n', 15)
    assert box.program.runtime_state == PAUSED
    assert box.program.play()
    box.run(5)
    assert box.program.runtime_state == PLAYING


def test_the_arm_brakes_when_a_program_ends_at_speed(box: Box) -> None:
    box.execute("def f():\n  speedj([0.3, 0, 0, 0, 0, 0], 40, 0.1)\nend\n", 30)
    assert box.arm.target_speed[0] == pytest.approx(0.3)
    box.run(60)
    assert box.program.runtime_state == STOPPED
    assert not box.arm.target_speed.any()


def test_moves_end_at_their_target_in_their_time(box: Box) -> None:
    q = box.arm.q_set.tolist()
    q[0] += 0.2
    box.execute(f"movej({q}, a=1.4, v=1.0, t=1.0)\n", 500)
    assert box.program.runtime_state == PLAYING
    box.run(5)
    assert box.program.runtime_state == STOPPED
    np.testing.assert_allclose(box.arm.q_set, q, atol=1e-9)
    up = "pose_trans(get_target_tcp_pose(), p[0, 0, -0.05, 0, 0, 0])"
    begin = box.arm.commanded.tcp_pose()
    box.execute(f"def f():\n  movel({up}, v=0.2)\nend\n", 600)
    np.testing.assert_allclose(box.arm.commanded.tcp_pose()[:3], begin[:3] + [0, 0, 0.05], atol=1e-6)


def test_a_paused_move_goes_on_to_its_target(box: Box) -> None:
    q = box.arm.q_set.tolist()
    q[0] += 0.2
    box.execute(f"movej({q})\n", 100)
    box.program.pause()
    box.run(200)
    standing = box.arm.q_set[0]
    assert standing < q[0] - 0.05
    assert box.program.play()
    box.run(600)
    np.testing.assert_allclose(box.arm.q_set, q, atol=1e-9)


def test_a_bare_line_runs_and_so_does_the_program_after_it(box: Box) -> None:
    program = "def g():\n  write_output_float_register(3, 2.5)\nend\n"
    box.execute("# a comment\nset_standard_digital_out(2, True)\n" + program, 30)
    assert box.digital_outputs == 4
    assert box.outputs.doubles[3] == 2.5


def test_settings_of_a_program_can_be_read_back(box: Box) -> None:
    box.execute("def f():\n  set_tool_voltage(24.0)\n  set_tcp(p[0, 0, 0.1, 0, 0, 0])\n  end_freedrive_mode()\nend\n")
    assert (box.values["tool_output_voltage"], box.values["tcp_offset"][2]) == (24, 0.1)
    assert box.program.runtime_state == STOPPED, box.lines


def test_neither_a_secondary_nor_a_wrong_program_ends_the_one_that_runs(box: Box) -> None:
    box.execute(DIRECT)
    box.send(1, [0.1] * 6)
    box.upload("sec s():\n  set_digital_out(1, True)\nend\n")
    box.upload("sec t():\n  movej([0, 0, 0, 0, 0, 0])\nend\n")
    box.upload("sec u():\n  sleep(1)\nend\n")
    box.upload("fly()\n")  # does not compile: replaces nothing
    for _ in range(5):
        box.send(1, [0.1] * 6)
    assert box.digital_outputs == 2
    assert box.says("a secondary program cannot move the arm")
    assert box.says("a secondary program cannot take time")
    assert box.says("compile_error_name_not_found:fly:")
    assert box.program.runtime_state == PLAYING
    assert box.arm.target_speed.any()


def test_programs_are_refused_in_local_control_and_while_stopped(box: Box) -> None:
    box.take_local_control()
    box.execute("set_digital_out(0, True)\n")
    assert box.says("program refused: the robot is in local control")
    box.reset()
    box.run(1)
    box.safety.power(3)
    box.execute("set_digital_out(0, True)\n")
    assert box.says("program refused: the arm is stopped or without power")
    assert box.digital_outputs == 0


PROGRAM = """
def main():
  global total = 0
  local first = [1, 2, 3]
  def add(a, b):
    local total = a + b   # another one than the global
    hidden = 5
    return total
  end
  def change():
    total = total + 100   # the global one
    first[1] = 20         # of the outermost level: global as well
  end
  thread count(steps):
    i = 0
    while True:
      i = i + 1
      if i > steps:
        break
      elif i == 2:
        continue
      end
      total = total + 1
      sync()
    end
  end
  copy = first
  change()
  h = run count(4)
  join h
  write_output_integer_register(2, add(2, 3))
  write_output_integer_register(0, total)
  write_output_integer_register(1, first[1] * 10 + copy[1])
  write_output_boolean_register(70, not (1 > 2 or False) xor False)
  write_output_float_register(0, -7 / 2 + 2 * 3 - norm([3, 4]) + 7 % 4)
  textmsg("pose ", p[0.1, 0, 0, 0, 0, 0])
  halt
  write_output_integer_register(0, -1)
end
"""


LISTS_AND_DEFAULTS = """
def main():
  def scaled(values, factor=2, offset=[1, -1]):
    return factor * values + offset / 2
  end
  def total(values):
    sum = 0
    i = 0
    while i < get_list_length(values):
      sum = sum + values[i]
      i = i + 1
    end
    return sum
  end
  thread forever():
    while 1:
      write_output_integer_register(1, read_input_integer_register(1) + 1)
      sync()
    end
  end
  never = 0
  join never
  kill never
  write_output_float_register(0, total(scaled([1, 2])))
  write_output_float_register(1, total(scaled([1, 2] - [3, 0], -1, [0, 0])))
  write_output_float_register(2, total(
    scaled(
      [10, 20],
      3)))
  if total([1]) == 2 or
     total([1, 2]) == 3 and
     not 0.0:
    write_output_integer_register(0, 7)
  end
  h = run forever()
  sync()
  kill h
  join h
  kill h
  write_output_integer_register(2, 1)
end
"""


def test_default_parameters_lists_long_lines_and_killed_threads(box: Box) -> None:
    box.execute(LISTS_AND_DEFAULTS, 20)
    assert box.program.runtime_state == STOPPED, box.lines
    assert box.outputs.doubles[:3] == [6.0, 0.0, 90.0]
    assert box.outputs.integers[:3] == [7, 1, 1], box.lines


def test_speedj_without_acceleration_keeps_the_speed_for_its_time(box: Box) -> None:
    box.execute("def f():\n  speedj([0.3, 0, 0, 0, 0, 0], 40, 0.1)\n  speedj([0, 0, 0, 0, 0, 0], 0, 0.1)\nend\n", 85)
    assert (box.program.runtime_state, box.arm.target_speed[0]) == (PLAYING, pytest.approx(0.3))
    box.run(50)
    assert (box.program.runtime_state, box.arm.target_speed.any()) == (STOPPED, False)


@pytest.mark.parametrize("slider", [1.0, 0.25, 0.3, 0.77])
def test_the_speed_slider_stretches_the_time_of_speedj_not_its_distance(box: Box, slider: float) -> None:
    """As UR's test of splines expects it: a step of one cycle takes four at 25 %."""
    box.safety.slider = box.safety.fraction = slider
    begin = box.arm.q_set[5]
    steps = "  i = 0\n  while i < 100:\n    speedj([0, 0, 0, 0, 0, 0.05], 30, 0.002)\n    i = i + 1\n  end\n"
    box.execute(
        f"def f():\n{steps}  write_output_float_register(5, get_target_joint_positions()[5])\n  stopj(10)\nend\n", 0
    )
    cycles = 0
    while not box.outputs.doubles[5] and cycles < 1000:
        box.run(1)
        cycles += 1
    assert cycles == pytest.approx(100 / slider, abs=3)
    assert box.outputs.doubles[5] - begin == pytest.approx(0.05 * 100 * 0.002, abs=2e-4)


def test_a_long_program_is_compiled_beside_the_one_that_runs_a_little_in_each_cycle(box: Box) -> None:
    box.execute(DIRECT)
    text = "".join(f"  def f{i}(a, b=1):\n    return [a, b] * {i}\n  end\n" for i in range(1000))
    box.upload(f"def long():\n{text}  write_output_integer_register(3, get_list_length(f7(1)))\n  sleep(1)\nend\n")
    gc.collect()
    gc.freeze()  # as the emulator does
    costs, turns = [], box.outputs.integers[25]
    while not box.says("program long") and len(costs) < 2000:
        begin = time.process_time()
        box.send(0, [0.0])
        costs.append(time.process_time() - begin)
    gc.unfreeze()
    assert len(costs) > 100
    assert box.outputs.integers[25] - turns >= len(costs) - 1  # the old one did not miss a cycle
    assert max(costs) < 0.2 * sum(costs)
    box.run(START_CYCLES + 1)
    assert (box.program.runtime_state, box.outputs.integers[3]) == (PLAYING, 2)


def test_a_loop_with_a_long_body_may_not_take_longer_than_one_with_a_short_body(box: Box) -> None:
    body = "    x = [1, 2] + [1, 2]\n" * 2000
    box.upload(f"def f():\n  while True:\n{body}  end\nend\n")
    costs = []
    while not box.says("runtime error: infinite loop") and len(costs) < 1000:
        begin = time.process_time()
        box.run(1)
        costs.append(time.process_time() - begin)
    assert len(costs) < 1000, box.lines
    assert max(costs) < 0.3  # [s] measured: 0.02, and 3 if each turn counted the same


def test_stopping_forgets_a_program_that_is_being_compiled(box: Box) -> None:
    box.upload("def f():\n" + "  x = [1, 2]\n" * 500 + "end\n")
    box.run(3)
    box.program.end("stopped by a person")
    box.run(200)
    assert (box.program.body, box.counters["script"]) == (None, 0)


def test_scopes_threads_loops_and_arithmetic_follow_the_manual(box: Box) -> None:
    box.execute(PROGRAM, 20)
    assert box.program.runtime_state == STOPPED, box.lines
    assert box.outputs.integers[:3] == [103, 202, 5]
    assert box.outputs.booleans[70]
    assert box.outputs.doubles[0] == pytest.approx(0.5)
    assert box.says("textmsg: pose p[0.1, 0, 0, 0, 0, 0]")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("def f():\n  fly()\nend\n", "compile error: compile_error_name_not_found:fly: (line 2)"),
        ("def f():\n  movej()\nend\n", "compile error: movej does not take these 0 arguments (line 2)"),
        ("def f():\n  x = (1 + \nend\n", "compile error: syntax error at 'end'"),
        ("def f():\n  x = \nend\n", "compile error: syntax error at end of line"),
        ("def f():\n  def g(a=1, b):\n  end\nend\n", "compile error: syntax error at ')': expected a default value"),
        ("def f():\n  x = 1\n  def g(a=x):\n  end\nend\n", "compile error: syntax error at 'x': expected a constant"),
        (
            "def f():\n  def g(a, b=1):\n  end\n  g()\nend\n",
            "compile error: g does not take these 0 arguments (line 4)",
        ),
        ("def f():\n  def g(a=1 / 0):\n  end\nend\n", "compile error: a default value: division by zero"),
        (
            "def f():\n" + "\n # x\n" * 2500 + "  fly()\nend\n",
            "compile error: compile_error_name_not_found:fly: (line 5002)",
        ),
        ("def f(a=1):\nend\n", "compile error: syntax error at 'def': a program has no parameters"),
        ("def f():\n  def g(a, b=1):\n  end\n  g(1, b=2)\nend\n", "compile error: g does not take these 2 arguments"),
        ("x = 1" + " + 1" * 2000 + "\n", "compile error: a statement of more than 2000 words"),
        ("x = 1 # " + "x" * 65536 + "\n", "compile error: a program of 65545 characters: must be at most 65536"),
        ("def f():\n  break\nend\n", "compile error: syntax error: 'break' outside loop"),
        ("if True:\n  def while():\n  end\nend\n", "compile error: syntax error at 'while'"),
        ("end\n", "compile error: syntax error at 'end'"),
        ("x = 99999999999999999999999999 ? 2\n", "compile error: unexpected character '?'"),
        ("def f():\n  force_mode(1)\nend\n", "runtime error: force_mode is not emulated (line 2)"),
        ("def f():\n\n  x = y + 1\nend\n", "runtime error: name 'y' is not defined (line 3)"),
        (
            "def f():\n  if []:\n  end\nend\n",
            "runtime error: type error: [] is neither a boolean nor a number (line 2)",
        ),
        ("set_standard_digital_out(0, 1)\n", "runtime error: b = 1: must be True or False"),
        ("x = [1, 2] + [1]\n", "runtime error: type error: lists of 2 and 1 numbers"),
        ("x = [1, 2] + 1\n", "runtime error: type error: [1, 2] is not a number"),
        ("x = [1, 2] * [1, 2]\n", "runtime error: type error: [1, 2] is not a number"),
        ("x = p[0, 0, 0, 0, 0, 0] * 2\n", "runtime error: type error: p[0, 0, 0, 0, 0, 0] is not a number"),
        ("x = 2 * [1, [2]]\n", "runtime error: type error: [2] is not a number"),
        ("x = [2147483647] + [1]\n", "runtime error: 2147483648 does not fit into an integer of 32 bits"),
        ("speedj([0, 0, 0, 0, 0, 0], 0)\n", "runtime error: a = 0: must be > 0"),
        ("speedj([0, 0, 0, 0, 0, 0], -1, 0.1)\n", "runtime error: a = -1: must be > 0"),
        ("kill 1\n", "runtime error: type error: 1 is not a thread"),
        ("set_tool_voltage(5)\n", "runtime error: voltage = 5 V: must be 0, 12 or 24 V"),
        ("freedrive_mode()\n", "runtime error: freedrive_mode is not emulated"),
        ("get_list_length(3)\n", "runtime error: type error: 3 is not a list"),
        ("x = 1 / 0\n", "runtime error: division by zero (line 1)"),
        ("x = [1, 2][2]\n", "runtime error: index 2 is outside a list of 2"),
        ("x = 2147483647 + 1\n", "runtime error: 2147483648 does not fit into an integer of 32 bits"),
        ("speedj([1, 2, 3], 1)\n", "runtime error: qd = [1, 2, 3]: must be a list of 6 numbers"),
        ("speedj([0, 0, 0, 0, 0, True], 1)\n", "runtime error: qd = True: must be a finite number"),
        ("sleep(1e308 * 10)\n", "runtime error: t = inf: must be a finite number"),
        ("servoj(get_actual_joint_positions(), gain=5)\n", "runtime error: gain = 5: must be 100 to 2000"),
        ("movel(p[9, 0, 0, 0, 0, 0])\n", "runtime error: get_inverse_kin: no inverse kinematics solution"),
        ("write_output_integer_register(48, 1)\n", "runtime error: address = 48: must be below 48"),
        ('rtde_set_watchdog("wind", 10)\n', "runtime error: rtde_set_watchdog: 'wind' is not an input variable"),
        ("def f():\n  while True:\n    x = 1\n  end\nend\n", "runtime error: infinite loop"),
        ("def f():\n  def g():\n    g()\n  end\n  g()\nend\n", "runtime error: functions call each other too deeply"),
        (
            "def f():\n  thread t():\n    movej([0, -1, 1, 0, 0, 0])\n  end\n  run t()\n  stopj(1)\n  speedj([0, 0, 0, 0, 0, 0], 1, 1)\nend\n",  # noqa: E501
            "runtime error: another thread is already controlling the robot",
        ),
    ],
)
def test_a_wrong_program_ends_with_one_sentence(box: Box, text: str, sentence: str) -> None:
    events: list[tuple[str, str, int, int]] = []
    box.program.on_event = lambda *event: events.append(event)
    box.execute(text, 20)
    assert box.program.runtime_state == STOPPED
    assert box.says(sentence), box.lines
    assert [event[0] for event in events if "error" in event[0]] == [sentence.split(":")[0]]


def test_bytes_are_split_into_programs_however_they_arrive() -> None:
    programs = [
        DIRECT.lstrip(),
        "movej([0, 0, 0, 0, 0, 0])\n",
        "sec s():\r\n  if True:\r\n  end\r\nend\r\n",
        PROGRAM.lstrip(),
    ]
    stream = "".join(programs).encode() + b"def unfinished():\n"
    for size in (1, 7, 100, len(stream)):
        splitter = Splitter()
        found = [text for i in range(0, len(stream), size) for text in splitter.feed(stream[i : i + size])]
        assert found == programs
        assert len(splitter) == len("def unfinished():\n")
