"""Generates the Go code of bus.proto: `go_code.py <protoc-gen-go> <folder>`. The descriptor is the one in sdk/python."""

import pathlib
import subprocess
import sys

from google.protobuf import timestamp_pb2
from google.protobuf.compiler.plugin_pb2 import CodeGeneratorRequest, CodeGeneratorResponse
from svc_worker._proto import bus_pb2

generator, folder = sys.argv[1:]
request = CodeGeneratorRequest(
    file_to_generate=["bus.proto"], parameter="paths=source_relative,Mbus.proto=example.com/worker/bus"
)
for descriptor in (timestamp_pb2.DESCRIPTOR, bus_pb2.DESCRIPTOR):
    descriptor.CopyToProto(request.proto_file.add())
request.proto_file[1].name = "bus.proto"
output = subprocess.run([generator], input=request.SerializeToString(), stdout=subprocess.PIPE, check=True).stdout
response = CodeGeneratorResponse.FromString(output)
if response.error:
    sys.exit(response.error)
pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
for file in response.file:
    pathlib.Path(folder, file.name).write_text(file.content)
