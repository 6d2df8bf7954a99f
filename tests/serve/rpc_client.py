"""A client of the gRPC service, from its messages alone."""

import importlib
import pathlib
import subprocess
import sys
import tempfile

import grpc

SERVICE = "/inference.GRPCInferenceService/"
PROTO = pathlib.Path(__file__).resolve().parents[2] / "tools/serve/grpc/open_inference.proto"

folder = tempfile.TemporaryDirectory()
subprocess.run(["protoc", f"-I{PROTO.parent}", f"--python_out={folder.name}", PROTO.name],
               check=True)
sys.path.insert(0, folder.name)
messages = importlib.import_module("open_inference_pb2")


class RpcClient:

    def __init__(self, address, patience, credentials=None):
        self.channel = (grpc.secure_channel(address, credentials) if credentials
                        else grpc.insecure_channel(address))
        self.patience = patience

    def call(self, name, request=None, timeout=None):
        """Makes a call by its name, such as "ModelInfer"."""
        return self.start(name, request, timeout).result()

    def start(self, name, request=None, timeout=None):
        if request is None:
            request = getattr(messages, name + "Request")()
        stub = self.channel.unary_unary(
            SERVICE + name, request_serializer=type(request).SerializeToString,
            response_deserializer=getattr(messages, name + "Response").FromString)
        return stub.future(request, timeout=timeout or self.patience)

    def stream(self, requests):
        stub = self.channel.stream_stream(
            SERVICE + "ModelStreamInfer",
            request_serializer=messages.ModelInferRequest.SerializeToString,
            response_deserializer=messages.ModelStreamInferResponse.FromString)
        return stub(requests, timeout=self.patience)

    def close(self):
        self.channel.close()


def parameter(of, name, value):
    kind = {bool: "bool_param", int: "int64_param", str: "string_param"}[type(value)]
    setattr(of.parameters[name], kind, value)


def infer_request(model, inputs, raw=None, **parameters):
    """A request with inputs of (name, datatype, shape, field of the contents, elements). With
    `raw`, the contents are these bytes, one for each input."""
    request = messages.ModelInferRequest(model_name=model)
    for name, datatype, shape, field, elements in inputs:
        given = request.inputs.add(name=name, datatype=datatype, shape=shape)
        if field:
            getattr(given.contents, field).extend(elements)
    request.raw_input_contents.extend(raw or [])
    for name, value in parameters.items():
        parameter(request, name, value)
    return request
