"""Pages in HTML as blocks."""

import pytest

from fourtier.operations.documents.html_pages import read_html

PAGE = """<!DOCTYPE html>
<html><head><title>Not this</title><style>p {color: red}</style></head>
<body>
<nav><ul><li>Home</li></ul></nav>
<header><h1>The  handbook</h1></header>
<script>alert("no")</script>
<div>Loose <b>text</b> in
  a <i>div</i>.<p>A <a href="/x">link</a>,<br>and a line.</p>Behind it.</div>
<!-- a comment -->
<h2>Prices</h2>
<table><caption>In euros</caption>
<tr><th>Thing</th><th>Price</th></tr>
<tr><td>Cello<br>(old)</td><td><p>4,000</p></td></tr></table>
<ul><li>One <em>item</em></li><li>Two</li></ul>
<ol><li>First</li><li>Second</li></ol>
<pre>def f():

    return 1
</pre>
<template>Not this</template>
<p>Caf&eacute;</p>
<h3>End</h3>
</body></html>"""


def blocks(page: str | bytes) -> list[str]:
    return list(read_html(page if isinstance(page, bytes) else page.encode()))


def test_a_page_is_read_block_by_block() -> None:
    assert blocks(PAGE) == [
        "The handbook\nLoose text in a div.",
        "A link,\nand a line.",
        "Behind it.",
        "Prices\nIn euros\nThing | Price\nCello (old) | 4,000",
        "- One item\n- Two",
        "1. First\n2. Second",
        "def f():\n\n    return 1",
        "Café",
        "End",
    ]


def test_a_table_for_the_layout_and_a_nested_list_are_read_as_they_stand() -> None:
    page = "<table><tr><td><h1>Title</h1><p>Text.</p></td><td>Side.</td></tr></table>"
    assert blocks(page) == ["Title\nText.", "Side."]
    assert blocks("<ul><li>One<ul><li>Two</li></ul></li></ul>") == ["One", "- Two"]


def test_a_page_may_name_its_encoding() -> None:
    page = '<html><head><meta charset="iso-8859-1"></head><p>Größe</p>'
    assert blocks(page.encode("latin-1")) == ["Größe"]
    assert blocks("<p>Größe</p>") == ["Größe"]


def test_a_page_may_be_xhtml_deep_or_broken() -> None:
    assert blocks('<?xml version="1.0"?><html><body><p>Text</p></body></html>') == ["Text"]
    assert blocks("<p>One<p>Two</div></b> and <b>more") == ["One", "Two and more"]
    assert blocks("<div>" * 3_000 + "Deep" + "</div>" * 3_000) == ["Deep"]
    assert blocks("") == []


@pytest.mark.parametrize("tag", ["p", "td", "li"])
def test_what_is_too_long_for_a_page_is_cut(tag: str) -> None:
    text = " ".join(f"Sentence {number} is said." for number in range(300))
    parts = blocks(f"<{tag}>{text}</{tag}>")
    assert len(parts) > 1
    assert " ".join(parts) == text
