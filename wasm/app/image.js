// An image file as the array that a model takes: [N, C, H, W] or [N, H, W, C] with 1 or 3 channels, float32 or uint8.
import { arrayOf, npy } from "./npy.js";

const IMAGENET = { mean: [0.485, 0.456, 0.406], deviation: [0.229, 0.224, 0.225] };

// How numbers from 0 to 255 become those of the model.
export const SCALES = {
  "0 to 1": (x) => x / 255,
  "-1 to 1": (x) => x / 127.5 - 1,
  "0 to 255": (x) => x,
  "mean and deviation of ImageNet": (x, channel) =>
    (x / 255 - IMAGENET.mean[channel]) / IMAGENET.deviation[channel],
};

export function isPixelType(dtype) {
  return dtype === "float32" || dtype === "uint8";
}

// { height, width, channels, last } where the shape may be that of an image, else null.
export function imageShape(dtype, shape) {
  if (shape.length !== 4 || shape[0] !== 1 || !isPixelType(dtype)) return null;
  const [, a, b, c] = shape;
  if (![a, b, c].every((dim) => Number.isInteger(dim) && dim > 0)) return null;
  if (a === 1 || a === 3) return { channels: a, height: b, width: c, last: false };
  if (c === 1 || c === 3) return { channels: c, height: a, width: b, last: true };
  return null;
}

// The image, scaled to the size of the input; its ratio of sides is not kept.
export async function imageArray(file, dtype, shape, scale) {
  const { channels, height, width, last } = imageShape(dtype, shape);
  let bitmap;
  try {
    bitmap = await createImageBitmap(file);
  } catch {
    throw new Error(`'${file.name}' is not an image that this browser decodes`);
  }
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.drawImage(bitmap, 0, 0, width, height);
  bitmap.close();
  const { data } = context.getImageData(0, 0, width, height);
  const array = arrayOf(dtype, channels * height * width);
  const convert = dtype === "uint8" ? (x) => Math.round(x) : SCALES[scale];
  for (let i = 0; i < height * width; ++i) {
    const [r, g, b] = data.subarray(4 * i, 4 * i + 3);
    // One channel is the luma of ITU-R BT.601.
    const pixel = channels === 3 ? [r, g, b] : [0.299 * r + 0.587 * g + 0.114 * b];
    pixel.forEach((x, channel) => {
      array[last ? i * channels + channel : channel * height * width + i] = convert(x, channel);
    });
  }
  return npy(dtype, shape, array);
}
