"""A or B? The tab on which somebody with a hand on the arm finds their mass and damping (analysis/by_feel.py)."""

from collections.abc import Callable
from typing import Any

from ur_admittance.analysis.by_feel import ByFeel, changes_to, described
from ur_admittance.errors import UrAdmittanceError
from ur_admittance.page.file_tab import Folder
from ur_admittance.page.knobs import Tuner
from ur_admittance.params import Parameters
from ur_admittance.runtime.mailbox import Answer

HOW = (
    "Which of two feels better? Guide the arm with **A**, then with **B**, and say so. After a few rounds it has your "
    "mass and damping. Every setting is one that is quiet in a hand."
)
FEEL = ("A", "B")
ANSWERS = {"A is better": "a", "no difference": "same", "B is better": "b"}
BEGIN, AGAIN = "Begin", "Begin again"


class CompareTab:
    def __init__(self, gui: Any, tuner: Tuner, folder: Folder, saved: Callable[[], None]) -> None:
        """saved: called after a file was written."""
        self._tuner, self._folder, self._saved = tuner, folder, saved
        self._search: ByFeel | None = None
        self._felt = ""  # which of FEEL the arm has been given in this round
        gui.add_markdown(HOW)
        self._begin = gui.add_button(BEGIN, icon="player-play", color="blue")
        self._state = gui.add_html("")
        self._feel = gui.add_button_group("Feel", FEEL, hint="The arm takes this setting; guide it.")
        self._answer = gui.add_button_group("Better", tuple(ANSWERS))
        self._name = gui.add_text("Name", "my_hand", hint="1 to 40 letters, digits, - or _")
        self._save = gui.add_button("Done: save", icon="device-floppy", hint="As a preset, with how it came about.")
        tuner.on_click(self._begin, lambda client, _: tuner.safely(client, "A or B", lambda: self._start(client)))
        tuner.on_click(self._feel, self._give)
        tuner.on_click(
            self._answer, lambda client, words: tuner.safely(client, words, lambda: self._said(client, words))
        )
        tuner.on_click(self._save, lambda client, _: tuner.safely(client, "Preset", lambda: self._keep(client)))
        self._show()

    def _start(self, client: Any) -> str:
        if self._tuner.parameters is None:
            raise UrAdmittanceError("there is no running controller to be tuned")
        self._search, self._felt = ByFeel(self._tuner.parameters), ""
        self._give(client, "A")
        return ""

    def _give(self, client: Any, which: str) -> None:
        if self._search is not None and not self._search.done:
            self._take(client, self._search.a if which == "A" else self._search.b, which)

    def _take(self, client: Any, setting: Parameters, which: str) -> None:
        """The arm feels like this from now on; what was felt counts once the controller has agreed."""
        told = self._tuner.tell(client, "Not changed")

        def answered(answer: Answer) -> None:
            told(answer)
            if answer.accepted:
                self._felt = self._felt.replace(which, "") + which
                self._show()

        self._tuner.change_if_agreed(client, changes_to(setting), answered)
        self._show()

    def _said(self, client: Any, words: str) -> str:
        if self._search is None or self._search.done:
            return ""
        if set(self._felt) != set(FEEL):
            raise UrAdmittanceError(f"guide the arm with both: press {' and '.join(set(FEEL) - set(self._felt))} first")
        self._search.choose(ANSWERS[words])
        self._felt = ""
        self._go_on(client)
        return ""

    def _go_on(self, client: Any) -> None:
        if self._search is not None and self._search.done:
            self._take(client, self._search.best, "")
        else:
            self._give(client, "A")

    def _keep(self, client: Any) -> str:
        if self._search is None or self._tuner.parameters is None:
            return ""
        mine = changes_to(self._search.best)
        path = self._folder.save_preset(self._name.value, self._tuner.parameters.changed(mine), self._search.story())
        self._tuner.change_if_agreed(client, mine, self._tuner.tell(client, "Not changed"))
        self._saved()
        return f"saved to {path}"

    def _show(self) -> None:
        search = self._search
        asking = search is not None and not search.done
        self._begin.label = BEGIN if search is None else AGAIN
        self._feel.visible = self._answer.visible = asking
        self._name.visible = self._save.visible = search is not None and bool(search.history)
        self._state.content = "" if search is None else state_html(search, self._felt[-1:])


def state_html(search: ByFeel, now: str) -> str:
    """Which of the two the arm has now; no numbers, they would answer in place of the hand."""
    if search.done:
        return (
            '<div style="margin:8px 10px;line-height:1.5"><b>This is yours, and the arm has it now.</b><br>'
            f"{described(search.best)}; it began with {described(search.start)}.</div>"
        )
    colours = {True: "background:#4263eb;color:#fff", False: "background:rgba(128,128,128,.12);opacity:.6"}
    tiles = "".join(
        '<div style="flex:1;text-align:center;padding:10px 0;border-radius:8px;font-size:1.6em;font-weight:700;'
        f'{colours[name == now]}">{name}</div>'
        for name in FEEL
    )
    return (
        f'<div style="margin:8px 10px" data-round="{len(search.history) + 1}" data-feels="{now}">'
        f'<div style="display:flex;gap:8px">{tiles}</div><div style="font-size:.86em;margin-top:5px">'
        f"Round {len(search.history) + 1} of {search.rounds}. The arm feels like <b>{now or '...'}</b> now.</div></div>"
    )
