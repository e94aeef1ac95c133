"""`fourtier chat`: commands, failures that do not end it, and input that is not as it should be."""

import pytest

from fourtier.runtime.rpc.routes import Route, call_route
from fourtier.schema.conversations import (
    END_CONVERSATION,
    EndConversationRequest,
    EndConversationResponse,
)
from fourtier.schema.facts import LIST_FACTS
from tests.interfaces.cli.agents import answering, failing
from tests.interfaces.cli.support import Command

CHAT = ("chat", "--user", "ann", "--conversation", "first")


def ending(*, known: bool) -> Route:
    async def end(_request: EndConversationRequest) -> EndConversationResponse:
        return EndConversationResponse(ended=known)

    return call_route(END_CONVERSATION, end)


def test_each_line_of_a_pipe_is_a_message(fourtier: Command) -> None:
    fourtier.routes = [answering(lambda question: f"<{question}>")]
    assert fourtier(*CHAT, stdin=b"one\n\ntwo\n") == 0
    assert fourtier.out.index("<one>") < fourtier.out.index("<two>")


def test_a_piped_message_without_an_answer_makes_the_exit_code_1(fourtier: Command) -> None:
    fourtier.routes = [failing()]
    assert fourtier(*CHAT, stdin=b"one\n") == 1
    assert "this cannot be answered" in fourtier.said
    fourtier.routes = [answering(lambda _: "no model", error="model")]
    assert fourtier(*CHAT, stdin=b"one\n") == 1
    assert "No answer: no model" in fourtier.said


def test_a_line_that_is_not_utf8_is_left_out_and_the_chat_goes_on(fourtier: Command) -> None:
    fourtier.routes = [answering(lambda question: f"<{question}>")]
    assert fourtier(*CHAT, stdin=b"one\n\xff\xfe\ntwo\n") == 1
    assert "not UTF-8" in fourtier.said
    assert "<one>" in fourtier.out
    assert "<two>" in fourtier.out


def test_a_byte_order_mark_is_not_part_of_the_first_message(fourtier: Command) -> None:
    fourtier.routes = [answering(lambda question: f"<{question}>")]
    assert fourtier(*CHAT, stdin=b"\xef\xbb\xbfone\n") == 0
    assert "<one>" in fourtier.out


def test_facts_during_an_outage_say_so_and_the_chat_goes_on(fourtier: Command) -> None:
    fourtier.routes = [answering()]
    fourtier.bus.fails[LIST_FACTS.topic.name] = 1
    assert fourtier(*CHAT, stdin=b"/facts\nAre you there?\n") == 1
    assert "not sent" in fourtier.said
    assert "Yes." in fourtier.out


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (b"/fakts", "There is no command /fakts: did you mean /facts?"),
        (b"/quiz now", "There is no command /quiz: did you mean /quit?"),
        (b"/xyz", "There is no command /xyz: /help lists the commands."),
    ],
)
def test_an_unknown_command_is_named(fourtier: Command, typed: bytes, said: str) -> None:
    fourtier.routes = [answering()]
    assert fourtier(*CHAT, stdin=typed) == 0
    assert said in fourtier.said
    assert "Yes." not in fourtier.out


def test_end_says_which_conversation_it_ended(fourtier: Command) -> None:
    fourtier.routes = [ending(known=True)]
    assert fourtier(*CHAT, stdin=b"/end\n") == 0
    assert "Ended the conversation first" in fourtier.said
    assert "What you say next begins the conversation 20" in fourtier.said


def test_end_says_when_there_is_nothing_to_end(fourtier: Command) -> None:
    fourtier.routes = [ending(known=False)]
    assert fourtier(*CHAT, stdin=b"/end\n/new\n") == 0
    assert "There is nothing to end in the conversation first yet." in fourtier.said
    assert "A new conversation: 20" in fourtier.said


def test_an_answer_cannot_act_on_the_terminal(fourtier: Command) -> None:
    fourtier.routes = [answering(lambda _: "\x1b[2J\x9bgone\x07 [red]plain[/]")]
    assert fourtier(*CHAT, stdin=b"one\n") == 0
    assert r"\x1b[2J\x9bgone\x07 [red]plain[/]" in fourtier.out
    assert "\x1b" not in fourtier.out
