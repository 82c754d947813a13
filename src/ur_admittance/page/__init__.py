"""The page in the browser: see the arm, pull it, tune it. A process of its own beside the control loop.

page = dashboard.start("main")        # http://127.0.0.1:8080
...                                   # the loop runs; the page reads its telemetry and writes to its mailbox
page.stop()

Only light modules are imported here: a control loop may start the page without loading a web server itself.
"""

from ur_admittance.page.page_process import Page, page_process, start

__all__ = ["Page", "page_process", "start"]
