"""The tasks by name. READ FIRST: press.py."""

from ur_admittance.apps.tuning.task import Task
from ur_admittance.apps.tuning.tasks.follow import Follow
from ur_admittance.apps.tuning.tasks.guide import Guide
from ur_admittance.apps.tuning.tasks.insert import Insert
from ur_admittance.apps.tuning.tasks.press import Press

TASKS: dict[str, type[Task]] = {task.name: task for task in (Press, Follow, Insert, Guide)}

__all__ = ["TASKS", "Follow", "Guide", "Insert", "Press", "Task"]
