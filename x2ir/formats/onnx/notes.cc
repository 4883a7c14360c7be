// Doc strings, metadata and unknown fields: the parts that most ONNX messages share; and how
// a node is called in messages.
#include "x2ir/formats/onnx/onnx_internal.h"

namespace x2ir::onnx_format {

bool ReadEntry(WireReader& in, std::string_view* key, std::string_view* value) {
  WireReader entry(in.Bytes(), in.Bytes().data());
  while (entry.Next()) {
    if (entry.field() == entry_field::kKey) *key = entry.Bytes();
    if (entry.field() == entry_field::kValue) *value = entry.Bytes();
  }
  if (!entry.status().ok()) in.Fail("a broken key-value pair");
  return in.status().ok();
}

void ReadNote(WireReader& in, NoteFields fields, AnnotationsPtr* annotations) {
  if (in.field() == fields.doc_string) {
    const std::string_view text = in.Bytes();
    if (!text.empty()) annotations->GetOrMake().doc_string = text;
  } else if (in.field() == fields.metadata) {
    std::string_view key, value;
    if (ReadEntry(in, &key, &value)) annotations->GetOrMake().metadata.emplace_back(key, value);
  } else {
    annotations->GetOrMake().extra[kWireKey].append(in.raw());
  }
}

std::string Label(const Node& node) {
  if (!node.name().empty()) return StrCat(node.op().str(), " '", node.name(), "'");
  for (const Value* output : node.outputs()) {
    if (output != nullptr) {
      return StrCat(node.op().str(), " '' (which produces '", output->name(), "')");
    }
  }
  return StrCat(node.op().str(), " ''");
}

std::pair<std::string_view, std::string_view> DomainAndOp(const Node& node) {
  const std::string_view op = node.op().view();
  const std::string* kept = FindExtra(node.annotations(), kDomainKey);
  if (kept && (kept->empty() || *kept == kDefaultDomain)) return {*kept, op};
  if (kept && op.starts_with(*kept) && op.substr(kept->size()).starts_with("::")) {
    return {*kept, op.substr(kept->size() + 2)};
  }
  const size_t colons = op.find("::");
  if (colons == op.npos) return {"", op};
  return {op.substr(0, colons), op.substr(colons + 2)};
}

void WriteEntry(WireWriter& out, uint32_t field, std::string_view key, std::string_view value) {
  out.Begin(field);
  out.Bytes(entry_field::kKey, key);
  out.Bytes(entry_field::kValue, value);
  out.End();
}

void WriteDocAndMetadata(WireWriter& out, NoteFields fields, const AnnotationsPtr& annotations) {
  const Annotations* notes = annotations.get();
  if (notes == nullptr) return;
  out.BytesUnlessEmpty(fields.doc_string, notes->doc_string);
  for (const auto& [key, value] : notes->metadata) WriteEntry(out, fields.metadata, key, value);
}

void WriteNotes(WireWriter& out, NoteFields fields, const AnnotationsPtr& annotations) {
  WriteDocAndMetadata(out, fields, annotations);
  if (const std::string* wire = FindExtra(annotations, kWireKey)) out.Raw(*wire);
}

}  // namespace x2ir::onnx_format
