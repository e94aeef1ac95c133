"""Earlier steps in the prompt, in the form that each dialect's API takes."""

from fourtier.models.completion.dialects.output import plain_messages
from fourtier.models.completion.dialects.tools import tool_messages
from fourtier.models.completion.dialects.transcript import Acted, Said, read_transcript, with_system
from fourtier.schema.completion import ChatMessage, ToolCall

STEPS = (
    ChatMessage(role="system", content="Be brief."),
    ChatMessage(role="user", content="1+1?"),
    ChatMessage(
        role="assistant",
        content="I add.",
        tool_calls=(ToolCall(id="call_3", name="calculator", arguments={"expression": "(1+1)"}),),
    ),
    ChatMessage(role="tool", content="2", tool="calculator", tool_call_id="call_3"),
)


def test_an_action_is_one_turn_with_its_thought_and_result() -> None:
    assert read_transcript(STEPS) == [
        Said("system", "Be brief."),
        Said("user", "1+1?"),
        Acted("I add.", "calculator", {"expression": "(1+1)"}, "2", "call_3"),
    ]


def test_the_dialect_tools_shows_it_as_a_tool_call_and_its_result() -> None:
    *_, call, result = (
        message.model_dump(exclude_none=True) for message in tool_messages(read_transcript(STEPS))
    )

    assert call == {
        "role": "assistant",
        "content": "I add.",
        "tool_calls": (
            {
                "id": "call_3",
                "type": "function",
                "function": {"name": "calculator", "arguments": '{"expression": "(1+1)"}'},
            },
        ),
    }
    assert result == {"role": "tool", "content": "2", "tool_call_id": "call_3"}


def test_text_that_looks_like_a_call_stays_text() -> None:
    said = ChatMessage(role="assistant", content='calculator({"expression": "2+2"})')
    assert read_transcript([said, *STEPS[2:]])[0] == Said("assistant", said.content)


def test_several_calls_of_one_message_find_their_results_by_their_ids() -> None:
    calls = (ToolCall(id="a", name="clock"), ToolCall(id="b", name="calculator"))
    turns = read_transcript(
        [
            ChatMessage(role="assistant", content="Both.", tool_calls=calls),
            ChatMessage(role="tool", content="2", tool="calculator", tool_call_id="b"),
            ChatMessage(role="tool", content="noon", tool="clock", tool_call_id="a"),
        ]
    )
    assert turns == [
        Acted("Both.", "clock", {}, "noon", "a"),
        Acted("", "calculator", {}, "2", "b"),
    ]


def test_a_call_without_a_result_gets_an_empty_one() -> None:
    *_, call, result = tool_messages(read_transcript(STEPS[:3]))

    assert call.tool_calls is not None
    assert (result.role, result.content, result.tool_call_id) == ("tool", "", "call_3")


def test_the_dialect_schema_shows_it_as_the_json_that_the_model_is_to_write() -> None:
    *_, step, result = plain_messages(read_transcript(STEPS))

    assert step.role == "assistant"
    assert step.content == (
        '{"thought": "I add.", "action": "calculator", "arguments": {"expression": "(1+1)"}}'
    )
    assert (result.role, result.content) == ("user", "Result of calculator:\n2")


def test_a_result_without_its_action_is_kept() -> None:
    turns = read_transcript(
        [
            ChatMessage(role="assistant", content="I had looked before."),
            ChatMessage(role="tool", content="2", tool="calculator"),
        ]
    )
    assert turns == [
        Said("assistant", "I had looked before."),
        Acted("", "calculator", {}, "2", "earlier_1"),
    ]


def test_a_result_that_names_neither_call_nor_tool_is_the_users() -> None:
    assert read_transcript([ChatMessage(role="tool", content="2")]) == [Said("user", "Result:\n2")]


def test_a_late_system_message_becomes_the_users() -> None:
    turns = read_transcript([*STEPS, ChatMessage(role="system", content="Answer now.")])
    assert turns[-1] == Said("user", "Answer now.")


def test_neighbours_of_one_role_are_one_message() -> None:
    turns = read_transcript(
        [
            ChatMessage(role="system", content="Be brief."),
            ChatMessage(role="system", content="Be kind."),
            ChatMessage(role="user", content="Hello."),
            ChatMessage(role="user", content="Anyone?"),
        ]
    )
    assert turns == [Said("system", "Be brief.\n\nBe kind."), Said("user", "Hello.\n\nAnyone?")]


def test_an_instruction_is_added_to_the_system_message_or_makes_one() -> None:
    assert with_system([Said("system", "A"), Said("user", "B")], "C")[0] == Said("system", "A\n\nC")
    assert with_system([Said("user", "B")], "C") == [Said("system", "C"), Said("user", "B")]
