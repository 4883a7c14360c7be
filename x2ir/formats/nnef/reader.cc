// Finds the files of a model: in a folder, beside a text, or in an archive.
#include <algorithm>
#include <memory>
#include <utility>

#include "x2ir/formats/io/tar.h"
#include "x2ir/formats/nnef/graph_maker.h"
#include "x2ir/formats/nnef/nnef.h"
#include "x2ir/graph_wrapper/status.h"

namespace x2ir {
namespace nnef {
namespace {

// A file of the model by its path in the model's folder; null: there is none.
using Find = std::function<absl::StatusOr<BlobPtr>(const std::string& path)>;

absl::StatusOr<Find> FilesOfArchive(const BlobPtr& file) {
  X2IR_ASSIGN_OR_RETURN(TarArchive opened, TarArchive::Open(file));
  const auto tar = std::make_shared<const TarArchive>(std::move(opened));
  // Some tools pack the folder, not its files.
  std::string folder;
  if (!tar->Find(kGraphFile)) {
    const std::string ending = StrCat("/", kGraphFile);
    const auto inside =
        std::find_if(tar->entries().begin(), tar->entries().end(),
                     [&](const TarArchive::Entry& entry) { return entry.name.ends_with(ending); });
    if (inside == tar->entries().end()) {
      return DataLoss("'", file->path(), "' has no ", kGraphFile);
    }
    folder = inside->name.substr(0, inside->name.size() - std::string_view(kGraphFile).size());
  }
  return Find([tar, folder](const std::string& path) -> absl::StatusOr<BlobPtr> {
    const TarArchive::Entry* entry = tar->Find(folder + path);
    if (!entry) return BlobPtr();
    const bool whole = entry->offset == 0;
    return whole ? tar->file() : tar->Open(*entry);
  });
}

Find Inside(const Find& find, const std::string& folder) {
  return [find, folder](const std::string& path) { return find(StrCat(folder, "/", path)); };
}

using OpenedModel = ModelParts::Submodel;

absl::StatusOr<OpenedModel> OpenModel(const Find& find, int depth) {
  constexpr int kMostModels = 8;
  if (depth > kMostModels) return Invalid("models in models, more than ", kMostModels, " deep");
  OpenedModel model;
  X2IR_ASSIGN_OR_RETURN(const BlobPtr graph, find(kGraphFile));
  if (!graph) return NotFound("there is no ", kGraphFile);
  model.text = std::string(graph->view());
  X2IR_ASSIGN_OR_RETURN(model.document, ParseDocument(model.text));
  X2IR_ASSIGN_OR_RETURN(const BlobPtr quant, find(kQuantFile));
  if (quant) {
    auto entries = ParseQuantizations(quant->view());
    if (!entries.ok()) return Annotate(entries.status(), kQuantFile);
    for (auto& [name, call] : *entries) model.parts.quantizations[name] = std::move(call);
  }
  model.parts.tensor = [find](const std::string& label) -> absl::StatusOr<StoredTensor> {
    std::string path = StrCat(label, ".dat");
    while (path.starts_with('/')) path.erase(0, 1);
    X2IR_ASSIGN_OR_RETURN(const BlobPtr file, find(path));
    if (!file)
      return NotFound("variable '", label, "': there is no file '", path,
                      "' in the model (links out of its folder are not followed)");
    return ReadTensorFile(file);
  };
  using Opened = std::shared_ptr<const OpenedModel>;
  const auto known = std::make_shared<StringMap<Opened>>();
  model.parts.submodel = [find, depth, known](const std::string& label) -> absl::StatusOr<Opened> {
    Opened& model = (*known)[label];
    if (model) return model;
    Find inside;
    for (const std::string_view ending : {".nnef.tgz", ".nnef.tar", ".nnef.tar.gz"}) {
      X2IR_ASSIGN_OR_RETURN(const BlobPtr file, find(StrCat(label, ending)));
      if (!file) continue;
      X2IR_ASSIGN_OR_RETURN(inside, FilesOfArchive(file));
      break;
    }
    if (!inside) {
      X2IR_ASSIGN_OR_RETURN(const BlobPtr file, find(StrCat(label, "/", kGraphFile)));
      if (!file) {
        return NotFound("the model '", label, "' inside of the model: there is no folder and no ",
                        "archive (", label, ".nnef.tgz, ", label, ".nnef.tar) of that name");
      }
      inside = Inside(find, label);
    }
    X2IR_ASSIGN_OR_RETURN(OpenedModel opened, OpenModel(inside, depth + 1));
    model = std::make_shared<const OpenedModel>(std::move(opened));
    return model;
  };
  return model;
}

absl::StatusOr<Find> FilesOf(const Source& source) {
  const Find beside = [&source](const std::string& path) { return source.FindBeside(path); };
  if (source.is_folder()) return beside;
  X2IR_ASSIGN_OR_RETURN(const BlobPtr file, source.Open());
  if (LooksLikeGzip(file->view()) || LooksLikeTar(file->view())) return FilesOfArchive(file);
  return Find([beside, file](const std::string& path) -> absl::StatusOr<BlobPtr> {
    if (path == kGraphFile) return file;
    return beside(path);
  });
}

}  // namespace
}  // namespace nnef

absl::StatusOr<Model> ReadNnef(const Source& source) {
  X2IR_ASSIGN_OR_RETURN(const nnef::Find find, nnef::FilesOf(source));
  X2IR_ASSIGN_OR_RETURN(const nnef::OpenedModel opened, nnef::OpenModel(find, 0));
  Model model;
  model.source_dialect = nnef::kDialect;
  model.producer_name = "nnef";
  model.SetOpset("", 1);
  model.graph->set_name(opened.document.graph.name);
  X2IR_RETURN_IF_ERROR(nnef::MakeNnefGraph(opened.text, opened.document, opened.parts, &model));
  return model;
}

}  // namespace x2ir
