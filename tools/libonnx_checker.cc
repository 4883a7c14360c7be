// A module that ir2onnx loads for --check: libonnx's own checker with an interface of two C
// functions. It is a module of its own so that a program which does not check never loads libonnx
// and protobuf.
#include <onnx/checker.h>
#include <onnx/defs/schema.h>
#include <onnx/onnx_pb.h>

#include <cstdio>
#include <exception>
#include <limits>
#include <string>

// Whether this libonnx knows the file version (IR version) and an opset of a domain.
extern "C" int x2ir_libonnx_knows(long long ir_version, const char* domain, long long opset) {
  if (ir_version > static_cast<long long>(onnx::Version::IR_VERSION)) return 0;
  const auto& ranges = onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
  const auto it = ranges.find(domain);
  return it == ranges.end() || opset <= it->second.second;
}

// 0: the model passes. 1: it does not, and `message` says why.
extern "C" int x2ir_libonnx_check(const void* bytes, unsigned long long size, char* message,
                                  unsigned long long message_size) {
  const auto fail = [&](const char* why) {
    std::snprintf(message, message_size, "%s", why);
    return 1;
  };
  try {
    onnx::ModelProto model;
    if (size > static_cast<unsigned long long>(std::numeric_limits<int>::max()) ||
        !model.ParseFromArray(bytes, static_cast<int>(size))) {
      return fail("protobuf cannot read it");
    }
    onnx::checker::check_model(model);
    return 0;
  } catch (const std::exception& e) {
    return fail(e.what());
  }
}
