"""The tasks by name. READ FIRST: press.py."""

from ur_admittance_lab.tuning.task import Task
from ur_admittance_lab.tuning.tasks.follow import Follow
from ur_admittance_lab.tuning.tasks.guide import Guide
from ur_admittance_lab.tuning.tasks.insert import Insert
from ur_admittance_lab.tuning.tasks.press import Press

TASKS: dict[str, type[Task]] = {task.name: task for task in (Press, Follow, Insert, Guide)}

__all__ = ["TASKS", "Follow", "Guide", "Insert", "Press", "Task"]
