"""Protobuf messages that are declared in Python: a few of Pulsar's, without a compiler's output."""

from collections.abc import Mapping

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from google.protobuf.unknown_fields import UnknownFieldSet

_SCALARS = {
    "bool": FieldDescriptorProto.TYPE_BOOL,
    "bytes": FieldDescriptorProto.TYPE_BYTES,
    "int32": FieldDescriptorProto.TYPE_INT32,
    "int64": FieldDescriptorProto.TYPE_INT64,
    "string": FieldDescriptorProto.TYPE_STRING,
    "uint64": FieldDescriptorProto.TYPE_UINT64,
}
_REPEATED = "repeated "

#: The fields of a message: number and type by name, as in `{"server_version": (1, "string")}`. A
#: type is a scalar or another message of the same package, with `repeated` before it or without.
Fields = Mapping[str, tuple[int, str]]


def declare(package: str, messages: Mapping[str, Fields]) -> dict[str, type[Message]]:
    """Make classes for messages in the syntax of proto2, by their names.

    Unset fields are left out when a message is written, and fields that are 0 are not.
    """
    file = FileDescriptorProto(name=f"{package}.proto", package=package, syntax="proto2")
    for name, fields in messages.items():
        _declare(file.message_type.add(name=name), package, fields)
    pool = DescriptorPool()
    pool.Add(file)
    return {
        name: GetMessageClass(pool.FindMessageTypeByName(f"{package}.{name}")) for name in messages
    }


def _declare(message: DescriptorProto, package: str, fields: Fields) -> None:
    for name, (number, kind) in fields.items():
        bare = kind.removeprefix(_REPEATED)
        field = message.field.add(name=name, number=number)
        field.label = (
            FieldDescriptorProto.LABEL_OPTIONAL
            if bare == kind
            else FieldDescriptorProto.LABEL_REPEATED
        )
        if bare in _SCALARS:
            field.type = _SCALARS[bare]
        else:
            field.type = FieldDescriptorProto.TYPE_MESSAGE
            field.type_name = f".{package}.{bare}"


def has_unknown_fields(message: Message) -> bool:
    """Whether a message was read that has fields of which its declaration knows nothing."""
    if len(UnknownFieldSet(message)):
        return True
    for field, value in message.ListFields():
        if field.message_type is not None:
            parts = value if field.is_repeated else [value]
            if any(has_unknown_fields(part) for part in parts):
                return True
    return False
