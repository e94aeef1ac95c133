"""A collection on a Qdrant server: made as the flow says, and compared with what it says."""

from collections.abc import Sequence

from qdrant_client import AsyncQdrantClient, models
from qdrant_client.http.exceptions import UnexpectedResponse

from fourtier.engines.vectors.points import SCOPE
from fourtier.runtime.errors import StartupError
from fourtier.runtime.service.engines import CollectionsConfig, Quantisation
from fourtier.runtime.service.stores.schemas import Fields

_CONFLICT = 409
#: The small copies stay in memory; that is what they are made for.
_QUANTISATIONS: dict[Quantisation, models.ScalarQuantization | models.BinaryQuantization | None] = {
    "none": None,
    "scalar": models.ScalarQuantization(
        scalar=models.ScalarQuantizationConfig(type=models.ScalarType.INT8, always_ram=True)
    ),
    "binary": models.BinaryQuantization(binary=models.BinaryQuantizationConfig(always_ram=True)),
}


async def create_collection(
    client: AsyncQdrantClient,
    collection: str,
    dimensions: int,
    fields: Fields,
    layout: CollectionsConfig = CollectionsConfig(),
) -> None:
    """Create the collection and its indexes where they are missing.

    Raises:
        StartupError: there is one of that name with other vectors.
    """
    if not await client.collection_exists(collection):
        await create_vectors(client, collection, dimensions, fields, layout)
    found = await client.get_collection(collection)
    check_fields(found, collection, dimensions, fields)
    for field in indexes(fields):
        await create_index(client, collection, field, fields)


async def create_vectors(
    client: AsyncQdrantClient,
    collection: str,
    dimensions: int,
    fields: Fields,
    layout: CollectionsConfig,
) -> None:
    """Create the collection without its indexes."""
    dense = models.VectorParams(
        size=dimensions,
        distance=models.Distance.COSINE,
        quantization_config=_QUANTISATIONS[layout.quantisation],
        on_disk=layout.vectors_on_disk,
    )
    sparse = models.SparseVectorParams(modifier=models.Modifier.IDF)
    try:
        await client.create_collection(
            collection,
            vectors_config=dict.fromkeys(fields.dense, dense),
            sparse_vectors_config={field.name: sparse for field in fields.sparse},
            shard_number=layout.shards,
            replication_factor=layout.replicas,
            write_consistency_factor=layout.write_replicas,
        )
    except UnexpectedResponse as error:
        if error.status_code != _CONFLICT:  # another replica created it meanwhile
            raise


def indexes(fields: Fields) -> dict[str, models.PayloadSchemaType | models.KeywordIndexParams]:
    """The index of each payload field; the scope is what tells tenants apart."""
    tenant = models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True)
    return {
        SCOPE: tenant,
        **dict.fromkeys(fields.keywords, models.PayloadSchemaType.KEYWORD),
        **dict.fromkeys(fields.dates, models.PayloadSchemaType.DATETIME),
        **dict.fromkeys(fields.numbers, models.PayloadSchemaType.INTEGER),
    }


async def create_index(
    client: AsyncQdrantClient, collection: str, field: str, fields: Fields
) -> None:
    """Index a payload field."""
    await client.create_payload_index(collection, field, indexes(fields)[field])


def check_fields(
    found: models.CollectionInfo, collection: str, dimensions: int, fields: Fields
) -> None:
    """See to it that the collection is one of ours and of the flow's embedding model.

    Raises:
        StartupError: it is not.
    """
    dense = dense_vectors(found)
    missing = sorted(set(fields.dense) - set(dense))
    missing += sorted(
        {field.name for field in fields.sparse} - set(found.config.params.sparse_vectors or {})
    )
    if missing:
        raise StartupError(
            f"the collection {collection} is not one of Fourtier's, or of an older release: it has "
            f"no vectors called {' and '.join(map(repr, missing))}; delete or rename it"
        )
    for params in dense.values():
        if params.size != dimensions:
            raise StartupError(
                f"the collection {collection} has vectors of {params.size} dimensions, but the "
                f"flow's embedding model makes {dimensions}: name the model that made them, or "
                f"delete the collection to begin anew"
            )


def dense_vectors(found: models.CollectionInfo) -> dict[str, models.VectorParams]:
    """The parameters of the dense vectors by field; none where they have no names."""
    vectors = found.config.params.vectors
    return vectors if isinstance(vectors, dict) else {}


def differences(found: models.CollectionInfo, layout: CollectionsConfig) -> tuple[str, str]:
    """What can be changed in place to what the flow says, and what cannot, in words.

    Shards and their copies would have to be moved between nodes, which is for people to decide.
    """
    params, dense = found.config.params, next(iter(dense_vectors(found).values()), None)
    changing = [
        ("write-replicas", params.write_consistency_factor or 1, layout.write_replicas),
        ("quantisation", _quantisation(dense), layout.quantisation),
        ("vectors-on-disk", bool(dense and dense.on_disk), layout.vectors_on_disk),
    ]
    fixed = [
        ("shards", params.shard_number or 1, layout.shards),
        ("replicas", params.replication_factor or 1, layout.replicas),
    ]
    return _in_words(changing), _in_words(fixed)


def _in_words(settings: Sequence[tuple[str, object, object]]) -> str:
    return ", ".join(f"{name} {is_} instead of {to}" for name, is_, to in settings if is_ != to)


def _quantisation(dense: models.VectorParams | None) -> str:
    found = dense.quantization_config if dense else None
    if found is None:
        return "none"
    for name, known in _QUANTISATIONS.items():
        if isinstance(known, type(found)):
            return name
    return "of another kind"


async def change_layout(
    client: AsyncQdrantClient, collection: str, layout: CollectionsConfig
) -> None:
    """Change what can be changed in place; the server works on it in the background."""
    quantised = _QUANTISATIONS[layout.quantisation] or models.Disabled.DISABLED
    diff = models.VectorParamsDiff(quantization_config=quantised, on_disk=layout.vectors_on_disk)
    fields = dense_vectors(await client.get_collection(collection))
    await client.update_collection(
        collection,
        collection_params=models.CollectionParamsDiff(
            write_consistency_factor=layout.write_replicas
        ),
        vectors_config=dict.fromkeys(fields, diff),
    )
