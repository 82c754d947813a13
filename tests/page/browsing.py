"""Fields of the page, for those who type."""

import re


def number_beside(tab, label):
    """The number input of a slider; the tab Parameters has inputs with similar labels."""
    return (
        tab.locator("label", has_text=re.compile(f"^{label}$")).locator("xpath=ancestor::div[2]").locator("input").last
    )


def enter(field, text):
    """Type it all, then Enter."""
    field.fill(text)
    field.press("Enter")


def open_tab(tab, name):
    """Without a place on the screen: while the page is being built it moves under the pointer."""
    tab.get_by_role("tab", name=name).dispatch_event("click")


def parameter_field(tab, label, axis):
    """One of three number inputs in the tab Parameters."""
    open_tab(tab, "Parameters")
    return tab.locator("label", has_text=label).first.locator("xpath=ancestor::div[2]").locator("input").nth(axis)
