// The layouts of archives. The current one:
//
//   NAME/archive_format                           "pt2"
//   NAME/byteorder                                "little"
//   NAME/models/MODEL.json                        the program
//   NAME/data/weights/MODEL_weights_config.json   what weights are where
//   NAME/data/weights/weight_0                    bytes of a storage, or a pickle
//   NAME/data/constants/...                       the same
//
// The older one: serialized_exported_program.json, and what torch.save made of the weights in
// serialized_state_dict.pt and serialized_constants.pt (or .json, which is not JSON).
#include <algorithm>

#include "absl/strings/escaping.h"
#include "x2ir/formats/io/blob.h"
#include "x2ir/formats/torch/archive_internal.h"
#include "x2ir/formats/torch/enums.h"
#include "x2ir/formats/torch/pickle.h"
#include "x2ir/formats/torch/torch.h"
#include "x2ir/graph_wrapper/option_error.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {

namespace torch_format {

// torch.save before it wrote archives: the magic number of its first pickle.
constexpr std::string_view kOldTorchSave(
    "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19");

}  // namespace torch_format

bool LooksLikeTorch(absl::Span<const std::byte> head, uint64_t) {
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  return LooksLikeZip(text) || text.starts_with(torch_format::kOldTorchSave);
}

namespace torch_format {

Fields::Fields(JsonReader& json) : json_(json) {
  json.Object([&](std::string_view key) {
    const JsonReader::Mark mark = json.Here();
    const bool null = json.Peek() == JsonReader::Kind::kNull;
    json.Skip();
    if (!null) members_.emplace_back(key, mark);
  });
  end_ = json.Here();
}

bool Fields::Has(std::string_view name) const {
  return std::any_of(members_.begin(), members_.end(),
                     [&](const auto& member) { return member.first == name; });
}

bool Fields::GoTo(std::string_view name) {
  for (const auto& [key, mark] : members_) {
    if (key != name) continue;
    json_.GoTo(mark);
    return json_.ok();
  }
  return false;
}

namespace {

constexpr std::string_view kOldProgram = "serialized_exported_program.json";
constexpr char kNoProgram[] =
    "it holds weights, or pickled Python code, but no program that can be read without Python: "
    "torch.export.save(torch.export.export(model, inputs), 'model.pt2') writes such a program";
constexpr char kExport[] = "torch.export.save(torch.export.export(model, inputs), 'model.pt2')";
constexpr char kMakeProgram[] =
    "torch.export.save(torch.export.export(model, inputs), 'model.pt2') writes a file that can be "
    "read";

// Numbers of the file only: {"as_int": 3}, in older files 3 itself.
int64_t ReadSize(JsonReader& json) {
  if (json.Peek() == JsonReader::Kind::kNumber) return json.Int();
  int64_t size = 0;
  Fields fields(json);
  if (fields.GoTo("as_int")) {
    size = json.Int();
  } else {
    json.Fail("expected a number");
  }
  fields.GoToEnd();
  return size;
}

std::vector<int64_t> ReadSizes(JsonReader& json) {
  std::vector<int64_t> sizes;
  json.Array([&](size_t) { sizes.push_back(ReadSize(json)); });
  return sizes;
}

class Opener {
 public:
  explicit Opener(ZipArchive zip) : zip_(std::move(zip)) {}

  absl::StatusOr<Archive> Run(const std::string& model) {
    archive_.file = zip_.file();
    // Where the archive's own files lie: in a folder of its name, in older ones at the top.
    for (const ZipEntry& entry : zip_.entries()) {
      for (const std::string_view file : {std::string_view("archive_format"), kOldProgram}) {
        const std::string_view name = entry.name;
        if (!name.ends_with(file)) continue;
        const std::string_view prefix = name.substr(0, name.size() - file.size());
        if (!prefix.empty() && prefix.find('/') != prefix.size() - 1) continue;
        prefix_ = std::string(prefix);
        old_ = file == kOldProgram;
        found_ = true;
      }
    }
    if (!found_ && HoldsPickle()) return NoProgram();
    if (!found_ && HoldsScript()) {
      return Unimplemented("the file is of torch.jit.save: TorchScript is not read; ",
                           kMakeProgram);
    }
    if (!found_) {
      return Unimplemented("a zip archive, but none of torch.export.save (it has neither ",
                           "archive_format nor ", kOldProgram, ")");
    }
    X2IR_RETURN_IF_ERROR(CheckByteOrder(zip_, Find("byteorder")));
    if (old_) {
      X2IR_RETURN_IF_ERROR(ReadOld(model));
    } else {
      X2IR_RETURN_IF_ERROR(ReadCurrent(model));
    }
    return std::move(archive_);
  }

