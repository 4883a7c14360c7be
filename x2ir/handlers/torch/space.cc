// Elements in other places: between channels and pixels, windows as columns.
#include <array>
#include <utility>

#include "x2ir/builder/shapes.h"
#include "x2ir/builder/size.h"
#include "x2ir/graph_wrapper/status.h"
#include "x2ir/handlers/torch/layers.h"
#include "x2ir/handlers/torch/torch.h"
#include "x2ir/ops/infer.h"

namespace x2ir {
namespace {

// The sizes before the last three, C, H and W.
struct Images {
  Value* x;
  std::vector<Size> batch;
  Size channels, height, width;
};

Images ReadImages(TorchCall& c) {
  Images images{c.Tensor("self"), {}, {}, {}, {}};
  const int64_t rank = c.Rank(images.x);
  if (rank < 3) {
    c.Fail(Invalid("expected an input of rank 3 or more, got ", rank));
    return images;
  }
  images.batch = SizesAt({c, images.x}, 0, rank - 3);
  images.channels = SizeAt({c, images.x}, rank - 3);
  images.height = SizeAt({c, images.x}, rank - 2);
  images.width = SizeAt({c, images.x}, rank - 1);
  return images;
}

// x as [batch..., sizes...], the last ones in another order, then as [batch..., result...].
Value* Shuffle(TorchCall& c, const Images& images, const std::vector<Size>& sizes,
               const std::vector<int64_t>& perm, const std::vector<Size>& result) {
  const auto with_batch = [&](const std::vector<Size>& rest) {
    std::vector<Size> all = images.batch;
    all.insert(all.end(), rest.begin(), rest.end());
    return all;
  };
  const int64_t n = static_cast<int64_t>(images.batch.size());
  std::vector<int64_t> order = CountedFrom(0, n);
  for (const int64_t axis : perm) order.push_back(n + axis);
  Value* apart = ReshapeTo({c, images.x}, with_batch(sizes));
  return ReshapeTo(Transpose({c, apart}, order), with_batch(result));
}

Values PixelShuffle(TorchCall& c) {
  const int64_t r = c.Int("upscale_factor");
  if (r < 1 || r > (1 << 20)) return c.Fail(Invalid("upscale_factor: ", r));
  // Runtimes know depth_to_space of floats.
  Value* self = c.Tensor("self");
  if (c.Rank(self) == 4 && IsFloating(self->dtype())) {
    return {c.Op("depth_to_space", {self}, {{"blocksize", r}, {"mode", "CRD"}})};
  }
  const Images images = ReadImages(c);
  if (!c.b().status().ok()) return c.Fail(c.b().status());
  const Size factor{r}, out = DividedBy(c, images.channels, r * r);
  return {Shuffle(c, images, {out, factor, factor, images.height, images.width}, {0, 3, 1, 4, 2},
                  {out, Times(c, images.height, factor), Times(c, images.width, factor)})};
}

X2IR_TORCH(depth_to_space).From("aten::pixel_shuffle.default", PixelShuffle);

Values PixelUnshuffle(TorchCall& c) {
  const int64_t r = c.Int("downscale_factor");
  const Images images = ReadImages(c);
  if (r < 1 || r > (1 << 20)) return c.Fail(Invalid("downscale_factor: ", r));
  if (!c.b().status().ok()) return c.Fail(c.b().status());
  const Size factor{r};
  const Size h = DividedBy(c, images.height, r), w = DividedBy(c, images.width, r);
  return {Shuffle(c, images, {images.channels, h, factor, w, factor}, {0, 2, 4, 1, 3},
                  {Times(c, images.channels, r * r), h, w})};
}

X2IR_TORCH(space_to_depth).From("aten::pixel_unshuffle.default", PixelUnshuffle);

// Channels of g groups dealt out: one of each group after the other.
Values ChannelShuffle(TorchCall& c) {
  Value* x = c.Tensor("self");
  const int64_t groups = c.Int("groups"), rank = c.Rank(x);
  if (rank < 3) return c.Fail(Invalid("expected an input of rank 3 or more, got ", rank));
  const Size per_group = DividedBy(c, SizeAt({c, x}, 1), groups);
  const std::vector<Size> dims = SizesAt({c, x}, 0, rank);
  std::vector<Size> apart = {dims[0], groups, per_group};
  apart.insert(apart.end(), dims.begin() + 2, dims.end());
  std::vector<int64_t> perm = CountedFrom(0, rank + 1);
  std::swap(perm[1], perm[2]);
  return {ReshapeTo(Transpose(ReshapeTo({c, x}, apart), perm), dims)};
}

X2IR_TORCH(transpose).From({"aten::channel_shuffle.default",
                            "aten::native_channel_shuffle.default"},
                           ChannelShuffle);

Window ReadWindow(TorchCall& c) {
  return {.kernel = c.IntsOf("kernel_size", 2, {}),
          .strides = c.IntsOf("stride", 2, {1}),
          .dilations = c.IntsOf("dilation", 2, {1}),
          .pads = BothEnds(c.IntsOf("padding", 2, {0}))};
}

// Windows as columns: [N, C * K, positions].
Values Im2Col(TorchCall& c) {
  const Batched batched = AddBatch(c.Tensor("self"), 2);
  const Window window = ReadWindow(c);
  if (!c.b().status().ok()) return c.Fail(c.b().status());
  Value* zero = c.Constant(batched.x->dtype(), TorchNumber());
  Value* patches = Patches(PadEnds({c, batched.x}, window.pads, zero), window);
  const std::vector<Size> d = SizesAt({c, patches}, 0, 5);
  Value* y = ReshapeTo({c, patches}, {d[0], Times(c, d[1], d[2]), Times(c, d[3], d[4])});
  return {DropBatch({c, y}, batched)};
}

X2IR_TORCH(slice).From("aten::im2col.default", Im2Col);

Values Col2Im(TorchCall& c) {
  const Batched batched = AddBatch(c.Tensor("self"), 1);
  std::vector<Size> kernel = c.Sizes("kernel_size");  // computed, where a program was written so
  if (kernel.size() == 1) kernel.resize(2, kernel[0]);
  Value* y = c.Op("col2im", {batched.x, c.SymInts("output_size"), Vector(c, kernel)},
                  {{"dilations", c.IntsOf("dilation", 2, {1})},
                   {"pads", BothEnds(c.IntsOf("padding", 2, {0}))},
                   {"strides", c.IntsOf("stride", 2, {1})}});
  return {DropBatch({c, y}, batched)};
}

X2IR_TORCH(col2im).From("aten::col2im.default", Col2Im);

// The sizes after the batch, whose own size may be unknown.
absl::StatusOr<std::array<int64_t, 3>> ImageSizes(TorchWriter& w) {
  if (w.String("layout") != "channels_first") return CannotExpress("channels last");
  const Shape* shape = w.in(0)->shape();
  std::array<int64_t, 3> sizes;
  for (int64_t i = 0; i < 3; ++i) {
    if (!shape || shape->rank() != 4 || !(*shape)[i + 1].is_static() ||
        (*shape)[i + 1].value() < 1) {
      return CannotExpress("an image of unknown size");
    }
    sizes[static_cast<size_t>(i)] = (*shape)[i + 1].value();
  }
  return sizes;
}

absl::StatusOr<Value*> WriteDepthToSpace(TorchWriter& w) {
  const int64_t b = w.Int("blocksize");
  if (w.String("layout") != "channels_first") return CannotExpress("channels last");
  if (w.String("mode") == "CRD") {
    return w.Call("aten::pixel_shuffle.default", {{"self", w.in(0)}, {"upscale_factor", b}});
  }
  X2IR_ASSIGN_OR_RETURN(const auto size, ImageSizes(w));
  const int64_t c = size[0] / (b * b);
  Value* parts = w.Reshape(w.in(0), {-1, b, b, c, size[1], size[2]});
  return w.Reshape(w.Transpose(parts, {0, 3, 4, 1, 5, 2}), {-1, c, size[1] * b, size[2] * b});
}

absl::StatusOr<Value*> WriteSpaceToDepth(TorchWriter& w) {
  const int64_t b = w.Int("blocksize");
  X2IR_ASSIGN_OR_RETURN(const auto size, ImageSizes(w));
  Value* parts = w.Reshape(w.in(0), {-1, size[0], size[1] / b, b, size[2] / b, b});
  return w.Reshape(w.Transpose(parts, {0, 3, 5, 1, 2, 4}),
                   {-1, size[0] * b * b, size[1] / b, size[2] / b});
}

}  // namespace

X2IR_TORCH(depth_to_space).To("aten::pixel_shuffle.default", WriteDepthToSpace);
X2IR_TORCH(space_to_depth).To("aten::reshape.default", WriteSpaceToDepth);

}  // namespace x2ir
