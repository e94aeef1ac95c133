"""The rounds of a research: what is searched for, when it ends, and what it hands over."""

from collections.abc import Mapping, Sequence

from fourtier.agents.researcher.budget import Budget
from fourtier.agents.researcher.research import Research
from fourtier.agents.researcher.roles_by_rule import RolesByRule
from fourtier.schema.archive import ArchiveHit, SearchArchiveResponse
from fourtier.schema.researcher import PlannedSearch, Receipt, ResearchProgress, ResearchRequest
from tests.agents.researcher.entries import document

COUNTERPARTS = document("Counterparts", "An album of Rush, whose drummer is Neil Peart.", 1.0)
PEART = document("Neil Peart", "He was born in Hamilton. He wrote seven books.", 5.0)
OTHERS = [document(f"Hill {each}", "Sheep graze here.", 0.2) for each in range(5)]
QUESTION = "Where was the drummer of Counterparts born?"


class Archive:
    """Finds what is written for a query; for every other one nothing."""

    def __init__(self, found: Mapping[str, Sequence[ArchiveHit]], *, opted_out: bool = False):
        self.found = found
        self.opted_out = opted_out
        self.asked: list[PlannedSearch] = []

    async def __call__(self, planned: PlannedSearch, top_k: int) -> SearchArchiveResponse:
        self.asked.append(planned)
        hits = next((hits for word, hits in self.found.items() if word in planned.query), ())
        return SearchArchiveResponse(hits=tuple(hits)[:top_k], opted_out=self.opted_out)


async def steps(
    archive: Archive, question: str = QUESTION, *, seconds: float = 60, **request: int
) -> list[ResearchProgress]:
    asked = ResearchRequest(user="ann", question=question, **request)
    return [step async for step in Research(asked, archive, RolesByRule(), Budget(seconds)).steps()]


def receipt(of: Sequence[ResearchProgress]) -> Receipt:
    assert of[-1].step == "end"
    assert of[-1].receipt is not None
    return of[-1].receipt


def evidence(of: Sequence[ResearchProgress]) -> list[str]:
    return [each.entry.id for each in of[-1].evidence]


async def test_a_second_round_follows_a_name_that_the_first_has_found() -> None:
    archive = Archive({QUESTION: [COUNTERPARTS, *OTHERS], "Neil Peart": [PEART]})
    made = await steps(archive)

    assert [(step.step, step.round) for step in made] == [
        *((step, 1) for step in ("plan", "hits", "notes", "check")),
        *((step, 2) for step in ("plan", "hits", "notes", "check")),
        ("end", 2),
    ]
    assert made[3].missing == ("born",)
    followed = next(each for each in made[4].searches if each.name == "Neil Peart")
    assert followed.query == "Neil Peart born"
    assert followed.legs == ("words",)
    assert followed.entry_id == "Counterparts"
    assert made[5].new == 1
    assert [(note.entry_id, note.quote) for note in made[6].notes] == [
        ("Neil Peart", "He was born in Hamilton.")
    ]
    assert receipt(made).stopped == "enough"
    assert evidence(made)[:2] == ["Counterparts", "Neil Peart"]
    second = made[-1].evidence[1]
    assert (second.round, second.covers, second.link) == (2, ("born",), "Neil Peart")


async def test_it_ends_when_the_words_of_the_question_are_found() -> None:
    born = document("Born", "The drummer of Counterparts was born in Hamilton.", 1.0)
    made = await steps(Archive({QUESTION: [born, COUNTERPARTS]}))
    assert receipt(made).stopped == "enough"
    assert (receipt(made).rounds, receipt(made).searches, receipt(made).entries) == (1, 1, 2)


async def test_words_far_down_the_ranking_are_not_enough() -> None:
    many = [document(f"Drummer {each}", "A drummer on Counterparts.", 1.0) for each in range(4)]
    unlike = document("Cattle", "A calf was born.", 0.0)
    archive = Archive(
        {QUESTION: [*many, *OTHERS, *(document(f"x{n}", "y", 0.5) for n in range(9))]}
    )
    made = await steps(archive, max_evidence=20)
    assert made[3].missing == ("born",)
    made = await steps(Archive({QUESTION: [*many, unlike]}), max_evidence=20)
    assert made[3].missing == ()


async def test_it_ends_when_nothing_new_is_found() -> None:
    made = await steps(Archive({QUESTION: [COUNTERPARTS], "Neil Peart": [COUNTERPARTS]}))
    assert receipt(made).stopped == "nothing-new"
    assert receipt(made).rounds == 2


async def test_it_ends_when_there_is_no_name_to_follow() -> None:
    made = await steps(Archive({QUESTION: [document("notes", "drummers and sheep", 1.0)]}))
    assert receipt(made).stopped == "nothing-new"
    assert receipt(made).rounds == 1
    assert await steps(Archive({})) != []


async def test_it_ends_after_the_last_round() -> None:
    chain = {f"Port{each}a": [document(f"Port{each + 1}a", "A way on.", 0.0)] for each in range(9)}
    archive = Archive({QUESTION: [document("Start", "To Port0a.", 1.0)], **chain})
    made = await steps(archive, max_rounds=2)
    assert receipt(made).stopped == "max-rounds"
    assert receipt(made).rounds == 2


async def test_no_round_begins_when_the_time_is_over() -> None:
    archive = Archive({QUESTION: [COUNTERPARTS], "Neil Peart": [PEART]})
    made = await steps(archive, seconds=0)
    assert receipt(made).stopped == "deadline"
    assert receipt(made).rounds == 1
    assert evidence(made) == ["Counterparts"]


async def test_nothing_is_searched_for_twice() -> None:
    archive = Archive(
        {
            QUESTION: [COUNTERPARTS, document("Peart again", "Neil Peart and Rush.", 0.9)],
            "Neil Peart": [document("Third", "Neil Peart had a dog.", 0.0)],
        }
    )
    await steps(archive)
    queries = [each.query for each in archive.asked]
    assert len(queries) == len(set(queries))


async def test_evidence_that_does_not_fit_is_left_out_whole_and_counted() -> None:
    long = document("Long", "drummer born Counterparts " * 60, 0.9)
    made = await steps(Archive({QUESTION: [COUNTERPARTS, long, PEART]}), max_tokens=60)
    assert "Long" not in evidence(made)
    assert {"Counterparts", "Neil Peart"} <= set(evidence(made))
    assert receipt(made).cut == 1
    assert receipt(made).tokens <= 60


async def test_whoever_has_opted_out_gets_nothing() -> None:
    made = await steps(Archive({QUESTION: [COUNTERPARTS]}, opted_out=True))
    assert made[-1].opted_out
    assert evidence(made) == []


async def test_the_same_question_asked_before_is_no_evidence() -> None:
    echo = document("Echo", "Where was the drummer of Counterparts born, tell me?", 3.0)
    made = await steps(Archive({QUESTION: [echo, COUNTERPARTS], "Neil Peart": [PEART, echo]}))
    assert evidence(made) == ["Counterparts", "Neil Peart"]
    assert receipt(made).rounds == 2


async def test_few_that_are_wanted_are_the_best_of_as_many_as_always() -> None:
    archive = Archive({QUESTION: [COUNTERPARTS, *OTHERS], "Neil Peart": [PEART]})
    made = await steps(archive, max_evidence=1)
    assert evidence(made) == ["Counterparts"]
    assert receipt(made).stopped == "enough"
    assert receipt(made).cut == 0
