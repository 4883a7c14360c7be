# Made by python/tests/option_stubs.py; a test compares.
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, TypedDict

class ReadOptions(TypedDict, total=False):
    from_opset: int | None
    shape: str | Sequence[str] | Mapping[str, str | Sequence[int | str | None]] | None
    dynamic: str | Sequence[str] | Mapping[str, str | Mapping[int, str]] | None
    dtype: str | Sequence[str] | Mapping[str, Any] | None
    example: str | PathLike[str] | Mapping[str, Any] | Sequence[Any] | Any | None
    weights_from: str | Sequence[str] | None
    inputs: str | Sequence[str] | None
    outputs: str | Sequence[str] | None
    extract: str | None
    fold_inputs: str | Sequence[str] | Mapping[str, Any] | None
    freeze_params: bool | None
    keep_functions: bool | None
    rename: str | Sequence[str] | Mapping[str, str] | None
    allow_foreign: str | Sequence[str] | None
    continue_on_error: bool | None
    params: str | None
    allow_outside: bool | None
    task: str | None
    no_cache: bool | None
    part: Literal["whole", "encoder", "decoder"] | None
    int4: bool | None
    int8_weights: bool | None
    unpack: Literal["none", "float16", "bfloat16", "float32"] | None
    attention_mask: bool | None
    raw_images: bool | None
    function: str | None
    decode_heads: bool | None
    fork: Literal["auto", "pjreddie", "alexeyab"] | None
    entry: str | None
    checks: bool | None
    hdf5_library: bool | None
    snapshot: str | None
    job: str | None
    model: str | None
    signature: str | None
    dequantize: bool | None
    arguments: str | Sequence[str] | None

class WriteOptions(TypedDict, total=False):
    continue_on_error: bool | None
    optimize: bool | None
    passes: str | Sequence[str] | None
    keep_weight_types: bool | None
    inputs_as_nchw: str | Sequence[str] | None
    inputs_as_nhwc: str | Sequence[str] | None
    outputs_as_nchw: str | Sequence[str] | None
    outputs_as_nhwc: str | Sequence[str] | None
    float16: bool | None
    bfloat16: bool | None
    keep_io: bool | None
    keep: str | Sequence[str] | None
    int8: bool | None
    calibrate: str | PathLike[str] | Mapping[str, Any] | Iterable[Any] | None
    per_channel: bool | None
    weight_bits: int | None
    method: Literal["minmax", "percentile", "mse"] | None
    metadata: str | Sequence[str] | None
    strip_names: bool | None
    params_as_inputs: bool | None
    check: bool | None
    float64_as_float32: bool | None
    image: str | Sequence[str] | None
    image_scale: str | Sequence[str] | None
    image_bias: str | Sequence[str] | None
    labels: str | None
    label_name: str | None
    probabilities: str | None
    minimum_deployment_target: Literal["any", "iOS15", "iOS16", "iOS17", "iOS18", "macOS12", "macOS13", "macOS14", "macOS15", "watchOS8", "watchOS9", "watchOS10", "watchOS11", "tvOS15", "tvOS16", "tvOS17", "tvOS18"] | None
    force: bool | None
    layout: Literal["keep", "channels_first", "channels_last"] | None
    weights: Literal["copy", "reference"] | None
    nnef_standard: bool | None
    frozen: bool | None
    opset: int | None
    extra_opset: str | Sequence[str] | Mapping[str, int] | None
    ir_version: int | None
    contrib: bool | None
    cpu_kernels: bool | None
    external_data: Literal["auto", "always", "never", "reference"] | None
    external_data_limit: int | str | None
    separate_params: bool | None
    resources: bool | None
    target_version: str | None
    decompose: bool | None
    freeze: bool | None
    keep_nchw: bool | None
    signature_name: str | None
    quantize: Literal["none", "uint8", "uint16", "float16"] | None
    dynamic_range: bool | None
    io_type: Literal["keep", "int8", "uint8", "float32"] | None

class ConvertOptions(TypedDict, total=False):
    from_opset: int | None
    shape: str | Sequence[str] | Mapping[str, str | Sequence[int | str | None]] | None
    dynamic: str | Sequence[str] | Mapping[str, str | Mapping[int, str]] | None
    dtype: str | Sequence[str] | Mapping[str, Any] | None
    example: str | PathLike[str] | Mapping[str, Any] | Sequence[Any] | Any | None
    weights_from: str | Sequence[str] | None
    inputs: str | Sequence[str] | None
    outputs: str | Sequence[str] | None
    extract: str | None
    fold_inputs: str | Sequence[str] | Mapping[str, Any] | None
    freeze_params: bool | None
    keep_functions: bool | None
    rename: str | Sequence[str] | Mapping[str, str] | None
    allow_foreign: str | Sequence[str] | None
    continue_on_error: bool | None
    optimize: bool | None
    passes: str | Sequence[str] | None
    keep_weight_types: bool | None
    inputs_as_nchw: str | Sequence[str] | None
    inputs_as_nhwc: str | Sequence[str] | None
    outputs_as_nchw: str | Sequence[str] | None
    outputs_as_nhwc: str | Sequence[str] | None
    float16: bool | None
    bfloat16: bool | None
    keep_io: bool | None
    keep: str | Sequence[str] | None
    int8: bool | None
    calibrate: str | PathLike[str] | Mapping[str, Any] | Iterable[Any] | None
    per_channel: bool | None
    weight_bits: int | None
    method: Literal["minmax", "percentile", "mse"] | None
    metadata: str | Sequence[str] | None
    strip_names: bool | None
    params_as_inputs: bool | None
    check: bool | None
    params: str | None
    allow_outside: bool | None
    task: str | None
    no_cache: bool | None
    part: Literal["whole", "encoder", "decoder"] | None
    int4: bool | None
    int8_weights: bool | None
    unpack: Literal["none", "float16", "bfloat16", "float32"] | None
    attention_mask: bool | None
    raw_images: bool | None
    function: str | None
    float64_as_float32: bool | None
    image: str | Sequence[str] | None
    image_scale: str | Sequence[str] | None
    image_bias: str | Sequence[str] | None
    labels: str | None
    label_name: str | None
    probabilities: str | None
    minimum_deployment_target: Literal["any", "iOS15", "iOS16", "iOS17", "iOS18", "macOS12", "macOS13", "macOS14", "macOS15", "watchOS8", "watchOS9", "watchOS10", "watchOS11", "tvOS15", "tvOS16", "tvOS17", "tvOS18"] | None
    force: bool | None
    decode_heads: bool | None
    fork: Literal["auto", "pjreddie", "alexeyab"] | None
    layout: Literal["keep", "channels_first", "channels_last"] | None
    weights: Literal["copy", "reference"] | None
    entry: str | None
    checks: bool | None
    hdf5_library: bool | None
    nnef_standard: bool | None
    frozen: bool | None
    snapshot: str | None
    job: str | None
    opset: int | None
    extra_opset: str | Sequence[str] | Mapping[str, int] | None
    ir_version: int | None
    contrib: bool | None
    cpu_kernels: bool | None
    external_data: Literal["auto", "always", "never", "reference"] | None
    external_data_limit: int | str | None
    separate_params: bool | None
    resources: bool | None
    target_version: str | None
    model: str | None
    signature: str | None
    decompose: bool | None
    freeze: bool | None
    keep_nchw: bool | None
    signature_name: str | None
    quantize: Literal["none", "uint8", "uint16", "float16"] | None
    dequantize: bool | None
    dynamic_range: bool | None
    io_type: Literal["keep", "int8", "uint8", "float32"] | None
    arguments: str | Sequence[str] | None
