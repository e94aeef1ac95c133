"""Searches and conditions in the words of Qdrant Edge."""

from collections.abc import Sequence
from datetime import datetime
from typing import cast

import qdrant_edge as edge

from fourtier.engines.vectors.shared import EncodedLeg, Search
from fourtier.runtime.service.stores.query import AnyOf, Condition, Equals, Range, Where


def ranked(leg: EncodedLeg, search: Search) -> edge.QueryRequest:
    """A search by one leg."""
    return edge.QueryRequest(
        limit=search.limit,
        query=_nearest(leg),
        filter=filter_of(search.within),
        params=_params(leg, search),
        with_payload=True,
    )


def fused(legs: Sequence[EncodedLeg], k: int, search: Search) -> edge.QueryRequest:
    """Searches by several legs, fused by weighted reciprocal rank."""
    prefetches = [
        edge.Prefetch(
            limit=search.candidates,
            query=_nearest(leg),
            filter=filter_of(search.within),
            params=_params(leg, search),
        )
        for leg in legs
    ]
    rrf = edge.Fusion.Rrf(k=k, weights=[leg.weight for leg in legs])
    fusion = cast("edge.Fusion", rrf)  # the stub forgets the base
    return edge.QueryRequest(
        limit=search.limit, query=fusion, prefetches=prefetches, with_payload=True
    )


def _nearest(leg: EncodedLeg) -> edge.Query:
    return edge.Query.Nearest(leg.vector, using=leg.field)


def _params(leg: EncodedLeg, search: Search) -> edge.SearchParams | None:
    """The scope's own words say how rare a word is."""
    if leg.dense:
        return None
    return edge.SearchParams(idf=edge.IdfParams(corpus=filter_of(search.corpus)))


def filter_of(where: Where) -> edge.Filter:
    """Conditions that must all hold."""
    return edge.Filter(must=[_condition(each) for each in where])


def _condition(condition: Condition) -> edge.FieldCondition:
    match condition:
        # Texts and numbers only: the engine's MatchValue does not find booleans.
        case Equals(field, value):
            return edge.FieldCondition(key=field, match=edge.MatchValue(value))
        case AnyOf(field, values):
            return edge.FieldCondition(key=field, match=edge.MatchAny(cast("list[str]", [*values])))
        case Range(field, at_least, below):
            return edge.FieldCondition(key=field, range=_range(at_least, below))


def _range(
    at_least: datetime | float | None, below: datetime | float | None
) -> edge.RangeFloat | edge.RangeDateTime:
    if isinstance(at_least, datetime) or isinstance(below, datetime):
        first, end = (
            each.isoformat() if isinstance(each, datetime) else None for each in (at_least, below)
        )
        return edge.RangeDateTime(gte=first, lt=end)
    return edge.RangeFloat(gte=at_least, lt=below)