 private:
  // Of an archive: torch.save has a pickle and storages, torch.jit.save code beside them.
  bool HoldsPickle() const { return HasFile("data.pkl") && !HoldsScript(); }
  bool HoldsScript() const { return HasFile("constants.pkl"); }
  // What torch.save wrote is no program; what it is, and how to make one.
  absl::Status NoProgram() {
    const TorchSaveContents found = LookIntoTorchSave(zip_).value_or(TorchSaveContents());
    const std::string in =
        found.key.empty() ? "" : StrCat(" under the key '", absl::CHexEscape(found.key), "'");
    if (found.tensors != 0) {
      return Unimplemented(
          "the file is of torch.save and holds weights without a program (a state_dict of ",
          found.tensors, found.tensors == 1 ? " tensor" : " tensors", in,
          "): load them into the Python module, and ", kExport, " writes both. To give them to a ",
          "program that was saved without them, use ", OptionText("weights_from"),
          " with the file that safetensors.torch.save_file(torch.load('weights.pt')",
          found.key.empty() ? "" : StrCat("['", absl::CHexEscape(found.key), "']"),
          ", 'model.safetensors') writes");
    }
    if (!found.class_name.empty()) {
      return Unimplemented("the file is of torch.save and holds a pickled Python object of class ",
                           absl::CHexEscape(found.class_name), in,
                           ", which cannot be read without that class: load it in Python, and ",
                           kExport, " or torch.jit.save(torch.jit.trace(model, inputs), ",
                           "'model.pt') writes a file that can be read");
    }
    return Unimplemented("the file is of torch.save; ", kNoProgram);
  }
  bool HasFile(std::string_view file) const {
    return std::any_of(zip_.entries().begin(), zip_.entries().end(), [&](const ZipEntry& entry) {
      return entry.name == file || entry.name.ends_with(StrCat("/", file));
    });
  }
  const ZipEntry* Find(std::string_view name) const { return zip_.Find(StrCat(prefix_, name)); }

  absl::Status ReadOld(const std::string& model) {
    if (!model.empty()) return OptionError("model", "an archive of this age holds one model only");
    X2IR_ASSIGN_OR_RETURN(archive_.program, zip_.ReadText(*Find(kOldProgram)));
    for (const std::string_view name : {"serialized_state_dict", "serialized_constants"}) {
      for (const std::string_view extension : {".pt", ".json"}) {
        const ZipEntry* entry = Find(StrCat(name, extension));
        if (!entry || entry->size == 0) continue;
        absl::Status status = ReadPickle(*entry, [](std::string_view key) { return key; });
        if (!status.ok()) return Annotate(status, entry->name);
        break;
      }
    }
    return absl::OkStatus();
  }

  // Every tensor that torch.save wrote into the entry, under the name that `name_of` gives it.
  template <typename F>
  absl::Status ReadPickle(const ZipEntry& entry, F&& name_of) {
    if (!entry.stored()) return Unimplemented("weights that are packed twice");
    X2IR_ASSIGN_OR_RETURN(ZipArchive inner,
                          ZipArchive::Open(zip_.file(), entry.offset, entry.size));
    X2IR_ASSIGN_OR_RETURN(auto tensors, ReadTorchSave(inner));
    for (auto& [key, tensor] : tensors) {
      archive_.weights.insert_or_assign(std::string(name_of(key)), std::move(tensor));
    }
    return absl::OkStatus();
  }

  absl::Status ReadCurrent(const std::string& model) {
    std::vector<std::string> names;
    const std::string folder = StrCat(prefix_, "models/");
    for (const ZipEntry& entry : zip_.entries()) {
      const std::string_view name = entry.name;
      if (!name.starts_with(folder) || !name.ends_with(".json")) continue;
      names.emplace_back(name.substr(folder.size(), name.size() - folder.size() - 5));
    }
    std::string all;
    for (const std::string& name : names) StrAppend(&all, all.empty() ? "" : ", ", name);
    std::string name = model;
    if (names.empty()) return Invalid("the archive holds no model");
    if (name.empty() && names.size() > 1) {
      return OptionError("model", "the archive holds several models; which one: ", all, "?");
    }
    if (name.empty()) name = names[0];
    const ZipEntry* program = Find(StrCat("models/", name, ".json"));
    if (!program) return OptionError("model", "the archive has no model '", name, "', but ", all);
    X2IR_ASSIGN_OR_RETURN(archive_.program, zip_.ReadText(*program));
    X2IR_RETURN_IF_ERROR(ReadWeights("data/weights/", StrCat(name, "_weights_config.json")));
    return ReadWeights("data/constants/", StrCat(name, "_constants_config.json"));
  }

