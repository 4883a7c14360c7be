// An image file as the array that a model takes: [1, C, H, W], [1, H, W, C], or without the 1, of float32 or uint8.
import { arrayOf, npy } from "./npy.js";

const CHANNELS = new Set([1, 3, 4]); // luma; red, green, blue; with alpha
const ALPHA = 3;
const MOST_PIXELS = 1 << 27; // what a canvas of all browsers holds
const IMAGENET = { mean: [0.485, 0.456, 0.406], deviation: [0.229, 0.224, 0.225] };

// How numbers from 0 to 255 become those of the model.
export const SCALES = {
  "0 to 1": (x) => x / 255,
  "-1 to 1": (x) => x / 127.5 - 1,
  "0 to 255": (x) => x,
  "mean and deviation of ImageNet": (x, channel) =>
    channel === ALPHA ? x / 255 : (x / 255 - IMAGENET.mean[channel]) / IMAGENET.deviation[channel],
};

export function isPixelType(dtype) {
  return dtype === "float32" || dtype === "uint8";
}

// { shape, channels, last } where dims may be those of an image, else null. A dim that is no number varies: the batch is 1,
// and the sides are those of an image of `height` and `width`. Where both ends may be the channels, they come first.
export function imageShape(dtype, dims, height = 1, width = 1) {
  if (!isPixelType(dtype) || (dims?.length !== 3 && dims?.length !== 4)) return null;
  const varies = (dim) => !Number.isInteger(dim);
  const batch = dims.slice(0, -3).map((dim) => (varies(dim) ? 1 : dim));
  const inner = dims.slice(-3);
  const last = !CHANNELS.has(inner[0]);
  const channels = last ? inner[2] : inner[0];
  if (!CHANNELS.has(channels) || batch.some((dim) => dim !== 1)) return null;
  const [h, w] = last ? inner : inner.slice(1);
  const sides = [varies(h) ? height : h, varies(w) ? width : w];
  if (sides.some((side) => side < 1)) return null;
  return { shape: [...batch, ...(last ? [...sides, channels] : [channels, ...sides])], sides, channels, last };
}

// The image as an .npy file, scaled to the size of the input; its ratio of sides is not kept.
export async function imageArray(file, dtype, dims, scale) {
  let bitmap;
  try {
    bitmap = await createImageBitmap(file);
  } catch {
    throw new Error(`'${file.name}' is not an image that this browser decodes`);
  }
  const { shape, sides, channels, last } = imageShape(dtype, dims, bitmap.height, bitmap.width);
  const [height, width] = sides;
  if (height * width > MOST_PIXELS) throw new Error(`an image of ${height} x ${width} pixels is too large`);
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.drawImage(bitmap, 0, 0, width, height);
  bitmap.close();
  const { data } = context.getImageData(0, 0, width, height);
  const array = arrayOf(dtype, channels * height * width);
  const convert = dtype === "uint8" ? (x) => Math.round(x) : SCALES[scale];
  // One channel is the luma of ITU-R BT.601.
  const value =
    channels === 1
      ? (i) => 0.299 * data[4 * i] + 0.587 * data[4 * i + 1] + 0.114 * data[4 * i + 2]
      : (i, channel) => data[4 * i + channel];
  for (let channel = 0; channel < channels; ++channel) {
    const [start, step] = last ? [channel, channels] : [channel * height * width, 1];
    for (let i = 0; i < height * width; ++i) array[start + i * step] = convert(value(i, channel), channel);
  }
  return npy(dtype, shape, array);
}
