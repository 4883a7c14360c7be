// Keras: preprocessing layers.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "x2ir/builder/arrays.h"
#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/numbers.h"
#include "x2ir/handlers/keras/images.h"
#include "x2ir/handlers/keras/keras.h"

namespace x2ir {
namespace {

// The tensor, of any type, as floats of the layer's type.
Expr AsFloats(KerasArgs& a) { return a.tensor().To(a.VariableType()); }

// --- Numbers -------------------------------------------------------------------------------------

Value* Rescaling(KerasArgs& a) {
  const Expr x = AsFloats(a);
  const std::vector<double> scale = a.Numbers("scale"), offset = a.Numbers("offset");
  const auto number = [&](const std::vector<double>& list) {
    if (list.size() == 1) return x.Number(list[0]);
    return NumbersAs(a, x.dtype(), {static_cast<int64_t>(list.size())}, list, "scale");
  };
  Expr y = x;
  if (!scale.empty()) y = y * number(scale);
  if (!offset.empty() && !(offset.size() == 1 && offset[0] == 0)) y = y + number(offset);
  return y;
}

// (x - mean) / max(sqrt(variance), 1e-7), or back.
Value* Normalization(KerasArgs& a) {
  const Expr x = AsFloats(a);
  const int64_t rank = a.RankOf(x);
  const bool invert = a.Flag("invert", false);
  const bool all = !a.Given("axis");
  std::vector<int64_t> axes = a.Integers("axis");
  if (!all) axes = a.Axes(axes, rank);
  std::sort(axes.begin(), axes.end());
  const std::vector<double> mean = a.Numbers("mean"), variance = a.Numbers("variance");
  // Numbers along these axes.
  const auto placed = [&](const Expr& v) {
    if (all || axes.empty()) return Reshape(v, std::vector<int64_t>{});
    std::vector<int64_t> dims(static_cast<size_t>(rank), 1);
    for (size_t i = 0; i < axes.size(); ++i) {
      const Dim dim = DimAt(x, axes[i]);
      a.Require(dim.is_static(), "a normalization along an axis of unknown size");
      dims[static_cast<size_t>(axes[i])] = dim.value();
    }
    return Reshape(v, dims);
  };
  Expr center = nullptr, spread = nullptr;
  if (!mean.empty() && !variance.empty()) {
    const auto constant = [&](const std::vector<double>& list) {
      return NumbersAs(a, x.dtype(), {static_cast<int64_t>(list.size())}, list, "numbers");
    };
    center = constant(mean);
    spread = constant(variance);
    int64_t count = 1;
    for (const int64_t axis : axes)
      count *= DimAt(x, axis).is_static() ? DimAt(x, axis).value() : 0;
    // One number applies to all.
    center =
        mean.size() == 1 && count != 1 ? Reshape(center, std::vector<int64_t>{}) : placed(center);
    spread = variance.size() == 1 && count != 1 ? Reshape(spread, std::vector<int64_t>{})
                                                : placed(spread);
  } else {
    const std::vector<Expr> w = a.Weights({"mean", "variance", "count"});
    center = placed(w[0].To(x.dtype()));
    spread = placed(w[1].To(x.dtype()));
  }
  const Expr root = Sqrt(spread);
  const Expr deviation = Max(root, root.Number(1e-7));
  return invert ? x * deviation + center : (x - center) / deviation;
}

// --- Categories ----------------------------------------------------------------------------------

// Indices as the layer gives them: themselves, or how often (or whether) each of `depth` is there;
// how often by the weight of each. `counts`: which of them count, as numbers of 0 and 1; null: all.
Expr Encoded(KerasArgs& a, const Expr& index, const std::string& mode, int64_t depth,
             const std::vector<double>& idf = {}, const Expr& counts = nullptr) {
  if (mode == "int") return index;
  if (depth < 1) a.Fail(Invalid("an encoding of ", depth, " categories"));
  const auto one_hot = [&](const Expr& x) {
    const Expr values = NumbersAs(a, a.VariableType(), {2}, {0, 1}, "values");
    const Expr y = x.Op("one_hot", {a.b().Int(depth), values}, {{"axis", -1}});
    return counts.value() ? y * Unsqueeze(counts, {-1}) : y;
  };
  if (mode == "one_hot") {
    const int64_t rank = a.RankOf(index);
    const Dim last = DimAt(index, rank - 1);
    const bool has_unit = rank > 0 && last.is_static() && last.value() == 1;
    return one_hot(has_unit ? Squeeze(index, {rank - 1}) : index);
  }
  Expr x = index;
  if (a.RankOf(x) == 1) x = Unsqueeze(x, {1});
  if (mode == "multi_hot" || mode == "binary") {
    // Of no words the greatest is less than 0.
    const Expr most = Reduce(one_hot(x), "reduce_max", {-2});
    return counts.value() ? Max(most, most.Number(0)) : most;
  }
  const bool weighted = mode == "tf_idf" || mode == "tf-idf";
  a.Require(mode == "count" || weighted, StrCat("output_mode '", mode, "'"));
  const Expr sum = Sum(one_hot(x), -2);
  if (!weighted) return sum;
  if (static_cast<int64_t>(idf.size()) != depth) a.Fail(Invalid("no idf_weights of all words"));
  return sum * NumbersAs(a, sum.dtype(), {depth}, idf, "idf_weights");
}

Value* CategoryEncoding(KerasArgs& a) {
  a.Require(!a.Given("count_weights"), "count_weights");
  const Expr index = a.AsInt64(a.in(0));
  return Encoded(a, index, a.Text("output_mode", "multi_hot"), a.Integer("num_tokens", 0));
}

// The number of boundaries that are not above x.
Value* Discretization(KerasArgs& a) {
  a.Ignore("epsilon");
  a.Ignore("num_bins");
  const std::vector<double> bounds = a.Numbers("bin_boundaries");
  a.Require(!bounds.empty(), "bins that are not in the file");
  const Expr x = AsFloats(a);
  const Expr list =
      NumbersAs(a, x.dtype(), {static_cast<int64_t>(bounds.size())}, bounds, "boundaries");
  const Expr index = Sum((Unsqueeze(x, {-1}) >= list).To(DType::kInt64), -1);
  return Encoded(a, index, a.Text("output_mode", "int"), static_cast<int64_t>(bounds.size()) + 1);
}

// --- Vocabularies --------------------------------------------------------------------------------

struct Vocabulary {
  std::vector<std::string> words;            // without the two special ones
  std::optional<std::string> mask, unknown;  // no mask: none has an index
  int64_t unknown_count = 1;
  std::string mode;
  int64_t depth = 0;        // of an encoding
  std::vector<double> idf;  // of each index, where the mode wants it
  int64_t Begin() const { return (mask ? 1 : 0) + unknown_count; }
};

std::vector<std::string> WordsOf(KerasArgs& a, Symbol name) {
  const Attribute* attr = a.attrs().Find(name);
  if (attr && (attr->get<Attribute::Ints>() || attr->get<int64_t>())) {
    std::vector<std::string> words;
    for (const int64_t number : a.Integers(name)) words.push_back(StrCat(number));
    return words;
  }
  if (attr && attr->get<std::string>()) {
    a.Require(false, StrCat("a vocabulary that is stored in another file ('",
                            *attr->get<std::string>(), "')"));
  }
  return a.Texts(name);
}

std::optional<std::string> Token(KerasArgs& a, Symbol name) {
  a.Ignore(name);
  const Attribute* attr = a.attrs().Find(name);
  if (!attr) return std::nullopt;
  if (const auto* number = attr->get<int64_t>()) return StrCat(*number);
  return a.Text(name);
}

// `text`: that of a layer of texts, which has words of its own for nothing and for the unknown.
Vocabulary TakeVocabulary(KerasArgs& a, bool text = false) {
  for (const char* name :
       {"vocabulary_dtype", "has_input_vocabulary", "vocabulary_size", "encoding"}) {
    a.Ignore(name);
  }
  Vocabulary v;
  v.words = WordsOf(a, "vocabulary");
  v.mask = text ? std::optional<std::string>("") : Token(a, "mask_token");
  v.unknown = text ? std::optional<std::string>("[UNK]") : Token(a, "oov_token");
  v.unknown_count = a.Integer("num_oov_indices", 1);
  v.mode = a.Text("output_mode", "int");
  v.idf = a.Numbers("idf_weights");
  const int64_t most = a.Integer("max_tokens", 0);
  const bool padded = a.Flag("pad_to_max_tokens", false);
  a.Require(!a.Flag("sparse", false), "sparse results");
  a.Require(!v.words.empty(), "a vocabulary that is not in the file");
  if (v.unknown_count < 0 || v.unknown_count > (1 << 20)) {
    a.Fail(Invalid("num_oov_indices ", v.unknown_count));
  }
  // Encodings have no place for what is masked.
  if (v.mode != "int") v.mask.reset();
  // A list may begin with the special ones.
  std::vector<std::string> special;
  if (v.mask) special.push_back(*v.mask);
  if (v.unknown) {
    special.insert(special.end(), static_cast<size_t>(v.unknown_count), *v.unknown);
  }
  const bool whole = v.words.size() >= special.size() &&
                     std::equal(special.begin(), special.end(), v.words.begin());
  if (whole)
    v.words.erase(v.words.begin(), v.words.begin() + static_cast<ptrdiff_t>(special.size()));
  v.depth = v.Begin() + static_cast<int64_t>(v.words.size());
  if (!v.idf.empty()) {
    // Words that are not known weigh as the mean of all; places that are free weigh nothing.
    if (!whole || special.empty()) {
      const double mean =
          std::accumulate(v.idf.begin(), v.idf.end(), 0.0) / static_cast<double>(v.idf.size());
      v.idf.insert(v.idf.begin(), static_cast<size_t>(v.Begin()), mean);
    }
    if (static_cast<int64_t>(v.idf.size()) != v.depth) {
      a.Fail(Invalid(v.idf.size(), " idf_weights of ", v.depth, " words"));
    }
  }
  if (padded && v.mode != "int") {
    if (most < v.depth || most > (1 << 24)) a.Fail(Invalid("max_tokens ", most));
    v.depth = most;
    if (!v.idf.empty()) v.idf.resize(static_cast<size_t>(most), 0);
  }
  return v;
}

Tensor WordTensor(KerasArgs& a, const std::vector<std::string>& words, bool numbers) {
  if (!numbers) return Tensor::Strings({static_cast<int64_t>(words.size())}, words);
  std::vector<int64_t> values;
  for (const std::string& word : words) {
    const auto number = ParseNumber<int64_t>(word);
    if (!number) a.Fail(Invalid("'", word, "' of a vocabulary of integers"));
    values.push_back(*number);
  }
  return Tensor::Vector(values);
}

// As TensorFlow hashes texts: fast, or strong where there is a key.
Expr HashOf(const Expr& text, int64_t buckets, const std::vector<int64_t>& key) {
  return text.Op("string_hash", {},
                 {{"buckets", buckets}, {"key", key}, {"method", key.empty() ? "farm" : "sip"}});
}

// The index of each word.
Expr IndexOf(KerasArgs& a, const Expr& x, const Vocabulary& v, bool numbers) {
  std::vector<std::string> words;
  std::vector<int64_t> places;
  if (v.mask) {
    words.push_back(*v.mask);
    places.push_back(0);
  }
  for (size_t i = 0; i < v.words.size(); ++i) {
    words.push_back(v.words[i]);
    places.push_back(v.Begin() + static_cast<int64_t>(i));
  }
  // A word that is not known, where no index is kept for such.
  const int64_t first = v.mask ? 1 : 0, otherwise = v.unknown_count == 1 ? first : -1;
  const Expr index = a.Op("label_encoder", {x},
                          {{"keys", WordTensor(a, words, numbers)},
                           {"values", Tensor::Vector(places)},
                           {"default", Tensor::Of<int64_t>({1}, {otherwise})}});
  if (v.unknown_count < 2) return index;
  // Several indices of unknown words: numbers by the remainder of a division, words by a hash.
  const Expr bucket =
      numbers ? Mod(x, static_cast<double>(v.unknown_count)) : HashOf(x, v.unknown_count, {});
  return Where(index == -1.0, Shifted(bucket, static_cast<double>(first)), index);
}

// Numbers by a hash of their texts. What is masked has the first one.
Value* Hashing(KerasArgs& a) {
  const int64_t bins = a.Integer("num_bins", 0);
  const std::string mode = a.Text("output_mode", "int");
  std::vector<int64_t> salt = a.Integers("salt");
  if (salt.size() == 1) salt.push_back(salt[0]);
  a.Require(!a.Flag("sparse", false), "sparse results");
  if (bins < 1 || bins > (1 << 24) || salt.size() == 1 || salt.size() > 2) {
    a.Fail(Invalid(bins, " bins"));
  }
  const std::optional<std::string> mask = Token(a, "mask_value");
  Expr x = {a, a.in(0)};
  if (IsFloating(x.dtype())) x = x.To(DType::kInt64);
  const Expr text = x.To(DType::kString);
  const bool masked = mask && bins > 1;
  Expr index = HashOf(text, masked ? bins - 1 : bins, salt);
  if (masked) {
    const Expr word = {a, a.b().Constant(Tensor::Strings({}, {*mask}))};
    index = Where(text == word, 0.0, index + 1.0);
  }
  return Encoded(a, index, mode, bins);
}

template <bool kNumbers>
Value* Lookup(KerasArgs& a) {
  const Vocabulary v = TakeVocabulary(a);
  if (a.Flag("invert", false)) {
    std::vector<std::string> words;
    std::vector<int64_t> places;
    if (v.mask) words.push_back(*v.mask);
    if (v.mask) places.push_back(0);
    for (size_t i = 0; i < v.words.size(); ++i) {
      words.push_back(v.words[i]);
      places.push_back(v.Begin() + static_cast<int64_t>(i));
    }
    const Tensor unknown = WordTensor(a, {v.unknown.value_or(kNumbers ? "-1" : "[UNK]")}, kNumbers);
    return a.Op("label_encoder", {a.AsInt64(a.in(0))},
                {{"keys", Tensor::Vector(places)},
                 {"values", WordTensor(a, words, kNumbers)},
                 {"default", unknown}});
  }
  const Expr x = kNumbers ? a.AsInt64(a.in(0)) : Expr(a, a.in(0));
  return Encoded(a, IndexOf(a, x, v, kNumbers), v.mode, v.depth, v.idf);
}

// Words of a text: lower case is ASCII's, as TensorFlow has it.
// How many words go together: up to a number, or these.
std::vector<int64_t> TakeWidths(KerasArgs& a) {
  const Attribute* attr = a.attrs().Find("ngrams");
  std::vector<int64_t> widths = a.Integers("ngrams");
  if (attr && attr->get<int64_t>()) {
    const int64_t most = widths[0];
    widths.clear();
    for (int64_t n = 1; n <= std::min<int64_t>(most, 65); ++n) widths.push_back(n);
  }
  for (const int64_t n : widths) {
    if (n < 1 || n > 64) a.Fail(Unimplemented(n, " words that go together"));
  }
  return widths;
}

// Words [texts, words] as neighbours joined by spaces, one width after the other along axis 1;
// counts are joined in the same way.
void JoinNeighbours(KerasArgs& a, const std::vector<int64_t>& widths, Expr* words, Expr* counts) {
  const Size texts = SizeAt(*words, 0), count = SizeAt(*words, 1);
  const int64_t most = *std::max_element(widths.begin(), widths.end());
  const auto text = [&](const char* of) {
    return Expr(a, a.b().Constant(Tensor::Strings({}, {of})));
  };
  const auto behind = [&](const Expr& x, const Expr& filler) {
    return most == 1 ? x : Concat(a, {x, Expand(filler, Vector(a, {texts, Size(most - 1)}))}, 1);
  };
  const Expr longer = behind(*words, text("")), known = behind(*counts, counts->Number(0));
  const auto from = [&](const Expr& x, int64_t i) {
    return Slice(x, 1, Size(i), Plus(a, count, Size(i)));
  };
  std::vector<Value*> all, all_counts;
  for (const int64_t n : widths) {
    Expr joined = from(longer, 0);
    for (int64_t i = 1; i < n; ++i) {
      joined = joined.Op("string_concat", {text(" ")}).Op("string_concat", {from(longer, i)});
    }
    all.push_back(joined);
    all_counts.push_back(from(known, n - 1));
  }
  *words = Concat(a, all, 1);
  *counts = Concat(a, all_counts, 1);
}

Value* TextVectorization(KerasArgs& a) {
  // What is left out is None.
  const std::string standardize = a.Text("standardize"), split = a.Text("split");
  const int64_t length = a.Integer("output_sequence_length", -1);
  const std::vector<int64_t> widths = TakeWidths(a);
  a.Require(!a.Flag("ragged", false), "ragged results");
  a.Require(split.empty() || split == "whitespace", StrCat("split '", split, "'"));
  const bool lower = standardize == "lower" || standardize == "lower_and_strip_punctuation",
             strip =
                 standardize == "strip_punctuation" || standardize == "lower_and_strip_punctuation";
  a.Require(lower || strip || standardize.empty(), StrCat("standardize '", standardize, "'"));
  const Vocabulary v = TakeVocabulary(a, true);
  Expr x(a, a.in(0));
  const int64_t rank = a.RankOf(x);
  if (!split.empty() && rank > 1) {
    a.Require(DimAt(x, rank - 1) == Dim(1), "several texts of a sample");
    x = Squeeze(x, {rank - 1});
  }
  if (lower) x = x.Op("string_map", {}, {{"function", "ascii_lower"}});
  if (strip) {
    x = x.Op("regex_replace", {},
             {{"pattern", R"([!"#$%&()\*\+,-\./:;<=>?@\[\\\]^_`{|}~'])"},
              {"rewrite", ""},
              {"replace_global", 1}});
  }
  Expr counts = nullptr;
  if (!split.empty()) {
    const Values parts = a.b().Ops("string_split", {x}, {{"delimiter", ""}}, 2);
    x = {a, parts[0]};
    // Rows are filled up with empty words.
    const Expr place = Iota(SizeOf(x, -1));
    counts = (place < Unsqueeze({a, parts[1]}, {-1})).To(a.VariableType());
  }
  if (!widths.empty()) {
    a.Require(counts.value() && v.mode != "int", "words that go together as indices");
    JoinNeighbours(a, widths, &x, &counts);
  }
  const Expr index = IndexOf(a, x, v, false);
  if (v.mode != "int") return Encoded(a, index, v.mode, v.depth, v.idf, counts);
  if (length < 0) return index;
  if (length < 1 || length > (1 << 24)) a.Fail(Invalid("a length of ", length));
  const int64_t axis = a.RankOf(index) - 1;
  std::vector<int64_t> pads(static_cast<size_t>(2 * axis + 2), 0);
  pads.back() = length;
  return Slice(a.Op("pad", {index, a.b().Ints(pads), index.Number(0)}), axis, Size(0),
               Size(length));
}

// --- Images --------------------------------------------------------------------------------------

// A part of an image, in the layout that it is in; of one image, as of a batch of one.
template <typename Fn>
Expr OnImages(KerasArgs& a, const Expr& x, const Fn& fn) {
  const bool last = a.ChannelsLast();
  const bool single = a.RankOf(x) == 3;
  Expr y = single ? Unsqueeze(x, {0}) : x;
  if (a.RankOf(y) != 4) a.Fail(Invalid("images of ", a.RankOf(x), " axes"));
  if (!last) y = Transpose(y, {0, 2, 3, 1});
  y = fn(y);
  if (!last) y = Transpose(y, {0, 3, 1, 2});
  return single ? Squeeze(y, {0}) : y;
}

int64_t PixelCount(KerasArgs& a, Symbol name) {
  const int64_t size = a.Integer(name, 0);
  if (size < 1 || size > (1 << 24)) a.Fail(Invalid("a size of ", size));
  return size;
}

KerasFit TakeFit(KerasArgs& a) {
  const bool crop = a.Flag("crop_to_aspect_ratio", false),
             pad = a.Flag("pad_to_aspect_ratio", false);
  if (crop && pad) a.Fail(Invalid("it both crops and pads"));
  return crop ? KerasFit::kCrop : pad ? KerasFit::kPad : KerasFit::kStretch;
}

Value* Resizing(KerasArgs& a) {
  const int64_t height = PixelCount(a, "height"), width = PixelCount(a, "width");
  const std::string how = a.Text("interpolation", "bilinear");
  const bool antialias = a.Flag("antialias", false);
  const KerasFit fit = TakeFit(a);
  const double fill = a.Number("fill_value", 0);
  const std::string mode = a.Text("fill_mode", "constant");
  a.Require(fit != KerasFit::kPad || mode == "constant", StrCat("fill_mode '", mode, "'"));
  return OnImages(a, AsFloats(a), [&](const Expr& x) {
    return FittedImages(a, x, height, width, how, antialias, fit, fill);
  });
}

// Images that are too small are cropped to the ratio of the sizes, and resized.
Value* CenterCrop(KerasArgs& a) {
  const int64_t height = PixelCount(a, "height"), width = PixelCount(a, "width");
  return OnImages(a, AsFloats(a), [&](const Expr& x) {
    const auto known = KnownSizes(x, 1, 3);
    a.Require(known.has_value(), "a crop of images of unknown sizes");
    const int64_t h = (*known)[0], w = (*known)[1];
    if (h < height || w < width) {
      return FittedImages(a, x, height, width, "bilinear", false, KerasFit::kCrop);
    }
    const int64_t top = (h - height) / 2, left = (w - width) / 2;
    return Slice(Slice(x, 1, Size(top), Size(top + height)), 2, Size(left), Size(left + width));
  });
}

// What is cropped at random in training keeps its middle otherwise.
Value* RandomCrop(KerasArgs& a) {
  const int64_t height = PixelCount(a, "height"), width = PixelCount(a, "width");
  a.Require(a.version() < 3, "a random crop of Keras 3, whose releases differ in what it is");
  return OnImages(a, AsFloats(a), [&](const Expr& x) {
    return FittedImages(a, x, height, width, "bilinear", false, KerasFit::kCrop);
  });
}

// Each channel of an image is stretched to the whole range of values.
Value* AutoContrast(KerasArgs& a) {
  a.Ignore("data_format");
  a.Require(!a.Given("bounding_box_format"), "bounding boxes");
  std::vector<double> range = a.Numbers("value_range");
  if (range.empty()) range = {0, 255};
  if (range.size() != 2 || range[0] >= range[1]) a.Fail(Invalid("value_range"));
  const Expr given = AsFloats(a);
  const int64_t rank = a.RankOf(given);
  if (rank != 3 && rank != 4) a.Fail(Invalid("images of ", rank, " axes"));
  const double low = range[0], size = range[1] - range[0];
  const Expr x = low == 0 && size == 255 ? given : (given - low) / size * 255.0;
  const std::vector<int64_t> axes = {rank - 3, rank - 2};
  const Expr least = Reduce(x, "reduce_min", axes, true);
  const Expr scale = 255.0 / (Reduce(x, "reduce_max", axes, true) - least);
  const Expr y = Clip(x * scale - least * scale, x.Number(0), x.Number(255));
  const Expr back = low == 0 && size == 255 ? y : y / 255.0 * size + low;
  return Where(IsNan(back), given, back);
}

}  // namespace

X2IR_KERAS(label_encoder)
    .From({{"IntegerLookup", Lookup<true>},
           {"StringLookup", Lookup<false>},
           {"TextVectorization", TextVectorization}});
X2IR_KERAS(string_hash).From("Hashing", Hashing);
X2IR_KERAS(mul).From("Rescaling", Rescaling);
X2IR_KERAS(one_hot).From("CategoryEncoding", CategoryEncoding);
X2IR_KERAS(reduce_sum).From("Discretization", Discretization);
X2IR_KERAS(clip).From("AutoContrast", AutoContrast);
X2IR_KERAS(resize).From({{"Resizing", Resizing}, {"RandomCrop", RandomCrop}});
X2IR_KERAS(slice).From("CenterCrop", CenterCrop);
X2IR_KERAS(sub).From("Normalization", Normalization);

}  // namespace x2ir