  struct Weight {
    std::string_view name, path;
    bool pickle = false;
    bool known = false;  // has sizes
    TorchTensor tensor;
  };

  absl::Status ReadWeights(std::string_view folder, const std::string& file) {
    const ZipEntry* entry = Find(StrCat(folder, file));
    if (!entry) return absl::OkStatus();
    X2IR_ASSIGN_OR_RETURN(const ZipArchive::Bytes text, zip_.ReadText(*entry));
    JsonReader json(text.view, /*python=*/true);
    std::vector<Weight> weights;
    Fields top(json);
    if (top.GoTo("config")) {
      json.Object([&](std::string_view name) {
        weights.push_back(ReadWeight(json));
        weights.back().name = name;
      });
    }
    top.GoToEnd();
    json.Finish();
    if (!json.ok()) return Annotate(json.status(), entry->name);
    for (Weight& weight : weights) {
      absl::Status status = Resolve(folder, weight);
      if (!status.ok()) return Annotate(status, StrCat("weight '", weight.name, "'"));
    }
    return absl::OkStatus();
  }

  static Weight ReadWeight(JsonReader& json) {
    Weight weight;
    Fields fields(json);
    if (fields.GoTo("path_name")) weight.path = json.String();
    if (fields.GoTo("use_pickle")) weight.pickle = json.Bool();
    if (fields.GoTo("tensor_meta")) {
      weight.known = true;
      Fields meta(json);
      if (meta.GoTo("dtype")) weight.tensor.dtype = TorchDType(json.Int());
      if (meta.GoTo("sizes")) weight.tensor.sizes = ReadSizes(json);
      if (meta.GoTo("strides")) weight.tensor.strides = ReadSizes(json);
      if (meta.GoTo("storage_offset")) weight.tensor.storage_offset = ReadSize(json);
    }
    fields.GoToEnd();
    return weight;
  }

  absl::Status Resolve(std::string_view folder, Weight& weight) {
    const ZipEntry* bytes = Find(StrCat(folder, weight.path));
    // A custom object: an error only if it is used. A missing weight may come from another file.
    if (!weight.known || !bytes) return absl::OkStatus();
    if (weight.pickle) return ReadPickle(*bytes, [&](std::string_view) { return weight.name; });
    if (weight.tensor.dtype == DType::kUndefined) {
      return Unimplemented("x2ir does not have its element type");
    }
    X2IR_ASSIGN_OR_RETURN(weight.tensor.storage, StorageOf(bytes));
    archive_.weights.insert_or_assign(std::string(weight.name), std::move(weight.tensor));
    return absl::OkStatus();
  }

  // Entries that are unpacked are unpacked once.
  absl::StatusOr<TorchStorage> StorageOf(const ZipEntry* entry) {
    if (entry->stored()) return x2ir::StorageOf(zip_, *entry);
    auto [it, fresh] = unpacked_.try_emplace(entry->offset);
    if (fresh) {
      X2IR_ASSIGN_OR_RETURN(it->second, x2ir::StorageOf(zip_, *entry));
    }
    return it->second;
  }

  ZipArchive zip_;
  std::string prefix_;
  bool old_ = false, found_ = false;
  absl::flat_hash_map<uint64_t, TorchStorage> unpacked_;
  Archive archive_;
};

}  // namespace

absl::StatusOr<Archive> OpenArchive(const Source& source, const std::string& model) {
  X2IR_ASSIGN_OR_RETURN(BlobPtr file, source.Open());
  if (file->view().starts_with(kOldTorchSave)) {
    return Unimplemented("the file is of an old torch.save; ", kNoProgram);
  }
  X2IR_ASSIGN_OR_RETURN(ZipArchive zip, ZipArchive::Open(std::move(file)));
  return Opener(std::move(zip)).Run(model);
}

}  // namespace torch_format
}  // namespace x2ir
