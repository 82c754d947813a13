"""Whatever arrives as a program, the control box goes on: random bytes, words in any order, senseless programs."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ur_admittance.model import robot_model
from ur_admittance.robots.simulated import World
from ur_admittance_lab.emulator.emulated_controller import Controller
from ur_admittance_lab.emulator.running_program import START_CYCLES, STOPPED
from ur_admittance_lab.emulator.urscript.functions import Functions
from ur_admittance_lab.emulator.urscript.text import KEYWORDS, Splitter

FUNCTIONS = sorted(name for name in dir(Functions) if not name.startswith("_"))
SIGNS = ["==", "!=", "<", ">=", "+", "-", "*", "/", "%", "(", ")", "[", "]", ",", ":", "=", "p[", "\n", "#"]
OPERATORS = ["+", "-", "*", "/", "%", "<", "==", "and", "or", "xor"]
BLOCKS = ["while {}:", "if {}:", "def f():", "def f(x, y={}):", "thread t():"]
ATOMS = ["0", "1", "2147483647", "1e308", "-0.5", "True", "'a'", "x", "y", "p[0,0,0,0,0,0]", "[0,0,0,0,0,0]", "[]"]

words = st.lists(st.sampled_from([*sorted(KEYWORDS), *SIGNS, *ATOMS, *FUNCTIONS, "f", "t"]), max_size=40).map(" ".join)
values = st.recursive(
    st.sampled_from(ATOMS),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(OPERATORS), inner).map(" ".join),
        st.tuples(st.sampled_from(FUNCTIONS), st.lists(inner, max_size=3)).map(lambda c: f"{c[0]}({', '.join(c[1])})"),
        st.lists(inner, max_size=6).map(lambda items: f"[{', '.join(items)}]"),
        st.tuples(inner, inner).map(lambda pair: f"{pair[0]}[{pair[1]}]"),
    ),
    max_leaves=6,
)
SIMPLE = [
    "x = {}",
    "x[1] = {}",
    "{}",
    "return {}",
    "global y = {}",
    "local z = {}",
    "sleep({})",
    "x = run t()",
    "kill x",
]
SIMPLE += ["join x", "break", "continue", "sync()", "halt", "f()", "f(1)", "enter_critical"]
statements = st.recursive(
    st.tuples(st.sampled_from(SIMPLE), values).map(lambda s: s[0].format(s[1])),
    lambda inner: st.tuples(st.sampled_from(BLOCKS), values, inner, inner).map(
        lambda b: f"{b[0].format(b[1])}\n{b[2]}\n{b[3]}\nend"
    ),
    max_leaves=8,
)
programs = st.tuples(st.sampled_from(["def", "sec"]), st.lists(statements, max_size=6)).map(
    lambda p: f"{p[0]} program():\n" + "\n".join(p[1]) + "\nend\n"
)
streams = st.one_of(
    st.binary(max_size=200), words.map(str.encode), programs.map(str.encode), statements.map(str.encode)
)


@pytest.fixture(scope="module")
def box() -> Controller:
    return Controller(World(robot_model("ur5e")))


@settings(max_examples=150, deadline=None, derandomize=True)
@given(stream=streams)
def test_any_stream_of_bytes_leaves_the_control_box_at_work(box: Controller, stream: bytes) -> None:
    box.reset()
    for text in Splitter().feed(stream + b"\n"):
        box.program.upload(text)
    for _ in range(START_CYCLES + 10):
        box.cycle()
    box.reset()
    box.outputs.integers[5] = 0
    box.program.upload("write_output_integer_register(5, 1)\n")
    for _ in range(START_CYCLES + 2):
        box.cycle()
    assert (box.outputs.integers[5], box.program.runtime_state) == (1, STOPPED)


@pytest.mark.parametrize("text", ["(" * 30000, "1" + "+1" * 15000, "-" * 30000 + "1", "x = " + "not " * 7000 + "True"])
def test_nesting_without_end_is_a_compile_error(box: Controller, text: str) -> None:
    before = box.counters["compile error"]
    box.program.upload(text + "\n")
    box.cycle()
    assert box.counters["compile error"] == before + 1
