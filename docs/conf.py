"""Sphinx: read by `blockpool docs`, which makes the pages beside these."""

project = "blockpool"
author = "the blockpool project"
extensions = ["myst_parser"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
exclude_patterns = ["generated/*"]
html_theme = "furo"
html_title = "The block pool handbook"
html_static_path = ["_static"]
html_css_files = ["handbook.css"]
html_show_copyright = False
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {"navigation_with_keys": False, "top_of_page_buttons": []}


def level_of_captions(app: object, page: str, template: str, context: dict[str, object], doctree: object) -> None:
    """Sphinx makes captions of the menu headings without a level, which screen readers need."""
    tree = str(context.get("furo_navigation_tree", ""))
    context["furo_navigation_tree"] = tree.replace('role="heading"', 'role="heading" aria-level="2"')


def setup(app: object) -> None:
    """Called by Sphinx. After the theme, which makes the menu in the same event."""
    app.connect("html-page-context", level_of_captions, priority=900)  # type: ignore[attr-defined]
