"""Random episodes by the thousand, each checked for what must always hold.

campaign_episode.py  one episode: a case of the simulation and what is promised about it
draw.py              random robots, poses, devices, parameters
draft.py             an episode while it is being drawn
families.py          kinds of episodes in free space; touching_families.py: those with surfaces and hands
view.py              a trace as the checks read it
motion_checks.py     limits, rest, oscillation; status_checks.py: faults and modes
run_campaign.py      batches, findings, summary
"""

from ur_admittance_lab.campaign.campaign_episode import Episode
from ur_admittance_lab.campaign.families import FAMILIES, episode
from ur_admittance_lab.campaign.run_campaign import Budget, Campaign, Finding, Verdict, judge, repeat

__all__ = ["FAMILIES", "Budget", "Campaign", "Episode", "Finding", "Verdict", "episode", "judge", "repeat"]
