"""viser's document with what this page adds: a stop button over everything, the stop key everywhere, a title."""

from ur_admittance.dashboard.viser_internals import client_document

STOP_KEY = "escape"  # the hotkey of the stop command (panel.py)

# viser's hotkeys sleep while the cursor is in an input field. A stop must not: the key is passed on from there.
ADDITION = """
<title>ur_admittance</title>
<link rel="icon" href="data:,">
<style>
  #stop-everything {
    position: fixed; z-index: 100000; top: 14px; left: 50%; transform: translateX(-50%);
    font: 700 20px/1 system-ui, sans-serif; letter-spacing: .06em; color: #fff; background: #c92a2a;
    border: 3px solid #fff; border-radius: 12px; padding: 13px 34px; cursor: pointer;
    box-shadow: 0 2px 10px rgb(0 0 0 / 35%);
  }
  #stop-everything:active { background: #862020; }
  #stop-everything small { font-weight: 500; letter-spacing: 0; opacity: .85; margin-left: .5em; }
</style>
<script>
  const stopKey = () => document.documentElement.dispatchEvent(
    new KeyboardEvent("keydown", { key: "Escape", code: "Escape", keyCode: 27 }));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && event.isTrusted && event.target !== document.documentElement) {
      if (event.target.blur && event.target !== document.body) event.target.blur();
      event.stopPropagation();
      stopKey();
    }
  }, true);
  document.addEventListener("DOMContentLoaded", () => {
    const button = document.createElement("button");
    button.id = "stop-everything";
    button.innerHTML = "STOP<small>Esc</small>";
    button.title = "Slows the arm down and holds it. Anybody may press it, with or without control.";
    button.addEventListener("click", () => { button.blur(); stopKey(); });
    document.body.append(button);
    const here = new URL(location.href);
    if (here.searchParams.has("token")) {  // it is in the cookie now; keep it out of screenshots and bookmarks
      here.searchParams.delete("token");
      history.replaceState(null, "", here);
    }
  });
</script>
"""


def document() -> bytes:
    """The whole page."""
    head, end, rest = client_document().partition("</head>")
    return (head + ADDITION + end + rest).encode()
