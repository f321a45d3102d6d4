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
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {"navigation_with_keys": False, "top_of_page_buttons": []}
