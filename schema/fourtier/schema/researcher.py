"""Messages of `researcher`: a question that is researched in the archive, round by round."""

import hashlib
from typing import Annotated, Literal

from pydantic import Field

from fourtier.schema.archive import ArchiveEntry, LegName
from fourtier.schema.message import LongText, Message, OptionalName, Scoped, Vector
from fourtier.schema.topics import Call, Topic

#: Rounds of searches that a research may take.
MAX_ROUNDS = 5
#: Entries that a research may hand over.
MAX_EVIDENCE = 50
#: Tokens of these, more than fifty of the longest entries have.
MAX_TOKENS = 10_000_000

#: Why a research ended: what is found is enough, a round found nothing new or had nothing left to
#: search for, all rounds or all of the model's completions were used, or the time was over.
Stop = Literal["enough", "nothing-new", "max-rounds", "deadline", "max-completions"]

#: How a research plans, takes notes, checks and follows up: by rule, or by asking the model.
Method = Literal["rule", "llm"]

#: What is asked for: `auto` asks the model where the service's environment names one.
MethodName = Literal["auto", "rule", "llm"]

#: What a research consists of beside its searches.
Role = Literal["plan", "integrate", "check", "follow_up"]


#: Shorter than a `Name`, because the name of its state in working memory begins with it.
ResearchId = Annotated[str, Field(max_length=400)]


class ResearchRequest(Scoped):
    """A question to find evidence for; nothing answers it.

    `research_id` names the research, for who may have to ask again: the same question with the same
    id goes on where it was interrupted, or gets what was found, and asks the model nothing that it
    has answered. It is that of the message if it is left out.
    """

    question: LongText = Field(min_length=1)
    research_id: ResearchId = ""
    embedding: Vector | None = Field(default=None, description="of the question, if it is there")
    max_rounds: int = Field(default=3, ge=1, le=MAX_ROUNDS)
    max_evidence: int = Field(default=10, ge=1, le=MAX_EVIDENCE, description="entries")
    max_tokens: int = Field(
        default=2_000, ge=50, le=MAX_TOKENS, description="of all evidence together"
    )
    method: MethodName | None = Field(
        default=None,
        description="as the parameter of the service, which holds where it is left out",
    )


class PlannedSearch(Message):
    """A search of the archive.

    `legs` are those that it takes, all of them if none. `kind` says where it comes from: it is the
    whole question, follows a name, or was put by the model; or it is a page that the model wants to
    read, which is not searched for. One that follows a name has the entry that the name is in, or
    the fact that mentions it, and with which name.
    """

    query: str
    kind: Literal["question", "name", "model", "page"] = "question"
    legs: tuple[LegName, ...] = ()
    name: str = ""
    entry_id: OptionalName = ""
    fact_id: OptionalName = ""
    mentioned_with: str = ""
    page_id: OptionalName = ""


class Note(Message):
    """What entries say about the question: word for word by rule, in other words by the model.

    `quote` is one entry's sentence. `content` is the model's, which stands in its place; it rests
    on all of `entry_ids`, of which `entry_id` is the first.
    """

    entry_id: str
    speaker: str
    quote: str = ""
    content: str = ""
    entry_ids: tuple[str, ...] = ()
    covers: tuple[str, ...] = Field(default=(), description="words of the question that it has")


class Evidence(Message):
    """An entry that was found, and why it is there.

    `linked_to` is an entry before it that it shares a name with, `link` that name. Or else the fact
    of `fact_id` mentions this name together with one that was asked for or found.
    """

    entry: ArchiveEntry
    score: float
    round: int = Field(description="in which it was found")
    covers: tuple[str, ...] = Field(default=(), description="words of the question that it adds")
    linked_to: OptionalName = ""
    link: str = ""
    fact_id: OptionalName = ""
    notes: tuple[str, ...] = Field(default=(), description="of the model, that rest on it")


class Receipt(Message):
    """What a research took, and why it ended."""

    stopped: Stop
    rounds: int
    searches: int
    entries: int = Field(description="different ones that the searches found")
    tokens: int = Field(description="of the evidence")
    cut: int = Field(description="entries that were left out of it for the sake of the tokens")
    milliseconds: float
    method: Method = Field(default="rule", description="the one that was chosen")
    degraded: dict[str, str] = Field(
        default={},
        description="roles that went by rule because the model failed, and `working-memory` where "
        "the research could not be kept, so that it begins anew when it is interrupted; with the "
        "reason",
    )
    completions: int = Field(default=0, description="how often the model was asked")
    in_token: int = Field(default=0, description="that the model read")
    out_token: int = Field(default=0, description="that the model wrote")
    resumed: int = Field(
        default=0, description="how often it went on from where it had been interrupted"
    )


class ResearchProgress(Message):
    """A step of a research, as it happens; `step` says which of the fields it has.

    `plan` has searches, and what the model wants to know; `hits` says how many entries they found,
    and how many of them are new; `notes` has those that are new; `check` says which words of the
    question are found and which are not, and whether that is enough; `end`, the last one, has
    evidence and receipt.
    """

    step: Literal["plan", "hits", "notes", "check", "end"]
    round: int
    searches: tuple[PlannedSearch, ...] = ()
    info_needs: tuple[str, ...] = ()
    found: int = 0
    new: int = 0
    notes: tuple[Note, ...] = ()
    covered: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    enough: bool = False
    evidence: tuple[Evidence, ...] = ()
    receipt: Receipt | None = None
    opted_out: bool = False


def _by_research(request: ResearchRequest) -> str:
    """Key that has one research made once at a time, however often it is asked for."""
    named = request.research_id or hashlib.sha256(request.question.encode()).hexdigest()
    return f"{request.scope.key}/{named}"


#: Persistent, so that another replica goes on with what one has left that was killed.
RESEARCH = Call(
    Topic("researcher.research", ResearchRequest, key=_by_research, for_caller=True),
    ResearchProgress,
    deadline=60.0,
    last=lambda progress: progress.step == "end",
)
