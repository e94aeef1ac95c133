"""Searches and conditions in the words of a Qdrant server."""

from collections.abc import Sequence
from datetime import datetime
from typing import cast

from qdrant_client import models
from qdrant_edge import SparseVector

from fourtier.engines.vectors.shared import EncodedLeg, Search
from fourtier.runtime.service.stores.query import AnyOf, Condition, Equals, Range, Where


def ranked(leg: EncodedLeg, search: Search) -> models.QueryRequest:
    """A search by one leg."""
    return models.QueryRequest(
        query=_nearest(leg),
        using=leg.field,
        filter=filter_of(search.within),
        params=_params(leg, search),
        limit=search.limit,
        with_payload=True,
    )


def fused(legs: Sequence[EncodedLeg], k: int, search: Search) -> models.QueryRequest:
    """Searches by several legs, fused by weighted reciprocal rank."""
    prefetches = [
        models.Prefetch(
            query=_nearest(leg),
            using=leg.field,
            filter=filter_of(search.within),
            params=_params(leg, search),
            limit=search.candidates,
        )
        for leg in legs
    ]
    fusion = models.RrfQuery(rrf=models.Rrf(k=k, weights=[leg.weight for leg in legs]))
    return models.QueryRequest(
        prefetch=prefetches, query=fusion, limit=search.limit, with_payload=True
    )


def sparse_of(encoded: SparseVector) -> models.SparseVector:
    """A text's words."""
    return models.SparseVector(indices=list(encoded.indices), values=list(encoded.values))


def _nearest(leg: EncodedLeg) -> models.NearestQuery:
    vector = leg.vector if isinstance(leg.vector, list) else sparse_of(leg.vector)
    return models.NearestQuery(nearest=vector)


def _params(leg: EncodedLeg, search: Search) -> models.SearchParams | None:
    """The scope's own words say how rare a word is."""
    if leg.dense:
        return None
    return models.SearchParams(idf=models.IdfCorpusParams(corpus=filter_of(search.corpus)))


def filter_of(where: Where) -> models.Filter:
    """Conditions that must all hold."""
    return models.Filter(must=[_condition(each) for each in where])


def _condition(condition: Condition) -> models.FieldCondition:
    match condition:
        case Equals(field, value):
            return models.FieldCondition(key=field, match=models.MatchValue(value=value))
        case AnyOf(field, values):
            return models.FieldCondition(
                key=field, match=models.MatchAny(any=cast("list[str]", [*values]))
            )
        case Range(field, at_least, below):
            return models.FieldCondition(key=field, range=_range(at_least, below))


def _range(
    at_least: datetime | float | None, below: datetime | float | None
) -> models.Range | models.DatetimeRange:
    if isinstance(at_least, datetime) or isinstance(below, datetime):
        first, end = (each if isinstance(each, datetime) else None for each in (at_least, below))
        return models.DatetimeRange(gte=first, lt=end)
    return models.Range(gte=at_least, lt=below)
