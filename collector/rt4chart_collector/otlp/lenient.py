"""The OTLP messages with every string read as bytes, so that broken UTF-8 costs no batch."""

from __future__ import annotations

from typing import cast

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1 import common_pb2
from opentelemetry.proto.resource.v1 import resource_pb2
from opentelemetry.proto.trace.v1 import trace_pb2


def lenient_request() -> type[ExportTraceServiceRequest]:
    """ExportTraceServiceRequest with `bytes` for `string`: the two are the same on the wire.

    A parser must refuse a whole message for one invalid string
    (protobuf.dev/programming-guides/proto3, "Scalar Value Types"); this one refuses none. The
    type says str where there are bytes: `decode` reads both.
    """
    pool = DescriptorPool()
    for module in (common_pb2, resource_pb2, trace_pb2, trace_service_pb2):
        file = FileDescriptorProto()
        module.DESCRIPTOR.CopyToProto(file)
        for message in file.message_type:
            _read_as_bytes(message)
        pool.Add(file)
    name = ExportTraceServiceRequest.DESCRIPTOR.full_name
    lenient = GetMessageClass(pool.FindMessageTypeByName(name))
    return cast("type[ExportTraceServiceRequest]", lenient)


def _read_as_bytes(message: DescriptorProto) -> None:
    for field in message.field:
        if field.type == FieldDescriptorProto.TYPE_STRING:
            field.type = FieldDescriptorProto.TYPE_BYTES
    for nested in message.nested_type:
        _read_as_bytes(nested)
