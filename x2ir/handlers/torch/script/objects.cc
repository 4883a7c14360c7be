// What the archive holds as values of the code: modules and their attributes.
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/script/machine.h"

namespace x2ir::torch_script {

constexpr int kMaxSavedDepth = 200;

Val Machine::Load(const PickleValue& saved, const std::string& path, int depth) {
  if (const auto it = loaded_.find(&saved); it != loaded_.end()) return it->second;
  if (depth > kMaxSavedDepth) Stop(DataLoss("values of the archive are nested too deep"));
  CountStep();
  const auto items = [&] {
    std::vector<Val> values;
    for (size_t i = 0; i < saved.items.size(); ++i) {
      values.push_back(Load(*saved.items[i], StrCat(path, ".", i), depth + 1));
    }
    return values;
  };
  switch (saved.kind) {
    case PickleValue::kNone: return Val::None();
    case PickleValue::kBool: return Val::Bool(saved.number != 0);
    case PickleValue::kInt: return Val::Int(saved.number);
    case PickleValue::kFloat: return Val::Float(saved.real);
    case PickleValue::kComplex: return Val::Complex(saved.real, saved.imaginary);
    case PickleValue::kString: return Val::String(std::string(saved.text));
    case PickleValue::kDevice: return Val::Text(Val::kDevice, std::string(saved.text));
    case PickleValue::kTuple: return loaded_[&saved] = Val::Tuple(items());
    case PickleValue::kList: {
      Val list = Val::List(items());
      std::string_view type = saved.type;
      if (type.starts_with("List[") && type.ends_with(']')) {
        list.list().type = std::string(type.substr(5, type.size() - 6));
      }
      list.heap->id = ++loaded_ids_;
      return loaded_[&saved] = list;
    }
    case PickleValue::kDict: {
      auto dict = std::make_shared<DictHeap>();
      for (size_t i = 0; i + 1 < saved.items.size(); i += 2) {
        const Val key = Load(*saved.items[i], path, depth + 1);
        dict->items.emplace_back(
            key, Load(*saved.items[i + 1], StrCat(path, ".", Format(key)), depth + 1));
      }
      dict->id = ++loaded_ids_;
      return loaded_[&saved] = Val::Of(Val::kDict, std::move(dict));
    }
    case PickleValue::kTensor: return loaded_[&saved] = LoadTensor(saved, path);
    case PickleValue::kObject: {
      const ClassDef* cls = program_.FindClass(saved.text);
      if (cls && cls->base == "NamedTuple" && saved.state &&
          saved.state->kind == PickleValue::kTuple) {
        Args args;
        for (const PickleValue* item : saved.state->items) {
          args.positional.push_back(Load(*item, path, depth + 1));
        }
        const Val made = Instantiate(saved.text, std::move(args));
        return loaded_[&saved] = made;
      }
      auto object = std::make_shared<ObjectHeap>();
      object->class_name = std::string(saved.text);
      object->cls = cls;
      object->path = path;
      object->id = ++loaded_ids_;
      const Val v = loaded_[&saved] = Val::Of(Val::kObject, object);
      if (cls && cls->base == "Enum") {
        if (!saved.items.empty()) {
          object->attributes.emplace_back("value", Load(*saved.items[0], path, depth + 1));
        }
        return v;
      }
      if (saved.state && cls && cls->Method("__setstate__")) {
        CallFunction(*cls->Method("__setstate__"), {{v, Load(*saved.state, path, depth + 1)}, {}},
                     path);
      } else if (saved.state && saved.state->kind == PickleValue::kDict && cls) {
        object->saved = saved.state;
      } else if (saved.state) {
        object->state = Load(*saved.state, path, depth + 1);
      }
      return v;
    }
    case PickleValue::kGlobal:
    case PickleValue::kStorage: break;
  }
  Refuse("'", path, "' is saved as something that is not read (", saved.text, ")");
}

// A weight under its name in the module.
Val Machine::LoadTensor(const PickleValue& saved, const std::string& path) {
  const TorchTensor& tensor = saved.tensor;
  Value*& constant = weights_[tensor.Identity()];
  if (!constant) {
    absl::StatusOr<Tensor> made = tensor.Make();
    if (!made.ok()) Stop(Annotate(made.status(), StrCat("'", path, "'")));
    constant =
        root().AddConstant(root().UniqueName(path.empty() ? "weight" : path), *std::move(made));
  }
  Val v = Fresh(constant);
  TensorHeap& heap = v.tensor();
  heap.id = ++loaded_ids_;
  heap.buffer = path.empty() ? "weight" : path;
  if (writes_) {
    std::vector<Dim> strides;
    for (const int64_t stride : tensor.strides) strides.emplace_back(stride);
    SetStrides(constant, Shape(std::move(strides)));
  }
  if (saved.quantizer) {
    auto q = std::make_shared<Quantization>();
    q->dtype = constant->dtype();
    const PickleValue::Quantizer& given = *saved.quantizer;
    const auto add = [&](std::string_view suffix, Tensor t) {
      return root().AddConstant(root().UniqueName(StrCat(path, ".", suffix)), std::move(t));
    };
    if (given.axis < 0) {
      q->scale = add("scale", Tensor::Scalar<float>(static_cast<float>(given.scale)));
      q->zero_point = add("zero_point", Tensor::Scalar<int64_t>(given.zero_point));
    } else {
      auto scales = given.scales.Make(), points = given.zero_points.Make();
      if (!scales.ok()) Stop(scales.status());
      if (!points.ok()) Stop(points.status());
      q->scale = add("scales", *std::move(scales));
      q->zero_point = add("zero_points", *std::move(points));
      q->axis = given.axis;
    }
    heap.quantized = std::move(q);
    quantizes = true;
  }
  return v;
}

Val Machine::GetAttribute(const Val& object, std::string_view name) {
  if (object.kind == Val::kLost) Refuse(object.str());
  if (object.kind == Val::kTuple && object.text) {
    size_t i = 0;
    std::string_view fields = object.str();
    while (!fields.empty()) {
      const size_t end = fields.find('\n');
      if (fields.substr(0, end) == name && i < object.tuple().size()) return object.tuple()[i];
      fields.remove_prefix(std::min(end + 1, fields.size()));
      ++i;
    }
    Stop(Invalid("the tuple has no field '", name, "'", PlaceText()));
  }
  if (object.kind == Val::kTensor) {
    static constexpr std::string_view kProperties[] = {
        "dtype",         "device",       "ndim",      "layout",    "is_cuda",
        "is_cpu",        "is_quantized", "is_sparse", "is_mkldnn", "is_nested",
        "requires_grad", "shape",        "is_meta",   "is_leaf"};
    for (const std::string_view property : kProperties) {
      if (property == name) return Call(StrCat("prim::", name), {{object}, {}});
    }
    if (name == "data" || name == "grad") return name == "data" ? object : Val::None();
    const bool method = name == "T" || name == "H" || name == "mT" || name == "mH";
    if (method) {
      return Call(name == "T" || name == "H"
                      ? StrCat("aten::", name == "T" ? "numpy_T" : "matrix_H")
                      : StrCat("aten::", name),
                  {{object}, {}});
    }
    if (name == "real" || name == "imag") return Call(StrCat("aten::", name), {{object}, {}});
  }
  if (object.kind == Val::kDevice) return Call(StrCat("prim::", name), {{object}, {}});
  if (object.kind != Val::kObject) {
    Stop(Invalid("attribute '", name, "' of ", Describe(object), PlaceText()));
  }
  ObjectHeap& heap = object.object();
  if (const Val* v = heap.Find(name)) {
    if (v->kind == Val::kLost) Refuse(v->str());
    return *v;
  }
  if (heap.saved) {
    if (const PickleValue* saved = heap.saved->Find(name)) {
      const Val v =
          Load(*saved, heap.path.empty() ? std::string(name) : StrCat(heap.path, ".", name));
      Change(heap);
      heap.attributes.emplace_back(std::string(name), v);
      return v;
    }
  }
  if (heap.cls) {
    if (const ClassDef::Field* field = heap.cls->FindField(name); field && field->value) {
      return Evaluate(*field->value);
    }
    if (const FunctionDef* method = heap.cls->Method(name)) {
      Val v;
      v.kind = Val::kFunction;
      v.function = method;
      v.heap = object.heap;
      return v;
    }
    // An enum's name.
    if (heap.cls->base == "Enum" && name == "name") {
      for (const ClassDef::Field& field : heap.cls->fields) {
        if (!field.value || heap.attributes.empty()) continue;
        const Val equal =
            Call("aten::eq", {{Evaluate(*field.value), heap.attributes[0].second}, {}});
        if (Truth(equal)) return Val::String(std::string(field.name));
      }
    }
  }
  // Old files do not save what is None.
  if (heap.cls && heap.cls->FindField(name)) return Val::None();
  Stop(Invalid("class ", heap.class_name, " has no attribute '", name, "'", PlaceText()));
}

void Machine::SetAttribute(const Val& object, std::string_view name, Val value) {
  if (object.kind != Val::kObject) {
    Stop(Invalid("attribute '", name, "' of ", Describe(object), " is set", PlaceText()));
  }
  ObjectHeap& heap = object.object();
  if (heap.saved && heap.saved->Find(name)) {
    Warn(StrCat("attribute '", heap.path, heap.path.empty() ? "" : ".", name,
                "' is updated by the program; the update is not part of the model"));
  }
  Change(heap);
  if (Val* v = heap.Find(name)) {
    *v = std::move(value);
  } else {
    heap.attributes.emplace_back(std::string(name), std::move(value));
  }
}

}  // namespace x2ir::torch_script
