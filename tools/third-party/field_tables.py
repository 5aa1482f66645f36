"""Prints every message and enum of protobuf code as JSON: of the published package, or with `sdk` that of sdk/python."""

import json
import sys

from google.protobuf.descriptor import FieldDescriptor

if sys.argv[1:] == ["sdk"]:
    from svc_worker._proto import bus_pb2

    MODULES = [bus_pb2]
else:
    from cap.pb.cordum.agent.v1 import alert_pb2, buspacket_pb2, handshake_pb2, heartbeat_pb2, job_pb2, safety_pb2

    MODULES = [alert_pb2, buspacket_pb2, handshake_pb2, heartbeat_pb2, job_pb2, safety_pb2]
SCALARS = {
    value: name.removeprefix("TYPE_").lower()
    for name, value in vars(FieldDescriptor).items()
    if name.startswith("TYPE_")
}


def type_of(field) -> str:
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        key, value = field.message_type.fields
        return f"map<{type_of(key)},{type_of(value)}>"
    named = field.message_type or field.enum_type
    name = named.name if named else SCALARS[field.type]
    return f"repeated {name}" if field.is_repeated else name


messages = {
    name: [
        {"number": field.number, "name": field.name, "type": type_of(field)}
        for field in sorted(message.fields, key=lambda field: field.number)
    ]
    for module in MODULES
    for name, message in module.DESCRIPTOR.message_types_by_name.items()
}
enums = {
    name: {str(value.number): value.name for value in enum.values}
    for module in MODULES
    for name, enum in module.DESCRIPTOR.enum_types_by_name.items()
}
print(json.dumps({"messages": messages, "enums": enums}))
